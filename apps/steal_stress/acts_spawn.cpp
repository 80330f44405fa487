// acts_spawn -- tasks that are joined, forgotten, stolen from behind a spin, too many for a queue, or fail.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acts.hpp"

namespace steal_stress {
namespace {

struct thrown : std::runtime_error {
  thrown() : std::runtime_error("thrown on purpose") {}
};

faio::task<int> leaf(ticket mine, int value) {
  mine.begin();
  co_return value;
}

faio::task<void> thrower(ticket mine) {
  mine.begin();
  co_await faio::yield();
  throw thrown();
}

}  // namespace

faio::task<void> spawns_and_joins(hand mine) {
  std::vector<std::pair<std::uint64_t, faio::join_handle<std::uint64_t>>> handles;
  for (auto left = 1 + mine.random.below(4); left > 0; --left) {
    const auto seed = mine.random.roll();
    if (mine.random.once_in(4)) {
      handles.emplace_back(seed, faio::spawn(faio::priority::low, branch(mine, place::low_priority, seed)));
    } else {
      handles.emplace_back(seed, faio::spawn(branch(mine, place::spawn, seed)));
    }
  }
  if (mine.random.once_in(8)) handles.front().second.request_stop();
  for (auto& [seed, handle] : handles) compare(mine.into, place::spawn, seed, co_await std::move(handle));
}

faio::task<void> spawns_and_forgets(hand mine) {
  for (auto left = 1 + mine.random.below(3); left > 0; --left) {
    const auto seed = mine.random.roll();
    auto handle = mine.random.once_in(4) ? faio::spawn(faio::priority::low, branch(mine, place::low_priority, seed))
                                         : faio::spawn(branch(mine, place::spawn, seed));
    if (mine.random.once_in(8)) handle.request_stop();
  }
  co_return;
}

/// The child is in the slot of a worker that computes: another one must take it.
faio::task<void> spawns_before_a_spin(hand mine) {
  const auto seed = mine.random.roll();
  auto handle = faio::spawn(branch(mine, place::spawn, seed));
  spin_for(std::chrono::microseconds(1000 + mine.random.below(4000)));
  compare(mine.into, place::spawn, seed, co_await std::move(handle));
}

/// More than a local queue holds: the rest overflows into the global one.
faio::task<void> spawns_a_burst(hand mine) {
  std::vector<faio::join_handle<int>> handles;
  const int many = 200 + static_cast<int>(mine.random.below(300));
  for (int i = 0; i < many; ++i) handles.push_back(faio::spawn(leaf(ticket(mine.into, place::spawn), i)));
  for (int i = 0; i < many; ++i) {
    if (co_await std::move(handles[static_cast<std::size_t>(i)]) != i)
      mine.into.fault("a burst's results are mixed up");
  }
}

faio::task<void> waits_for_all(hand mine) {
  const presence here(mine.into, place::when_all);
  if (mine.random.once_in(2)) {
    const auto first = mine.random.roll();
    const auto second = mine.random.roll();
    const auto [x, y] =
        co_await faio::when_all(branch(mine, place::when_all, first), branch(mine, place::when_all, second));
    compare(mine.into, place::when_all, first, x);
    compare(mine.into, place::when_all, second, y);
    co_return;
  }
  std::vector<std::uint64_t> seeds(1 + mine.random.below(5));
  std::vector<faio::task<std::uint64_t>> tasks;
  for (auto& seed : seeds) tasks.push_back(branch(mine, place::when_all, seed = mine.random.roll()));
  const auto values = co_await faio::when_all(std::move(tasks));
  for (std::size_t i = 0; i < seeds.size(); ++i) compare(mine.into, place::when_all, seeds[i], values[i]);
}

faio::task<void> spawns_what_throws(hand mine) {
  if (mine.random.once_in(2)) {
    mine.in.orphaned.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
    faio::spawn(thrower(ticket(mine.into, place::spawn)));
    co_return;
  }
  auto handle = faio::spawn(thrower(ticket(mine.into, place::spawn)));
  bool caught = false;
  try {
    co_await std::move(handle);
  } catch (const thrown&) {
    caught = true;
  }
  if (!caught) mine.into.fault("an exception did not arrive at the co_await");
}

}  // namespace steal_stress
