// tree -- which acts, and how often.
#include "tree.hpp"

#include <exception>
#include <span>
#include <string>

#include "acts.hpp"

namespace steal_stress {
namespace {

struct choice {
  act what;
  unsigned weight;
};

constexpr choice leaf_choices[] = {{yields, 6}, {sleeps, 3}, {spins, 3}, {computes, 2}, {blocks, 1}};

constexpr choice choices[] = {{spawns_and_joins, 8},
                              {spawns_and_forgets, 6},
                              {waits_for_all, 8},
                              {races, 3},
                              {times_out, 3},
                              {stops_a_sleeper, 3},
                              {groups, 4},
                              {groups_with_a_failure, 2},
                              {abandons_a_group, 2},
                              {reads_a_pipe, 4},
                              {talks, 2},
                              {posts, 6},
                              {posts_later, 3},
                              {yields_behind_a_long_callable, 2},
                              {spawns_before_a_spin, 2},
                              {spawns_what_throws, 2},
                              {spawns_a_burst, 1},
                              {yields, 4},
                              {sleeps, 2},
                              {computes, 3},
                              {blocks, 1}};

act draw(dice& random, std::span<const choice> from) {
  unsigned sum = 0;
  for (const choice& each : from) sum += each.weight;
  auto left = random.below(sum);
  for (const choice& each : from) {
    if (left < each.weight) return each.what;
    left -= each.weight;
  }
  return from.front().what;
}

}  // namespace

std::uint64_t fingerprint(std::uint64_t seed) noexcept { return dice(~seed).roll(); }

faio::task<std::uint64_t> grow(garden& in, book& into, ticket mine, std::uint64_t seed, unsigned levels) {
  mine.begin();
  dice random(seed);
  for (auto acts = 1 + random.below(levels == 0 ? 2 : 3); acts > 0; --acts) {
    const act next = levels == 0 ? draw(random, leaf_choices) : draw(random, choices);
    try {
      co_await next({in, into, random, levels});
    } catch (const std::exception& error) {
      into.fault(std::string("something threw that should not have: ") + error.what());
    }
  }
  co_return fingerprint(seed);
}

faio::task<std::uint64_t> branch(const hand& mine, place how, std::uint64_t seed) {
  return grow(mine.in, mine.into, ticket(mine.into, how), seed, mine.levels - 1);
}

void compare(book& into, place how, std::uint64_t seed, std::uint64_t got) {
  if (got != fingerprint(seed)) into.fault(std::string("a result is not what its task gave, after ") + name(how));
}

}  // namespace steal_stress
