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

 private:
  basic_biased_lock<std_atomics> _lock;
};

}  // namespace faio::sync
