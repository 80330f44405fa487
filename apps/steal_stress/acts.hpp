// acts -- the things that a task of a tree can do. Those of acts_wait.cpp make no more tasks, the others do.
#pragma once

#include <cstdint>

#include "dice.hpp"
#include "tree.hpp"

namespace steal_stress {

/// What an act has at hand: the task's own.
struct hand {
  garden& in;
  book& into;
  dice& random;
  unsigned levels;  ///< beneath it
};

using act = faio::task<void> (*)(hand);

// acts_wait.cpp
faio::task<void> yields(hand mine);
faio::task<void> sleeps(hand mine);
faio::task<void> spins(hand mine);
faio::task<void> computes(hand mine);
faio::task<void> blocks(hand mine);

// acts_spawn.cpp
faio::task<void> spawns_and_joins(hand mine);
faio::task<void> spawns_and_forgets(hand mine);
faio::task<void> spawns_before_a_spin(hand mine);
faio::task<void> spawns_a_burst(hand mine);
faio::task<void> waits_for_all(hand mine);
faio::task<void> spawns_what_throws(hand mine);

// acts_stop.cpp
faio::task<void> stops_a_sleeper(hand mine);
faio::task<void> races(hand mine);
faio::task<void> times_out(hand mine);
faio::task<void> groups(hand mine);
faio::task<void> groups_with_a_failure(hand mine);
faio::task<void> abandons_a_group(hand mine);

// acts_io.cpp
faio::task<void> reads_a_pipe(hand mine);
faio::task<void> talks(hand mine);

// acts_post.cpp
faio::task<void> posts(hand mine);
faio::task<void> posts_later(hand mine);
faio::task<void> yields_behind_a_long_callable(hand mine);

/// Another tree, one level lower, made by `how`.
faio::task<std::uint64_t> branch(const hand& mine, place how, std::uint64_t seed);
/// It gave what its seed should give.
void compare(book& into, place how, std::uint64_t seed, std::uint64_t got);
/// Keeps the processor busy.
void spin_for(std::chrono::microseconds how_long);
/// Some time before a stop request, so that it meets its target before, while or after it falls asleep.
faio::task<void> hesitate(hand mine);
/// Sleeps for a minute unless it is stopped: only a stop request ends it in time.
faio::task<void> sleeper(book& into, ticket mine);

}  // namespace steal_stress
