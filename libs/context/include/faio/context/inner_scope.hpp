// inner_scope -- a scope inside a task: its children can be stopped together, and the task goes on when the scope is complete.
//
// It lives in the awaiting coroutine's frame, or in a task_group. Being complete means that the children and everything spawned
// beneath them have ended: nothing of it is left running.
#pragma once

#include <cstddef>

#include "faio/context/promise.hpp"
#include "faio/context/runtime_core.hpp"
#include "faio/context/scope.hpp"

namespace faio::context {

/// Any thread: a coroutine that can go on now.
FAIO_CONTEXT_API void schedule(promise_base& ready) noexcept;
/// The same for an item in its frame that decides, when it runs, whether the coroutine goes on. Its drop() is nothing: the frame's destruction will do.
FAIO_CONTEXT_API void schedule(promise_base& waiting, scheduler::work_item& instead) noexcept;

/// The same in two steps, for whoever decides under a lock that a coroutine can go on, and schedules it when the lock is free again. In between a
/// runtime that ends may be about to destroy the coroutine: with the lock, it learns that it must wait (runtime_core::await_announced).
/// Both on one thread. announce_schedule() gives false when schedule() will do for the second: its own threads have ended when it destroys.
[[nodiscard]] inline bool announce_schedule(promise_base& ready) noexcept {
  runtime_core& runtime = ready.owner().runtime();
  if (runtime.is_here()) [[likely]]
    return false;
  runtime.announce_foreign();
  return true;
}
/// After announce_schedule() has given true: the coroutine, or an item in its frame.
FAIO_CONTEXT_API void schedule_announced(promise_base& waiting, scheduler::work_item& what) noexcept;

class FAIO_CONTEXT_API inner_scope final : public scope {
 public:
  /// Beneath the scope of `waiting`, who holds one place inside until wait().
  explicit inner_scope(promise_base& waiting, bool shielded = false) noexcept
      : scope(waiting.owner().runtime(), &retained(waiting.owner()), shielded) {}
  ~inner_scope() = default;

  /// The awaiting coroutine, once, in its await_suspend, as the last thing: it is scheduled when the scope is complete, perhaps at once
  /// and on another worker.
  void wait(promise_base& waiting) noexcept {
    _waiting = &waiting;
    release();
  }

  // ---- end of the public interface ----

 private:
  static scope& retained(scope& above) noexcept {
    above.retain();
    return above;
  }
  void complete() noexcept override {
    leave_above();
    schedule(*_waiting);
  }

  promise_base* _waiting = nullptr;
};

}  // namespace faio::context
