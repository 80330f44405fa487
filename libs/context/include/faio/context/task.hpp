// task -- a lazy coroutine: it starts when it is awaited or spawned, and gives one value or one exception.
//
//   faio::task<int> add(int a, int b) { co_return a + b; }
//   int sum = co_await add(1, 2);                                  // tests/task_test.cpp
#pragma once

#include <concepts>
#include <coroutine>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "faio/context/promise.hpp"

namespace faio {

template <class T = void>
class task;

namespace context {

template <class T>
class task_promise final : public task_promise_base<T> {
 public:
  task<T> get_return_object();

  template <class U = T>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
    this->_slot->set_value(std::forward<U>(value));
  }
};

template <>
class task_promise<void> final : public task_promise_base<void> {
 public:
  task<void> get_return_object();
  void return_void() noexcept { _slot->set_value(); }
};

[[noreturn]] FAIO_CONTEXT_API void throw_empty_task(const char* what);
[[noreturn]] FAIO_CONTEXT_API void throw_no_room(const char* what);

}  // namespace context

/// Effect: nothing until it is awaited or spawned, once. Move-only; T may be void, a reference or move-only.
/// Call from: anywhere. Awaiting it: from a task, on whose behalf it then runs; resumes on the worker where it ended.
/// Cancellation: it gets the stop token of the task that awaits it. Errors: what it throws arrives at the co_await; awaiting one that
/// was moved from or awaited already throws std::logic_error.
template <class T>
class [[nodiscard("a task does nothing until it is awaited or spawned")]] task {
 public:
  using promise_type = context::task_promise<T>;
  /// What co_await gives.
  using value_type = T;

  task() = default;
  task(task&& other) noexcept : _promise(std::exchange(other._promise, nullptr)) {}
  task& operator=(task&& other) noexcept {
    task old(std::move(other));
    std::swap(_promise, old._promise);
    return *this;
  }
  ~task() {
    if (_promise != nullptr) std::coroutine_handle<promise_type>::from_promise(*_promise).destroy();
  }

  /// False: moved from, awaited or spawned already.
  [[nodiscard]] explicit operator bool() const noexcept { return _promise != nullptr; }

  // ---- end of the public interface ----

  class awaiter {
   public:
    explicit awaiter(promise_type* child) noexcept : _child(child) {}
    awaiter(const awaiter&) = delete;
    awaiter& operator=(const awaiter&) = delete;
    ~awaiter() {
      // Never started: the child's frame is ours. One that was suspended for ever went before us: promise.hpp, I2.
      if (_parent == nullptr && _child != nullptr) std::coroutine_handle<promise_type>::from_promise(*_child).destroy();
    }

    [[nodiscard]] bool await_ready() const {
      if (_child == nullptr) [[unlikely]]
        context::throw_empty_task("co_await");
      return false;
    }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      static_assert(
          std::derived_from<Promise, context::promise_base>,
          "a faio::task can be awaited in a faio::task only; from elsewhere use faio::spawn or faio::block_on");
      _parent = &parent.promise();
      _child->result_to(_slot);
      _child->then_resume(*_parent);
      return context::promise_base::transfer(*_child);
    }
    T await_resume() { return _slot.take(); }

   private:
    promise_type* _child;
    context::promise_base* _parent = nullptr;
    context::result_slot<T> _slot;
  };

  awaiter operator co_await() noexcept { return awaiter(std::exchange(_promise, nullptr)); }

  /// For the library: the coroutine, which the caller now owns. Throws std::logic_error if there is none.
  promise_type& release(const char* what) {
    if (_promise == nullptr) [[unlikely]]
      context::throw_empty_task(what);
    return *std::exchange(_promise, nullptr);
  }
  /// For the library: the coroutine, still ours; there is one.
  [[nodiscard]] promise_type& coroutine() const noexcept { return *_promise; }
  /// For the library: somebody else has destroyed it.
  void forget() noexcept { _promise = nullptr; }

 private:
  friend promise_type;
  explicit task(promise_type& promise) noexcept : _promise(&promise) {}

  promise_type* _promise = nullptr;
};

namespace context {

template <class T>
task<T> task_promise<T>::get_return_object() {
  this->check_place_in_frame();
  return task<T>(*this);
}
inline task<void> task_promise<void>::get_return_object() {
  check_place_in_frame();
  return task<void>(*this);
}

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

}  // namespace context
}  // namespace faio
