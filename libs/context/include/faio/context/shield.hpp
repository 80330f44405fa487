// shield -- awaits a task that does not hear the stop requests of whoever awaits it: for what must end in good order.
//
//   co_await faio::shield(say_goodbye(peer));                      // also when we have been asked to stop   tests/shield_test.cpp
//
// The task runs beneath a scope that counts in the one above and hears nothing from it. So it can be left alone for ever: give it a
// time limit of its own, or a stop token of the one above, read before, to look at in its own time.
#pragma once

#include <concepts>
#include <coroutine>
#include <optional>
#include <utility>

#include "faio/context/inner_scope.hpp"
#include "faio/context/task.hpp"

namespace faio {

namespace context {

template <class T>
class shield_awaiter final : child_list, end_listener {
 public:
  explicit shield_awaiter(task<T>& what) : _child(&what.release("shield")) {
    static_cast<typename task<T>::promise_type*>(_child)->result_to(_slot);
  }
  shield_awaiter(const shield_awaiter&) = delete;
  shield_awaiter& operator=(const shield_awaiter&) = delete;
  ~shield_awaiter() {
    if (!_scope && _child != nullptr) _child->handle().destroy();  // never started
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, promise_base>, "shield can be awaited in a faio::task only");
    _waiting = &waiting.promise();
    _scope.emplace(*_waiting, true);
    _waiting->awaits_all(*this);
    promise_base& child = *_child;
    _scope->retain();
    child.belongs_to(*_scope);
    child.then_tell(*this);
    _scope->wait(*_waiting);
    return promise_base::switch_to(child);
  }
  T await_resume() {
    _waiting->awaits_nobody();
    return _slot.take();
  }

 private:
  promise_base* next_unended() noexcept override { return std::exchange(_unseen, false) ? _child : nullptr; }
  std::coroutine_handle<> ended() noexcept override {
    destroyed();
    return std::noop_coroutine();
  }
  void destroyed() noexcept override {
    _child = nullptr;
    _scope->release();  // we may be gone
  }
  promise_base* waiting() noexcept override { return _waiting; }

  result_slot<T> _slot;
  promise_base* _child;
  promise_base* _waiting = nullptr;
  bool _unseen = true;  // by next_unended()
  std::optional<inner_scope> _scope;
};

template <class T>
class [[nodiscard("co_await it")]] shield_awaitable {
 public:
  explicit shield_awaitable(task<T> what) noexcept : _what(std::move(what)) {}
  shield_awaiter<T> operator co_await() { return shield_awaiter<T>(_what); }

 private:
  task<T> _what;
};

}  // namespace context

/// Effect: runs the task and gives its value, once it and everything spawned beneath it has ended. Call from: a task. Stop requested: the
/// task is not told, and is waited for. The runtime's stop() does not wait longer for it than for others. Errors: what it throws.
template <class T>
context::shield_awaitable<T> shield(task<T> what) {
  return context::shield_awaitable<T>(std::move(what));
}

}  // namespace faio
