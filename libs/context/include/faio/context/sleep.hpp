// sleep -- a coroutine waits for a time; its worker runs others meanwhile.
#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>

#include "faio/context/export.hpp"
#include "faio/context/leaf_wait.hpp"
#include "faio/context/result.hpp"
#include "faio/scheduler/timer_item.hpp"

namespace faio {

namespace context {

/// In the frame of the coroutine that sleeps. Also a work item: when its worker leaves, it travels through a queue to another wheel.
class FAIO_CONTEXT_API sleep_awaiter final : leaf_wait, scheduler::timer_item {
 public:
  explicit sleep_awaiter(ioengine::time_point deadline) noexcept
      : leaf_wait(waits<sleep_awaiter>), timer_item(how, &fire), _deadline(deadline) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, promise_base>,
                  "sleep_for and sleep_until can be awaited in a faio::task only");
    suspend(waiting.promise());
  }
  result<void> await_resume() noexcept {
    end();
    if (canceled()) return std::unexpected(context::canceled());
    return {};
  }

 private:
  friend class leaf_wait;
  void suspend(promise_base& waiting);
  bool withdraw() noexcept;
  static bool moves(timer_item& item) noexcept { return static_cast<sleep_awaiter&>(item).leaf_wait::moved(); }
  static void fire(ioengine::timer_entry& timer) noexcept;
  static void run_it(work_item& item) noexcept;
  static void drop_it(work_item&) noexcept {}  // part of a frame that the end of the runtime destroys
  static constexpr timer_operations how{{&run_it, &drop_it}, &moves};

  ioengine::time_point _deadline;
};

class [[nodiscard("co_await it")]] sleep_awaitable {
 public:
  explicit sleep_awaitable(ioengine::time_point deadline) noexcept : _deadline(deadline) {}
  sleep_awaiter operator co_await() const noexcept { return sleep_awaiter(_deadline); }

 private:
  ioengine::time_point _deadline;
};

/// Now, by the clock of the current runtime; on a thread without one, the steady clock.
[[nodiscard]] FAIO_CONTEXT_API ioengine::time_point now();
/// `duration` from now, without overflow.
[[nodiscard]] FAIO_CONTEXT_API ioengine::time_point deadline_after(std::chrono::nanoseconds duration);

/// The time begins when it is awaited, by the clock of whoever awaits it.
class [[nodiscard("co_await it")]] sleep_for_awaitable {
 public:
  explicit sleep_for_awaitable(std::chrono::nanoseconds duration) noexcept : _duration(duration) {}
  sleep_awaiter operator co_await() const { return sleep_awaiter(deadline_after(_duration)); }

 private:
  std::chrono::nanoseconds _duration;
};

}  // namespace context

/// The clock of sleeps and deadlines.
using clock = std::chrono::steady_clock;

/// Suspends the task for at least `duration` from the co_await on; the worker runs others meanwhile.
/// Call from: a task. Resumes on: the same worker's queue, so any worker. Stop requested: gives operation_canceled at once.
///     co_await faio::sleep_for(10ms);                                                         // tests/sleep_test.cpp
inline context::sleep_for_awaitable sleep_for(std::chrono::nanoseconds duration) {
  return context::sleep_for_awaitable(duration);
}

/// The same, until a point of the steady clock.
inline context::sleep_awaitable sleep_until(clock::time_point deadline) { return context::sleep_awaitable(deadline); }

}  // namespace faio
