// lock_awaiter -- a coroutine takes a lock, in line if need be.
//
// One that waits is an item of the worker's queues itself: what is scheduled when it is called is not the coroutine but the wait, which tries again
// when it runs, and only then runs the coroutine. So a worker's loop knows nothing of locks.
//
// I1  The lock is never held while the task comes by the loop: it is the loop's turn first, and the lock is taken behind it.
//     Otherwise whoever gives way as the holder, once in some dozens of operations, makes all others wait in line.
//     If others wait by then, it goes behind them at once (lock_core.hpp).
//     MutexTest.ALoopDoesNotHoldTheLockWhileItGivesWay, MutexTest.ALoopThatGivesWayGoesBehindThoseWhoWait
// I2  The item is in a queue only while the wait is called, or while the task comes by the loop. A lock that is handed over, or a stop request that
//     takes the waiter out of the line, schedules the coroutine itself: the item is in no queue then.
// I3  When the runtime ends, its queues are emptied and closed before frames are destroyed: no queue holds the item of a frame that goes.
//     RuntimeEndTest.OneThatWasCalledAndNeverRanCallsTheNext
//
// Rejected: an awaiter that is the waiter, as elsewhere. It costs a dozen stores for each lock, before a locked instruction that waits for all of
// them: 25 ns instead of 20 (docs/adr/0015).
#pragma once

#include <concepts>
#include <coroutine>

#include "faio/scheduler/work_item.hpp"
#include "faio/sync/lock_core.hpp"
#include "faio/sync/stoppable.hpp"
#include "faio/sync/waiters.hpp"

namespace faio::sync {

/// A coroutine that could not have it at once.
class FAIO_SYNC_API lock_wait final : basic_task_waiter<lock_core::waiter>, scheduler::work_item {
 public:
  explicit lock_wait(lock_core& from) noexcept : work_item(how), _from(from) {}
  ~lock_wait() {
    if (abandoned()) _from.pass_on(*this);
  }

  /// In await_suspend, and what that returns. `by_the_loop`: it is the loop's turn, and it has not tried yet.
  bool begin_to_wait(context::promise_base& waiting, stoppable stop, bool by_the_loop);
  /// In await_resume. True: taken. False: stop was requested.
  bool end_of_wait() noexcept {
    end();
    return _taken || state() == wait_state::granted;
  }

 private:
  /// When the item runs. False: it waits, and may be gone.
  bool goes_on() noexcept;
  void call() noexcept override { schedule_announced(*this); }
  bool withdraw() noexcept override { return _from.cancel(*this); }

  static void run_it(work_item& item) noexcept;
  /// The frame that it is in will be destroyed, and does the rest.
  static void drop_it(work_item&) noexcept {}
  static constexpr operations how{&run_it, &drop_it};

  lock_core& _from;
  bool _by_the_loop = false;
  bool _taken = false;  // behind the loop, without the line
};

class FAIO_SYNC_API lock_awaiter {
 public:
  lock_awaiter(lock_core& from, stoppable stop) noexcept : _from(from), _stop(stop) {}
  lock_awaiter(const lock_awaiter&) = delete;
  lock_awaiter& operator=(const lock_awaiter&) = delete;
  ~lock_awaiter() {
    if (_waits) _wait.~lock_wait();
  }

  [[nodiscard]] bool await_ready() noexcept {
    _tried = context::may_go_on();
    return _tried && _from.try_take();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, context::promise_base>, "this can be awaited in a faio::task only");
    return begin_to_wait(waiting.promise());
  }
  /// True: taken. False: stop was requested.
  bool await_resume() noexcept { return !_waits || _wait.end_of_wait(); }

 private:
  /// The wait is made only for one who must wait.
  bool begin_to_wait(context::promise_base& waiting);

  lock_core& _from;
  stoppable _stop;
  bool _tried = false;
  bool _waits = false;  // there is a wait
  union {
    lock_wait _wait;
  };
};

/// A plain thread takes it.
FAIO_SYNC_API void take_blocking(lock_core& from, const char* call);

}  // namespace faio::sync
