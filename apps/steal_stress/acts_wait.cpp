// acts_wait -- waiting and working, without more tasks.
#include <thread>

#include "acts.hpp"

namespace steal_stress {

using namespace std::chrono_literals;

void spin_for(std::chrono::microseconds how_long) {
  for (const auto end = clock::now() + how_long; clock::now() < end;) {
  }
}

faio::task<void> yields(hand mine) {
  for (auto times = 1 + mine.random.below(4); times > 0; --times) {
    const presence here(mine.into, place::yield);
    const auto ready = clock::now();
    co_await faio::yield();
    mine.into.waited(place::yield, clock::now() - ready);
  }
}

faio::task<void> sleeps(hand mine) {
  const std::chrono::microseconds how_long(mine.random.below(3000));
  const presence here(mine.into, place::sleep);
  const auto due = clock::now() + how_long;
  const auto slept = co_await faio::sleep_for(how_long);
  const auto now = clock::now();
  // One that was stopped has no time at which it was due.
  mine.into.waited(place::sleep, slept ? now - due : clock::duration::zero());
  if (slept && now < due) mine.into.fault("a sleep ended early");
}

faio::task<void> spins(hand mine) {
  spin_for(std::chrono::microseconds(mine.random.below(mine.random.once_in(20) ? 2000 : 50)));
  co_return;
}

faio::task<void> computes(hand mine) {
  const std::uint64_t seed = mine.random.roll();
  const std::chrono::microseconds how_long(mine.random.below(100));
  const presence here(mine.into, place::compute);
  const auto asked = clock::now();
  auto done = asked;
  const auto got = co_await faio::compute([&] {
    mine.into.waited(place::compute, clock::now() - asked);
    spin_for(how_long);
    // A task made on a compute worker belongs to the same block_on.
    if (mine.levels > 0) faio::spawn(branch(mine, place::spawn, seed));
    done = clock::now();
    return fingerprint(seed);
  });
  mine.into.waited(place::compute, clock::now() - done);
  compare(mine.into, place::compute, seed, got);
}

faio::task<void> blocks(hand mine) {
  const std::chrono::microseconds how_long(mine.random.below(500));
  const presence here(mine.into, place::blocking);
  const auto asked = clock::now();
  auto done = asked;
  co_await faio::blocking([&] {
    mine.into.waited(place::blocking, clock::now() - asked);
    std::this_thread::sleep_for(how_long);
    done = clock::now();
  });
  mine.into.waited(place::blocking, clock::now() - done);
}

}  // namespace steal_stress
