// condition_variable -- wait with a lock given back, for another task to say that something has changed.
#pragma once

#include <concepts>
#include <coroutine>
#include <utility>

#include "faio/context/task.hpp"
#include "faio/sync/gate.hpp"
#include "faio/sync/mutex.hpp"

namespace faio::sync {

class FAIO_SYNC_API condition_variable {
 public:
  /// Any thread. Wakes the longest waiting, or all.
  void notify_one() noexcept { (void)_gate.pulse_one(); }  // nobody waits: nobody is told
  void notify_all() noexcept { _gate.pulse(); }

  /// Call from: a task that holds `guard`. Gives the lock back, waits, and takes it again, also when stop was requested: then
  /// operation_canceled. No wake-up comes without a notify, but another task may have been faster: look at the condition again.
  ///     auto guard = co_await m.lock();
  ///     co_await changed.wait(guard, [&] { return ready; });                                 // tests/condition_variable_test.cpp
  task<result<void>> wait(mutex::guard& guard);

  /// Until `done()`, which is called with the lock held.
  template <std::predicate Done>
  task<result<void>> wait(mutex::guard& guard, Done done) {
    while (!done()) {
      if (auto waited = co_await wait(guard); !waited) co_return waited;
    }
    co_return result<void>{};
  }

 private:
  class parking;
  gate _gate;
};

}  // namespace faio::sync
