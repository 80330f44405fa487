// hop -- to other threads and back: yield, compute, blocking; and the stop token of the task that asks.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "faio/context/export.hpp"
#include "faio/context/inner_scope.hpp"
#include "faio/context/promise.hpp"
#include "faio/context/result_slot.hpp"
#include "faio/context/spawn.hpp"

namespace faio {

namespace context {

struct [[nodiscard("co_await it")]] yield_awaitable {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) const {
    static_assert(std::derived_from<Promise, promise_base>, "yield can be awaited in a faio::task only");
    scheduler::current_worker()->push_behind(waiting.promise());
  }
  void await_resume() const noexcept {}
};

struct [[nodiscard("co_await it")]] stop_token_awaitable {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> asking) {
    static_assert(std::derived_from<Promise, promise_base>, "current_stop_token can be awaited in a faio::task only");
    token = asking.promise().owner().token();
    return false;
  }
  std::stop_token await_resume() noexcept { return std::move(token); }
  std::stop_token token;
};

/// Goes on there; if that worker has left meanwhile, anywhere. Still stealable afterwards. For the libraries above.
class [[nodiscard("co_await it")]] resume_on {
 public:
  explicit resume_on(scheduler::worker& there) noexcept : _there(there) {}
  [[nodiscard]] bool await_ready() const noexcept { return scheduler::current_worker() == &_there; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) const {
    static_assert(std::derived_from<Promise, promise_base>, "resume_on can be awaited in a faio::task only");
    // Refused when the runtime has ended: its frame is destroyed by that end.
    (void)waiting.promise().owner().runtime().shared().post_to(_there, waiting.promise());
  }
  void await_resume() const noexcept {}

 private:
  scheduler::worker& _there;
};

enum class elsewhere : unsigned char { compute, blocking };

/// The callable runs as a work item in the frame of the coroutine that waits for it.
template <class F>
class hop_awaiter final : scheduler::work_item {
 public:
  using given = std::invoke_result_t<F&>;
  hop_awaiter(elsewhere where, F f) : work_item(how), _where(where), _f(std::move(f)) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, promise_base>, "compute and blocking can be awaited in a faio::task only");
    _waiting = &waiting.promise();
    scheduler::shared_state& runtime = _waiting->owner().runtime().shared();
    const bool taken = _where == elsewhere::compute ? runtime.post_compute(*this) : runtime.post_blocking(*this);
    if (!taken) throw_stopped();
  }
  given await_resume() { return _slot.take(); }

 private:
  static void run_it(work_item& item) noexcept {
    auto& self = static_cast<hop_awaiter&>(item);
    scheduler::this_thread().scope = &self._waiting->owner();
    try {
      if constexpr (std::is_void_v<given>) {
        self._f();
        self._slot.set_value();
      } else {
        self._slot.set_value(self._f());
      }
    } catch (...) {
      self._slot.set_exception(std::current_exception());
    }
    scheduler::this_thread().scope = nullptr;
    schedule(*self._waiting);
  }
  static void drop_it(work_item&) noexcept {}  // part of a frame that the end of the runtime destroys
  static constexpr operations how{&run_it, &drop_it};

  elsewhere _where;
  F _f;
  promise_base* _waiting = nullptr;
  result_slot<given> _slot;
};

template <class F>
class [[nodiscard("co_await it")]] hop_awaitable {
 public:
  hop_awaitable(elsewhere where, F f) : _where(where), _f(std::move(f)) {}
  hop_awaiter<F> operator co_await() { return hop_awaiter<F>(_where, std::move(_f)); }

 private:
  elsewhere _where;
  F _f;
};

}  // namespace context

/// Effect: to the back of the local queue; others run first. Call from: a task. Resumes on any worker.
inline context::yield_awaitable yield() noexcept { return {}; }

/// The stop token of the task that awaits it: co_await faio::current_stop_token(). Does not suspend. A wait that a stop request ended has its
/// token say so already; one that was taken before the wait may say so a moment later, after the callbacks of others.
inline context::stop_token_awaitable current_stop_token() noexcept { return {}; }

/// Effect: calls `f` on a compute worker and gives its value. Call from: a task. Resumes on an I/O worker. Errors: what it throws; a
/// runtime that has ended: std::system_error. A stop request does not interrupt it.
///     auto digest = co_await faio::compute([&] { return sha256(data); });                     // tests/hop_test.cpp
template <class F>
  requires std::invocable<std::decay_t<F>&>
context::hop_awaitable<std::decay_t<F>> compute(F&& f) {
  return {context::elsewhere::compute, std::forward<F>(f)};
}

/// The same on a thread that may block: for calls that wait, where compute is for those that calculate.
template <class F>
  requires std::invocable<std::decay_t<F>&>
context::hop_awaitable<std::decay_t<F>> blocking(F&& f) {
  return {context::elsewhere::blocking, std::forward<F>(f)};
}

}  // namespace faio
