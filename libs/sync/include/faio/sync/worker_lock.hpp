// worker_lock -- a biased_lock that knows who takes it: it belongs to the worker that uses it.
#pragma once

#include "faio/scheduler/thread_state.hpp"
#include "faio/sync/atomics.hpp"
#include "faio/sync/biased_lock.hpp"

namespace faio::sync {

/// Lockable.
class worker_lock {
 public:
  void lock() noexcept { lock(scheduler::current_worker()); }
  /// `here`: the calling thread's, if it is one.
  void lock(const scheduler::worker* here) noexcept { _lock.lock(here); }
  void unlock() noexcept { _lock.unlock(); }
  /// The calling thread's. False: it is not the one to whom the lock belongs; take the other way.
  [[nodiscard]] bool try_lock_as_owner(const scheduler::worker& here) noexcept {
    return _lock.try_lock_as_owner(&here);
  }
  void unlock_as_owner() noexcept { _lock.unlock_as_owner(); }

 private:
  basic_biased_lock<std_atomics> _lock;
};

}  // namespace faio::sync
