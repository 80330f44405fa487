// leaf_wait -- a coroutine that waits for something in its worker's engine, can be stopped from any thread, and moves along when
// that worker leaves. What sleeps and I/O share.
//
//   begin()      on the worker, armed: wants to know of stop requests. I/O waits a drive before it does (scheduler/fresh_wait.hpp)
//   event()      on that worker: it has come
//   moved()      on that worker, leaving: true, and run_again() on another worker arms it there
//   message      what a stop request sends to that worker: withdraws the wait
//
// Who resumes is wait_handshake's business. One thing is left to agree on here: a message may be on its way when the event comes or the
// worker leaves; then whichever is second resumes. _over says that the wait is not in any engine any more.
#pragma once

#include <atomic>

#include "faio/context/export.hpp"
#include "faio/context/promise.hpp"
#include "faio/context/runtime_core.hpp"
#include "faio/context/wait_handshake.hpp"

namespace faio::context {

class FAIO_CONTEXT_API leaf_wait : stop_listener {
 public:
  leaf_wait(const leaf_wait&) = delete;
  leaf_wait& operator=(const leaf_wait&) = delete;

 protected:
  struct ways : stop_listener::ways {
    /// On the worker that has it. True: it is out of the engine. False: an event will say so.
    bool (*withdraw)(leaf_wait&) noexcept;
  };
  /// For a wait with withdraw(), whose friend this class is.
  template <class Wait>
  static bool withdraw_one(leaf_wait& one) noexcept {
    return static_cast<Wait&>(one).withdraw();
  }
  template <class Wait>
  static constexpr ways waits{tells<leaf_wait>, &withdraw_one<Wait>};

  explicit leaf_wait(const ways& how) noexcept : stop_listener(how), _message(*this) {}
  ~leaf_wait() { end(); }

  /// The worker, in await_suspend, before it arms the wait. True: stop has been requested, do not wait, touch nothing more: the coroutine
  /// goes on through the worker's queue. So a loop that waits and ignores that it was stopped comes by its worker, and the
  /// end of the runtime finds it suspended. ShutdownEverywhere.ALoopThatIgnoresCanceledSleepsEndsWithTheGrace
  [[nodiscard]] bool refuse(promise_base& waiting) {
    scheduler::worker* const here = scheduler::current_worker();
    _waiting = &waiting;
    _home.store(here, std::memory_order_relaxed);  // relaxed: published by begin()
    if (!waiting.owner().stop_requested()) return false;
    _canceled = true;
    here->push_back(waiting);
    return true;
  }
  /// The worker, once it is armed; the last thing.
  void begin();
  /// Those who may stop it know of it.
  [[nodiscard]] bool has_begun() const noexcept { return is_added(); }
  /// As begin(), for one that another worker shall arm: hand it over afterwards, and run_again() there.
  void begin_elsewhere() {
    (void)_handshake.leave();  // nobody else knows of it yet
    begin();
  }
  /// The worker that has it: the event came.
  void event() noexcept;
  /// The worker that has it: the coroutine goes on, and nobody else can want that. For an event that came before begin().
  void resume() noexcept { scheduler::current_worker()->push_quietly(*_waiting); }
  /// The leaving worker, which has taken it out of its engine.
  [[nodiscard]] bool moved() noexcept;
  /// Another worker: true, arm it here.
  [[nodiscard]] bool run_again() noexcept;
  /// After resumption.
  void end() noexcept {
    if (is_added()) _waiting->owner().unsubscribe(*this);
  }
  [[nodiscard]] bool canceled() const noexcept { return _canceled; }
  /// The worker that has it: a stop request came, and its message will resume.
  [[nodiscard]] bool is_asked() const noexcept { return _handshake.is_asked(); }
  [[nodiscard]] promise_base& waiting() const noexcept { return *_waiting; }

 private:
  friend class stop_listener;
  struct message final : scheduler::work_item {
    explicit message(leaf_wait& to) noexcept : work_item(how), wait(to) {}
    static void run_it(work_item& item) noexcept { static_cast<message&>(item).wait.take_message(); }
    static void drop_it(work_item&) noexcept {}  // part of a frame that the end of the runtime destroys
    static constexpr operations how{&run_it, &drop_it};
    leaf_wait& wait;
  };

  void stop_asked() noexcept;
  void take_message() noexcept;

  wait_handshake _handshake;  // first: there is room for it behind the listener
  promise_base* _waiting = nullptr;
  std::atomic<scheduler::worker*> _home{nullptr};
  message _message;
  std::atomic<bool> _over{false};
  bool _message_taken = false;  // the worker's
  bool _canceled = false;
};

}  // namespace faio::context
