// acts_stop -- everything in which somebody is asked to stop: a request that gets lost leaves a sleeper asleep for a minute.
#include <stdexcept>

#include "acts.hpp"

namespace steal_stress {

using namespace std::chrono_literals;

namespace {

struct group_failure : std::runtime_error {
  group_failure() : std::runtime_error("a group's task fails on purpose") {}
};

faio::task<void> fails(ticket mine) {
  mine.begin();
  co_await faio::yield();
  throw group_failure();
}

}  // namespace

faio::task<void> hesitate(hand mine) {
  switch (mine.random.below(4)) {
    case 0:
      break;
    case 1:
      co_await faio::yield();
      break;
    case 2:
      spin_for(std::chrono::microseconds(mine.random.below(200)));
      break;
    default:
      co_await sleeps(mine);
      break;
  }
}

faio::task<void> sleeper(book& into, ticket mine) {
  mine.begin();
  const presence here(into, place::sleeper);
  if (co_await faio::sleep_for(60s)) into.fault("a sleeper that should have been stopped slept for a minute");
}

faio::task<void> stops_a_sleeper(hand mine) {
  auto handle = faio::spawn(sleeper(mine.into, ticket(mine.into, place::spawn)));
  co_await hesitate(mine);
  handle.request_stop();
  co_await std::move(handle);
}

faio::task<void> races(hand mine) {
  const presence here(mine.into, place::when_any);
  const auto seed = mine.random.roll();
  const auto first = co_await faio::when_any(sleeper(mine.into, ticket(mine.into, place::when_any)),
                                             branch(mine, place::when_any, seed));
  // A stop request from above ends the sleeper first.
  if (first.index == 1) compare(mine.into, place::when_any, seed, std::get<1>(first.value));
}

faio::task<void> times_out(hand mine) {
  const presence here(mine.into, place::timeout);
  const std::chrono::microseconds limit(mine.random.below(3000));
  if (mine.random.once_in(2)) {
    const auto ended = co_await faio::timeout(limit, sleeper(mine.into, ticket(mine.into, place::timeout)));
    const auto stopped = co_await faio::current_stop_token();
    if (ended && !stopped.stop_requested()) mine.into.fault("a sleeper of a minute ended within its timeout");
  } else {
    const auto seed = mine.random.roll();
    const auto got = co_await faio::timeout(limit, branch(mine, place::timeout, seed));
    if (got) compare(mine.into, place::timeout, seed, *got);
  }
}

faio::task<void> groups(hand mine) {
  const presence here(mine.into, place::group);
  faio::task_group group;
  for (auto left = mine.random.below(4); left > 0; --left) {
    group.spawn(branch(mine, place::group, mine.random.roll()));
  }
  if (mine.random.once_in(2)) {
    group.spawn(sleeper(mine.into, ticket(mine.into, place::group)));
    co_await hesitate(mine);
    group.request_stop();
  }
  co_await group.join();
}

faio::task<void> groups_with_a_failure(hand mine) {
  const presence here(mine.into, place::group);
  faio::task_group group;
  group.spawn(sleeper(mine.into, ticket(mine.into, place::group)));
  if (mine.random.once_in(2)) group.spawn(branch(mine, place::group, mine.random.roll()));
  group.spawn(fails(ticket(mine.into, place::group)));
  bool caught = false;
  try {
    co_await group.join();
  } catch (const group_failure&) {
    caught = true;
  }
  if (!caught) mine.into.fault("a group did not rethrow the exception of its task");
}

/// Goes away without a join: its tasks are stopped, and still belong to the block_on.
faio::task<void> abandons_a_group(hand mine) {
  faio::task_group group;
  group.spawn(sleeper(mine.into, ticket(mine.into, place::group)));
  if (mine.random.once_in(2)) group.spawn(branch(mine, place::group, mine.random.roll()));
  co_await hesitate(mine);
}

}  // namespace steal_stress
