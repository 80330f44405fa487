// join_handle -- the spawner's end of a spawned task: wait for it, stop it, or let go of it.
#pragma once

#include <concepts>
#include <coroutine>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "faio/context/join_state.hpp"
#include "faio/context/result.hpp"

namespace faio {

namespace context {
[[noreturn]] FAIO_CONTEXT_API void throw_empty_handle();
[[noreturn]] FAIO_CONTEXT_API void throw_blocks_worker(const char* call);
/// What stands for a value of type void in a tuple.
template <class T>
using tuple_value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
}  // namespace context

/// co_await gives the value or rethrows. When the waiting task is asked to stop, so is its child; for a task that somebody else spawned the wait
/// ends with std::system_error, operation_canceled, and the task goes on.
/// Dropped: the task goes on, still in its group; an exception then reaches config.on_unhandled.
///     auto h = faio::spawn(add(1, 2));
///     int sum = co_await std::move(h);                                                        // tests/spawn_test.cpp
template <class T>
class join_handle {
 public:
  join_handle() = default;
  join_handle(join_handle&& other) noexcept : _task(std::exchange(other._task, nullptr)) {}
  join_handle& operator=(join_handle&& other) noexcept {
    join_handle old(std::move(other));
    std::swap(_task, old._task);
    return *this;
  }
  ~join_handle() {
    if (_task != nullptr) _task->drop_handle();
  }

  /// False: moved from, or its result was taken.
  [[nodiscard]] bool valid() const noexcept { return _task != nullptr; }
  /// Any thread. The task has ended.
  [[nodiscard]] bool done() const { return task().done(); }
  /// Any thread. Asks the task and all beneath it to stop; true for the first to ask.
  bool request_stop() const { return task().request_stop(); }

  /// A thread that is no worker of the task's runtime: blocks, gives the value or rethrows. On such a worker: std::system_error that
  /// says to co_await. operation_canceled: the runtime was stopped before the task ended.
  T get() {
    wait_until_done();
    return take();
  }
  /// As get(), without taking the value.
  void wait_until_done() const {
    if (!task().done()) _task->wait();
  }

  // ---- end of the public interface ----

  class awaiter {
   public:
    explicit awaiter(join_handle& handle) noexcept : _handle(std::move(handle)) {}
    awaiter(const awaiter&) = delete;
    awaiter& operator=(const awaiter&) = delete;
    ~awaiter() { (void)end_wait(); }
    [[nodiscard]] bool await_ready() const { return _handle.done(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      static_assert(std::derived_from<Promise, context::promise_base>,
                    "a join_handle can be awaited in a faio::task only; elsewhere use get()");
      context::join_state& task = *_handle._task;
      if (task.may_resume(waiting.promise())) return task.await(waiting.promise());
      auto* const wait = new context::join_wait(waiting.promise());
      _wait = wait;
      wait->subscribe();
      if (!task.await(*wait)) {
        wait->release();  // the task's part
        return false;
      }
      return wait->arm();
    }
    T await_resume() {
      if (end_wait() && !_handle.done()) {
        throw std::system_error(context::canceled(), "faio: stop was requested while this task waited for another");
      }
      return _handle.take();
    }

   private:
    bool end_wait() noexcept {
      if (_wait == nullptr) return false;
      const bool stopped = _wait->end();
      std::exchange(_wait, nullptr)->release();
      return stopped;
    }

    join_handle _handle;
    context::join_wait* _wait = nullptr;
  };
  awaiter operator co_await() {
    (void)task();
    return awaiter(*this);
  }

  /// For the library.
  explicit join_handle(context::awaited_state<T>* task) noexcept : _task(task) {}

 private:
  context::awaited_state<T>& task() const {
    if (_task == nullptr) context::throw_empty_handle();
    return *_task;
  }
  T take() {
    struct drop_at_end {
      context::awaited_state<T>* state;
      ~drop_at_end() {
        if (state->drop_handle_taken()) delete state;
      }
    };
    const drop_at_end last{std::exchange(_task, nullptr)};
    if (last.state->slot.empty())
      throw std::system_error(context::canceled(), "faio: the task was destroyed by stop()");
    return last.state->slot.take();
  }

  context::awaited_state<T>* _task = nullptr;
};

namespace context {
template <class T>
tuple_value<T> get_for_tuple(join_handle<T>& handle) {
  if constexpr (std::is_void_v<T>) {
    handle.get();
    return {};
  } else {
    return handle.get();
  }
}
}  // namespace context

/// Blocks until all have ended; their values in order, std::monostate for void. The first exception by position is rethrown after
/// all have ended. Where get() may be called.
template <class... T>
std::tuple<context::tuple_value<T>...> wait(join_handle<T>... handles) {
  (handles.wait_until_done(), ...);  // all of them, before the first one throws
  return {context::get_for_tuple(handles)...};
}

}  // namespace faio
