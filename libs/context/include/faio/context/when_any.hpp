// when_any -- several tasks at once; the first to end wins, the others are asked to stop and waited for.
//
//   children run beneath an inner scope; the first to end notes that it was, and asks the scope to stop; the awaiting task goes on
//   when the scope is complete, so nothing of the losers is left running, nor of what they spawned.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "faio/context/inner_scope.hpp"
#include "faio/context/join_handle.hpp"
#include "faio/context/task.hpp"

namespace faio {

/// Which one won, and what it gave. A variant has a std::reference_wrapper for a reference.
template <class T>
struct any_result {
  std::size_t index;  ///< by position, from 0
  T value;            ///< what it gave
};

}  // namespace faio

namespace faio::context {

/// What stands for a T in a variant.
template <class T>
using variant_value =
    std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>, tuple_value<T>>;

/// One race: the scope, the winner, and a listener for each runner.
class race final : public child_list {
 public:
  explicit race(std::size_t runners) : _runners(std::make_unique<runner[]>(runners)), _count(runners) {
    for (std::size_t i = 0; i < runners; ++i) _runners[i].track(*this, i);
  }
  race(const race&) = delete;
  race& operator=(const race&) = delete;
  ~race() {
    if (_scope) return;  // they have ended, or were destroyed before us: promise.hpp, I2
    while (promise_base* const child = next_unended()) child->handle().destroy();
  }

  /// In await_suspend: starts all of them beneath a scope of `waiting`'s.
  void begin(promise_base& waiting) {
    _scope.emplace(waiting);
    _waiting = &waiting;
    waiting.awaits_all(*this);
    scheduler::worker& here = *scheduler::current_worker();
    for (std::size_t i = 0; i < _count; ++i) {
      promise_base& child = *_runners[i].child;
      _scope->retain();
      child.belongs_to(*_scope);
      child.then_tell(_runners[i]);
    }
    for (std::size_t i = 0; i < _count; ++i) here.push_back(*_runners[i].child);
    _scope->wait(waiting);
  }
  void set_child(std::size_t at, promise_base& child) noexcept { _runners[at].child = &child; }
  /// After the resumption: who won.
  [[nodiscard]] std::size_t finish() noexcept {
    _waiting->awaits_nobody();
    return _winner.load(std::memory_order_relaxed);  // relaxed: all have ended
  }
  promise_base* next_unended() noexcept override {
    while (_seen < _count) {
      if (promise_base* const child = _runners[_seen++].child) return child;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t nobody = ~std::size_t{0};
  struct runner final : end_listener {
    void track(race& in, std::size_t at) noexcept {
      of = &in;
      index = at;
    }
    std::coroutine_handle<> ended() noexcept override {
      child = nullptr;
      std::size_t none = nobody;
      // relaxed: it decides who won; what that one gave comes with the scope's count.
      if (of->_winner.compare_exchange_strong(none, index, std::memory_order_relaxed)) of->_scope->request_stop();
      of->_scope->release();  // the race may be gone
      return std::noop_coroutine();
    }
    void destroyed() noexcept override {
      child = nullptr;
      of->_scope->release();
    }
    promise_base* waiting() noexcept override { return of->_waiting; }
    race* of = nullptr;
    std::size_t index = 0;
    promise_base* child = nullptr;
  };

  std::unique_ptr<runner[]> _runners;
  std::size_t _count;
  std::atomic<std::size_t> _winner{nobody};
  std::optional<inner_scope> _scope;
  promise_base* _waiting = nullptr;
  std::size_t _seen = 0;  // of the runners, by next_unended()
};

template <class... T>
class when_any_awaiter {
 public:
  using value = std::variant<variant_value<T>...>;

  explicit when_any_awaiter(task<T>&... tasks) : _race(sizeof...(T)) {
    if (!(... && static_cast<bool>(tasks))) throw_empty_task("when_any");
    start(std::index_sequence_for<T...>{}, tasks...);
  }
  when_any_awaiter(const when_any_awaiter&) = delete;
  when_any_awaiter& operator=(const when_any_awaiter&) = delete;
  ~when_any_awaiter() = default;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, promise_base>, "when_any can be awaited in a faio::task only");
    _race.begin(waiting.promise());
  }
  any_result<value> await_resume() { return take(std::index_sequence_for<T...>{}); }

 private:
  template <std::size_t... I>
  void start(std::index_sequence<I...>, task<T>&... tasks) {
    (start_one<I>(tasks), ...);
  }
  template <std::size_t I, class U>
  void start_one(task<U>& one) {
    auto& promise = one.release("when_any");
    promise.result_to(std::get<I>(_slots));
    _race.set_child(I, promise);
  }
  template <std::size_t... I>
  any_result<value> take(std::index_sequence<I...>) {
    const std::size_t won = _race.finish();
    std::optional<value> given;
    ((I == won ? take_one<I>(given) : void()), ...);
    return {won, std::move(*given)};
  }
  template <std::size_t I>
  void take_one(std::optional<value>& into) {
    auto& slot = std::get<I>(_slots);
    using given = typename std::tuple_element_t<I, std::tuple<std::type_identity<T>...>>::type;
    if constexpr (std::is_void_v<given>) {
      slot.take();
      into.emplace(std::in_place_index<I>);
    } else {
      into.emplace(std::in_place_index<I>, slot.take());
    }
  }

  std::tuple<result_slot<T>...> _slots;
  race _race;
};

template <class T>
class when_any_vector_awaiter {
 public:
  explicit when_any_vector_awaiter(std::vector<task<T>>& tasks)
      : _slots(std::make_unique<result_slot<T>[]>(tasks.size())), _race(tasks.size()) {
    for (const auto& each : tasks) {
      if (!each) throw_empty_task("when_any");
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      auto& promise = tasks[i].release("when_any");
      promise.result_to(_slots[i]);
      _race.set_child(i, promise);
    }
  }
  when_any_vector_awaiter(const when_any_vector_awaiter&) = delete;
  when_any_vector_awaiter& operator=(const when_any_vector_awaiter&) = delete;
  ~when_any_vector_awaiter() = default;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, promise_base>, "when_any can be awaited in a faio::task only");
    _race.begin(waiting.promise());
  }
  any_result<tuple_value<T>> await_resume() {
    const std::size_t won = _race.finish();
    if constexpr (std::is_void_v<T>) {
      _slots[won].take();
      return {won, {}};
    } else {
      return {won, _slots[won].take()};
    }
  }

 private:
  std::unique_ptr<result_slot<T>[]> _slots;
  race _race;
};

template <class... T>
class [[nodiscard("co_await it")]] when_any_awaitable {
 public:
  explicit when_any_awaitable(task<T>... tasks) noexcept : _tasks(std::move(tasks)...) {}
  auto operator co_await() {
    return std::apply([](auto&... each) { return when_any_awaiter<T...>(each...); }, _tasks);
  }

 private:
  std::tuple<task<T>...> _tasks;
};

template <class T>
class [[nodiscard("co_await it")]] when_any_vector_awaitable {
 public:
  explicit when_any_vector_awaitable(std::vector<task<T>> tasks) : _tasks(std::move(tasks)) {
    if (_tasks.empty()) throw_empty_task("when_any of no tasks, or");
  }
  auto operator co_await() { return when_any_vector_awaiter<T>(_tasks); }

 private:
  std::vector<task<T>> _tasks;
};

}  // namespace faio::context

namespace faio {

/// Effect: runs all of them at once; gives which ended first and its value (a std::variant, std::monostate for void). Call from: a
/// task. The others are asked to stop, and it resumes when they, and all spawned beneath any of them, have ended.
/// Errors: what the winner threw; what losers threw is dropped.
///     auto first = co_await faio::when_any(fetch(a), fetch(b));  // first.index, first.value     tests/when_any_test.cpp
template <class... T>
  requires(sizeof...(T) > 0)
context::when_any_awaitable<T...> when_any(task<T>... tasks) {
  return context::when_any_awaitable<T...>(std::move(tasks)...);
}

/// The same for a vector of at least one: any_result<T>.
template <class T>
context::when_any_vector_awaitable<T> when_any(std::vector<task<T>> tasks) {
  return context::when_any_vector_awaitable<T>(std::move(tasks));
}

}  // namespace faio
