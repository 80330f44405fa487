// acts_post -- callables by every way of the posting table; what they spawn belongs to the same block_on.
#include <atomic>
#include <memory>
#include <system_error>
#include <utility>

#include "acts.hpp"

namespace steal_stress {
namespace {

/// A callable with its ticket; it may plant another tree.
auto job(const hand& mine, place how, std::chrono::nanoseconds delay = {}) {
  const auto seed = mine.random.roll();
  const bool plants = mine.random.once_in(3);
  return [&in = mine.in, &into = mine.into, entry = ticket(mine.into, how, delay), seed, plants,
          levels = mine.levels]() mutable {
    entry.begin();
    dice own(seed);
    const hand there{in, into, own, levels};
    if (plants) faio::spawn(branch(there, place::spawn, own.roll()));
  };
}

}  // namespace

faio::task<void> posts(hand mine) {
  faio::runtime_context& runtime = mine.in.runtime;
  for (auto left = 1 + mine.random.below(3); left > 0; --left) {
    switch (mine.random.below(5)) {
      case 0:
        runtime.post(job(mine, place::post));
        break;
      case 1:
        runtime.post_compute(job(mine, place::post_compute));
        break;
      case 2:
        faio::this_worker::post_local(job(mine, place::post_local));
        break;
      case 3:
        faio::this_worker::post_self(job(mine, place::post_self));
        break;
      default: {
        auto& ids = mine.in.some_workers;
        const auto id = ids[mine.random.below(ids.size())].load(std::memory_order_relaxed);  // relaxed: a number
        try {
          runtime.post_to(id, job(mine, place::post_to));
        } catch (const std::system_error& error) {
          // It has left meanwhile: a correct program meets this too. The callable is gone.
          if (error.code() != faio::scheduler::make_error_code(faio::scheduler::errc::no_such_worker)) throw;
          mine.into.refused();
        }
      }
    }
  }
  co_return;
}

faio::task<void> posts_later(hand mine) {
  const std::chrono::microseconds delay(mine.random.below(3000));
  if (mine.random.once_in(2)) {
    mine.in.runtime.post_after(delay, job(mine, place::post_after, delay));
  } else {
    faio::this_worker::post_self_after(delay, job(mine, place::post_self_after, delay));
  }
  co_return;
}

/// Its worker has a long callable that nobody else may run: the task behind it must be stolen. Where nothing takes the others away, the callable
/// does not end before that has happened, so a task that is left there is a stall.
faio::task<void> yields_behind_a_long_callable(hand mine) {
  garden& in = mine.in;
  const bool until_stolen = in.others_are_free && !in.stands_still.exchange(true);
  const auto went_on = std::make_shared<std::atomic<bool>>(false);
  const std::chrono::microseconds at_most(mine.random.below(3000));
  auto long_one = [&in, went_on, until_stolen, at_most, entry = ticket(mine.into, place::post_to)]() mutable {
    entry.begin();
    for (const auto end = clock::now() + at_most; !*went_on && (until_stolen || clock::now() < end);) {
    }
    if (until_stolen) in.stands_still = false;
  };
  try {
    in.runtime.post_to(*faio::this_worker::id(), std::move(long_one));
  } catch (const std::system_error& error) {
    // The worker is leaving: its queue goes to the others anyway.
    if (error.code() != faio::scheduler::make_error_code(faio::scheduler::errc::no_such_worker)) throw;
    mine.into.refused();
    if (until_stolen) in.stands_still = false;
  }
  co_await yields(mine);
  *went_on = true;
}

}  // namespace steal_stress
