// spawn -- starts a task, or a callable, on the runtime's workers, and gives a handle to it.
#pragma once

#include <concepts>
#include <functional>
#include <source_location>
#include <system_error>
#include <type_traits>
#include <utility>

#include "faio/context/join_handle.hpp"
#include "faio/context/live_task.hpp"
#include "faio/context/place.hpp"
#include "faio/context/runtime_core.hpp"
#include "faio/context/task.hpp"

namespace faio {

enum class priority : unsigned char {
  normal,
  low,  ///< through the global queue, behind what the workers have for themselves
};

namespace context {

/// What `f(args...)` gives once it is awaited, if it is a task.
template <class T>
struct outcome {
  using type = T;
};
template <class T>
struct outcome<task<T>> {
  using type = T;
};
template <class F, class... Args>
using outcome_of = typename outcome<std::invoke_result_t<F, Args...>>::type;

/// A callable with its arguments, and not itself a task.
template <class F, class... Args>
concept spawnable = !is_task<std::remove_cvref_t<F>> && !std::same_as<std::remove_cvref_t<F>, priority> &&
                    invocable_with_given<F, Args...>;
/// The same, with more arguments than fit beside a place.
template <class F, class... Args>
concept spawnable_without_place = (sizeof...(Args) > arguments_with_place) && spawnable<F, Args...>;

/// A coroutine whose frame holds the callable and its arguments until what they made has ended: a lambda's captures live in the lambda.
template <class F, class... Args>
task<outcome_of<F, Args...>> keep_and_call(F f, Args... args) {
  using given = std::invoke_result_t<F, Args...>;
  if constexpr (is_task<given>) {
    co_return co_await std::invoke(std::move(f), std::move(args)...);
  } else {
    co_return std::invoke(std::move(f), std::move(args)...);
  }
}
template <class F, class... Args>
auto as_task(F&& f, Args&&... args) {
  const auto make = [&f]<class... Given>(Given&&... given) {
    return keep_and_call<std::decay_t<F>, std::decay_t<Given>...>(std::forward<F>(f), std::forward<Given>(given)...);
  };
  return with_given(make, std::forward<Args>(args)...);
}

[[noreturn]] FAIO_CONTEXT_API void throw_stopped();

/// Starts a task with a `State`, a join_state with a slot for a T. `above`: with one count of it, which the task takes over; null: the runtime
/// was stopped.
template <class State, class T>
State& start_beneath(runtime_core& runtime, scope* above, task<T> what, priority how, const std::source_location& where,
                     completion_signal* all_beneath_ended = nullptr) {
  if (above == nullptr) throw_stopped();
  State* state = nullptr;
  live_task* spawned = nullptr;
  typename task<T>::promise_type* root = nullptr;
  try {
    state = new State(where);
    spawned = all_beneath_ended == nullptr ? new live_task(runtime, *above, *state)
                                           : new blocking_task(runtime, *above, *state, *all_beneath_ended);
    root = &what.release("spawn");
  } catch (...) {
    delete spawned;
    delete state;
    above->release();
    throw;
  }
  root->result_to(state->slot);
  if (!spawned->start(*root, how == priority::low)) throw_stopped();
  return *state;
}

template <class T>
join_handle<T> spawn_beneath(runtime_core& runtime, scope* above, task<T> what, priority how,
                             const std::source_location& where, completion_signal* all_beneath_ended = nullptr) {
  return join_handle<T>(
      &start_beneath<awaited_state<T>>(runtime, above, std::move(what), how, where, all_beneath_ended));
}

template <class T>
join_handle<T> spawn_on(runtime_core& runtime, task<T> what, priority how, const std::source_location& where) {
  return spawn_beneath(runtime, runtime.admit(), std::move(what), how, where);
}

}  // namespace context

/// Effect: the task runs on the current runtime's workers, or the process's default one's; a child of the task that spawns it: its
/// block_on waits for it, and a stop request reaches it. Call from: any thread. Errors: std::system_error when the runtime was
/// stopped, std::logic_error for an empty task; what the task throws is for whoever takes the result, or config.on_unhandled.
///     auto h = faio::spawn(add(3, 4));                                                        // tests/spawn_test.cpp
template <class T>
join_handle<T> spawn(task<T> what, std::source_location where = std::source_location::current()) {
  return context::spawn_on(context::runtime_core::current(), std::move(what), priority::normal, where);
}
template <class T>
join_handle<T> spawn(priority how, task<T> what, std::source_location where = std::source_location::current()) {
  return context::spawn_on(context::runtime_core::current(), std::move(what), how, where);
}

/// As spawn of a task, for a callable and its arguments, which are kept until it has ended: a lambda that is a coroutine may capture.
/// Reports name the line of the call; this header when there are more than six arguments and no priority.          // tests/place_test.cpp
template <class F>
  requires context::spawnable<F>
auto spawn(F&& f, std::source_location where = std::source_location::current()) {
  return spawn(context::as_task(std::forward<F>(f)), where);
}
template <class F, class... Args>
  requires context::spawnable<F, Args...>
auto spawn(context::placed<priority> how, F&& f, Args&&... args) {
  return spawn(how.value, context::as_task(std::forward<F>(f), std::forward<Args>(args)...), how.where);
}
template <class F, class A1, class A2 = context::no_argument, class A3 = context::no_argument,
          class A4 = context::no_argument, class A5 = context::no_argument, class A6 = context::no_argument>
  requires context::spawnable<F, A1, A2, A3, A4, A5, A6>
auto spawn(F&& f, A1&& a1, A2&& a2 = context::absent, A3&& a3 = context::absent, A4&& a4 = context::absent,
           A5&& a5 = context::absent, A6&& a6 = context::absent,
           std::source_location where = std::source_location::current()) {
  return spawn(context::as_task(std::forward<F>(f), std::forward<A1>(a1), std::forward<A2>(a2), std::forward<A3>(a3),
                                std::forward<A4>(a4), std::forward<A5>(a5), std::forward<A6>(a6)),
               where);
}
template <class F, class... Args>
  requires context::spawnable_without_place<F, Args...>
auto spawn(F&& f, Args&&... args) {
  return spawn(context::as_task(std::forward<F>(f), std::forward<Args>(args)...));
}

}  // namespace faio
