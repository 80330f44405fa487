// join_wait -- a coroutine that waits for a spawned task which a stop request for the waiting one does not reach: one that somebody
// else spawned, or one of another runtime.
//
//   the task ends            ──┐
//   the waiting one is asked ──┼──> whichever is first resumes it, under the lock, and the others find it over
//   its frame is destroyed   ──┘
//
// Shared by the waiting coroutine and the task, each of whom may go first. A child that is awaited by its parent, the common case, needs none
// of this: the stop reaches the child, and the child's end resumes the parent.
#pragma once

#include <atomic>
#include <mutex>

#include "faio/context/export.hpp"
#include "faio/context/promise.hpp"

namespace faio::context {

class FAIO_CONTEXT_API join_wait final : stop_listener {
 public:
  /// Held by the waiting coroutine and by the task: each calls release() once.
  explicit join_wait(promise_base& waiting) noexcept : stop_listener(tells<join_wait>), _waiting(&waiting) {}
  join_wait(const join_wait&) = delete;
  join_wait& operator=(const join_wait&) = delete;

  // ---- The waiting coroutine's.

  /// Wants to know of stop requests from now on; before the task can see it.
  void subscribe();
  /// In await_suspend, the last thing. False: it is over already, do not suspend.
  [[nodiscard]] bool arm() noexcept;
  /// After resumption, or when its frame is destroyed. True: it was a stop request.
  bool end() noexcept;

  // ---- The task's.

  void task_ended() noexcept { over(false); }

  void release() noexcept {
    // release: what we did is visible to the last. acquire: we may be that last.
    if (_holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // ---- end of the public interface ----

 private:
  friend class stop_listener;
  ~join_wait() = default;
  void stop_asked() noexcept { over(true); }
  void over(bool by_stop) noexcept;

  std::mutex _mutex;
  promise_base* _waiting;
  bool _armed = false;
  bool _over = false;
  bool _stopped = false;
  std::atomic<int> _holders{2};
};

}  // namespace faio::context
