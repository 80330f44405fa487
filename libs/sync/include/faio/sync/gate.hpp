// gate -- open or shut; who finds it shut waits. What event, latch, barrier and condition_variable are made of.
//
// I1  Everything happens under one lock; a look at a gate that is shut takes none.
// I2  Whoever passes has held the lock after the one who opened it, or is woken by that one when it has let go of it: so whoever has
//     passed may destroy the gate. EventTest.WhoeverHasPassedMayDestroyIt
#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <mutex>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/queue/spin_lock.hpp"
#include "faio/sync/waiters.hpp"

namespace faio::sync {

class FAIO_SYNC_API gate {
 public:
  explicit gate(bool open = false) noexcept : _open(open) {}
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  /// Any thread.
  [[nodiscard]] bool is_open() const noexcept {
    return _open.load(std::memory_order_acquire);
  }  // acquire, pairs with open()
  /// Lets all through, now and from now on.
  void open() noexcept;
  /// Lets all through who wait now, and stays shut.
  void pulse() noexcept;
  /// Lets one through: the longest waiting; false when nobody waits.
  bool pulse_one() noexcept;
  /// Lets one through: the longest waiting, or the next to come. Any number before that is one.
  void open_for_one() noexcept;
  void shut() noexcept;
  [[nodiscard]] bool try_pass() noexcept;
  /// Takes an opening that was meant for one.
  [[nodiscard]] bool try_pass_alone() noexcept;

  /// granted: go on. canceled. queued: it waits. `alone`: passing shuts the gate.
  [[nodiscard]] wait_state pass_or_wait(waiter& who, bool alone);
  /// Waits whether or not the gate is open.
  [[nodiscard]] wait_state wait_for_pulse(waiter& who);
  [[nodiscard]] bool cancel(waiter& who) noexcept;

 private:
  std::atomic<bool> _open;
  queue::spin_lock _mutex;
  wait_list _line;
};

enum class passing : unsigned char { with_others, alone };

class FAIO_SYNC_API gate_awaiter final : task_waiter {
 public:
  explicit gate_awaiter(gate& at, passing how = passing::with_others) noexcept : _at(at), _how(how) {}
  ~gate_awaiter() {
    if ((_through || abandoned()) && _how == passing::alone) _at.open_for_one();
  }

  [[nodiscard]] bool await_ready() noexcept {
    _through = _how == passing::alone ? _at.try_pass_alone() : _at.try_pass();
    return _through && context::may_go_on();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, context::promise_base>, "this can be awaited in a faio::task only");
    if (!_through) return suspend(waiting.promise());
    context::come_by_the_loop(waiting.promise());
    return true;
  }
  result<void> await_resume() noexcept {
    if (std::exchange(_through, false)) return {};
    end();
    if (state() != wait_state::granted) return std::unexpected(context::canceled());
    return {};
  }

 private:
  bool suspend(context::promise_base& waiting);
  bool withdraw() noexcept override { return _at.cancel(*this); }

  gate& _at;
  passing _how;
  bool _through = false;  // without waiting, and not gone on yet
};

/// What wait() gives to co_await: a result<void>.
class [[nodiscard("co_await it")]] gate_awaitable {
 public:
  explicit gate_awaitable(gate& at, passing how = passing::with_others) noexcept : _at(at), _how(how) {}
  gate_awaiter operator co_await() const noexcept { return gate_awaiter(_at, _how); }

 private:
  gate& _at;
  passing _how;
};

/// A plain thread.
FAIO_SYNC_API void pass_blocking(gate& at, passing how, const char* call);

}  // namespace faio::sync
