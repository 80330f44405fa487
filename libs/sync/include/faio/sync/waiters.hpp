// waiters -- who can wait for a primitive: a coroutine, which a stop request takes out of the line; or a plain thread.
//
//   await_suspend:  be told of stop requests; then, under the primitive's lock, go on at once or into the line
//   A request that comes before the line finds the waiter idle and marks it; one that comes after takes it out. Both under the lock.
//   The coroutine may go on elsewhere as soon as it is in line: await_suspend touches nothing of it afterwards.
#pragma once

#include <memory>

#include "faio/context/completion_signal.hpp"
#include "faio/context/inner_scope.hpp"
#include "faio/context/promise.hpp"
#include "faio/context/result.hpp"
#include "faio/sync/atomics.hpp"
#include "faio/sync/export.hpp"
#include "faio/sync/wait_list.hpp"

namespace faio::sync {

using waiter = basic_waiter<std_atomics>;
using wait_list = basic_wait_list<std_atomics>;

/// A coroutine. `Waiter` is what the primitive's line is made of: waiter, or one that has a value besides.
template <class Waiter>
class basic_task_waiter : public Waiter, context::stop_listener {
 public:
  void announce_wake() noexcept final { _woken_from_outside = context::announce_schedule(*_waiting); }
  void wake() noexcept final { schedule_announced(*_waiting); }

 protected:
  basic_task_waiter() noexcept : stop_listener(context::stop_listener::tells<basic_task_waiter>) {}
  ~basic_task_waiter() = default;

  /// In await_suspend, first. False: stop has been requested, do not wait.
  [[nodiscard]] bool begin(context::promise_base& waiting) {
    _waiting = &waiting;
    return waiting.owner().subscribe(*this);
  }
  /// The same for one that no stop request ends.
  void begin_unstoppably(context::promise_base& waiting) noexcept { _waiting = &waiting; }
  /// In await_resume.
  void end() noexcept {
    if (is_added()) _waiting->owner().unsubscribe(*this);
    _waiting = nullptr;
  }
  /// In the destructor of the class that has withdraw(), which is final: until here a stop request may call it. A frame is destroyed while it waits
  /// when its runtime ends before it could go on: out of the line with it. True: it had been granted what it waited for, or called, and never went
  /// on: that is the caller's to pass on.   RuntimeEndTest
  [[nodiscard]] bool abandoned() noexcept {
    if (_waiting == nullptr) [[likely]]
      return false;
    if (is_added()) _waiting->owner().unsubscribe(*this);
    if (_canceled) return false;
    (void)withdraw();  // it is out now either way
    if (this->state() != wait_state::granted && this->state() != wait_state::called) return false;
    // Whoever granted it may be about to wake us: until then that one needs _waiting.
    _waiting->owner().runtime().await_announced();
    return true;
  }
  /// After announce_wake(), on the same thread: the coroutine, or an item in its frame.
  void schedule_announced(scheduler::work_item& what) noexcept {
    if (_woken_from_outside) [[unlikely]] {
      context::schedule_announced(*_waiting, what);
    } else {
      context::schedule(*_waiting, what);
    }
  }
  /// Between begin and end.
  [[nodiscard]] context::promise_base& waiting() const noexcept { return *_waiting; }

  /// On any thread. Takes it out of the primitive's line; true: it was in there, and is to be woken.
  virtual bool withdraw() noexcept = 0;

 private:
  friend class context::stop_listener;
  void stop_asked() noexcept {
    if (!withdraw()) return;
    _canceled = true;
    context::schedule(*_waiting);  // end() waits for us, so it need not be announced
  }
  context::promise_base* _waiting = nullptr;
  bool _canceled = false;            // the stop request's; end() waits for that
  bool _woken_from_outside = false;  // of whoever wakes it
};

/// A thread that blocks, on whose stack it lives.
template <class Waiter>
class basic_thread_waiter final : public Waiter {
 public:
  void wake() noexcept override { _signal.mark_ready(); }
  /// Blocks until it has been woken. It may be woken again afterwards.
  void wait() noexcept {
    _signal.wait();
    // Whoever marked it does not touch it any more; the wake that may still come to its address finds one that is not ready, and is none.
    std::destroy_at(&_signal);
    std::construct_at(&_signal);
  }

 private:
  context::completion_signal _signal;
};

using task_waiter = basic_task_waiter<waiter>;
using thread_waiter = basic_thread_waiter<waiter>;

/// Throws std::system_error on a worker: `call` would block tasks that it may wait for.
FAIO_SYNC_API void check_may_block(const char* call);

}  // namespace faio::sync
