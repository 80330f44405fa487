// tree -- a random tree of tasks: each does a few of the things that a program can do, some of which make more tasks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "faio/context/context.hpp"
#include "ledger.hpp"

namespace steal_stress {

/// What all trees of one run have in common.
struct garden {
  faio::runtime_context& runtime;
  /// Ids of workers that were there a moment ago, for post_to. Written by chaos.
  std::array<std::atomic<std::size_t>, 8> some_workers{};
  /// There are others who are free, whatever one worker does: no chaos takes them away.
  const bool others_are_free = false;
  /// A worker stands still until somebody else has run a task of its queue: one at a time, or there would be nobody else.
  std::atomic<bool> stands_still{false};
  /// Open just now.
  std::atomic<int> pipes{0};
  /// Exceptions of tasks whose handle was dropped; on_unhandled must see each of them once.
  std::atomic<std::uint64_t> orphaned{0};
};

/// What a task gives for its seed; whoever awaits it compares.
std::uint64_t fingerprint(std::uint64_t seed) noexcept;

/// A tree of at most so many levels.
faio::task<std::uint64_t> grow(garden& in, book& into, ticket mine, std::uint64_t seed, unsigned levels);

}  // namespace steal_stress
