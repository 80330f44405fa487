// when_all -- several tasks at once, and on when all have ended.
//
// All children but the last go into the worker's deque, where others may steal them; control passes into the last. Children run on
// behalf of the awaiting task's scope: no record, no allocation but their frames. How they join: join_counter.hpp.
#pragma once

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "faio/context/join_handle.hpp"
#include "faio/context/promise.hpp"
#include "faio/context/task.hpp"

namespace faio::context {

/// What the awaiters of tuple and vector share.
class fork_awaiter_base : public child_list {
 protected:
  ~fork_awaiter_base() = default;

  explicit fork_awaiter_base(std::size_t children) noexcept : _fork(children) {}

  [[nodiscard]] bool begun() const noexcept { return _fork.parent != nullptr; }
  void resumed() noexcept {
    if (begun()) _fork.parent->awaits_nobody();
  }

  /// `count` is at least one; `child(i)`, called once for each, is the i-th, its slot set. If it throws, none has begun.
  template <class Promise, class Child>
  [[gnu::always_inline]] std::coroutine_handle<> begin(std::coroutine_handle<Promise> parent, std::size_t count,
                                                       Child child) {
    static_assert(std::derived_from<Promise, promise_base>, "when_all can be awaited in a faio::task only");
    _fork.parent = &parent.promise();
    parent.promise().awaits_all(*this);
    promise_base* last = nullptr;
    scheduler::worker& here = *scheduler::current_worker();
    const auto joining = [&](std::size_t i) -> promise_base& {
      promise_base& one = child(i);
      one.then_join(_fork);
      return one;
    };
    try {
      last = &joining(count - 1);
      if (count > 1) here.fork(count - 1, joining);  // one pass over the children: they are published together
    } catch (...) {  // there was an empty one, or no memory: nobody has seen any of them yet
      resumed();
      _fork.parent = nullptr;
      throw;
    }
    if (here.may_transfer()) [[likely]]
      return last->handle();
    here.bounce(*last);
    return std::noop_coroutine();
  }

  fork_join _fork;
};

/// Awaitable and awaiter in one: between the tasks that it is given and the children that it starts there is nothing to be moved, and nothing to be looked at
/// when it is over.
template <class... T>
class [[nodiscard("co_await it")]] when_all_awaitable final : fork_awaiter_base {
 public:
  /// None of them is empty.
  explicit when_all_awaitable(task<T>&... tasks) noexcept
      : fork_awaiter_base(sizeof...(T)), _children{&tasks.coroutine()...} {
    (tasks.forget(), ...);
  }
  /// Before it is awaited.
  when_all_awaitable(when_all_awaitable&& other) noexcept
      : fork_awaiter_base(sizeof...(T)), _children(std::exchange(other._children, {})) {}
  when_all_awaitable& operator=(when_all_awaitable&&) = delete;
  ~when_all_awaitable() {
    if (!begun()) [[unlikely]]
      destroy_unstarted();
  }

  [[nodiscard]] bool await_ready() const noexcept { return sizeof...(T) == 0; }
  template <class Promise>
  [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) {
    if constexpr (sizeof...(T) != 0) {
      if (begun() || _children[0] == nullptr) [[unlikely]]  // awaited, or moved from
        throw_empty_task("when_all");
    }
    give_slots(std::index_sequence_for<T...>{});
    return begin(parent, sizeof...(T), [this](std::size_t i) -> promise_base& { return *_children[i]; });
  }
  std::tuple<tuple_value<T>...> await_resume() {
    resumed();
    return take(std::index_sequence_for<T...>{});
  }

 private:
  template <std::size_t I>
  auto& child() noexcept {
    using promise = typename std::tuple_element_t<I, std::tuple<task<T>...>>::promise_type;
    return static_cast<promise&>(*_children[I]);
  }
  template <std::size_t... I>
  void give_slots(std::index_sequence<I...>) noexcept {
    (child<I>().result_to(std::get<I>(_slots)), ...);
  }
  template <std::size_t... I>
  std::tuple<tuple_value<T>...> take(std::index_sequence<I...>) {
    // Braces take from left to right: the first exception by position is the one that is thrown.
    return std::tuple<tuple_value<T>...>{take_one(std::get<I>(_slots))...};
  }
  template <class U>
  static tuple_value<U> take_one(result_slot<U>& slot) {
    if constexpr (std::is_void_v<U>) {
      slot.take();
      return {};
    } else {
      return slot.take();
    }
  }
  [[gnu::noinline]] void destroy_unstarted() noexcept {
    for (promise_base* const child : _children) {
      if (child != nullptr) child->handle().destroy();
    }
  }
  promise_base* next_unended() noexcept override { return next(std::index_sequence_for<T...>{}); }
  template <std::size_t... I>
  promise_base* next(std::index_sequence<I...>) noexcept {
    promise_base* found = nullptr;
    // A child that has ended has filled its slot; one that was given before is null.
    static_cast<void>(
        (... || (std::get<I>(_slots).empty() && (found = std::exchange(_children[I], nullptr)) != nullptr)));
    return found;
  }

  std::array<promise_base*, sizeof...(T)> _children;
  std::tuple<result_slot<T>...> _slots;
};

/// Room for the results of a number of children that is known only now; memory as for frames, which comes back soon. Whoever has it makes the slots and
/// destroys them, each where it comes by anyway.
template <class T>
class slot_room {
 public:
  explicit slot_room(std::size_t count) : _count(count), _first(static_cast<result_slot<T>*>(memory(count))) {}
  ~slot_room() {
    if (_count == 0) return;
    if constexpr (aligned) {
      scheduler::free_frame(_first, bytes(_count));
    } else {
      ::operator delete(_first, std::align_val_t{alignof(result_slot<T>)});
    }
  }
  slot_room(const slot_room&) = delete;
  slot_room& operator=(const slot_room&) = delete;

  [[nodiscard]] result_slot<T>* data() const noexcept { return _first; }

 private:
  static constexpr bool aligned = alignof(result_slot<T>) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  static std::size_t bytes(std::size_t count) noexcept { return count * sizeof(result_slot<T>); }
  static void* memory(std::size_t count) {
    if (count == 0) return nullptr;
    if constexpr (aligned) {
      return scheduler::allocate_frame(bytes(count));
    } else {
      return ::operator new(bytes(count), std::align_val_t{alignof(result_slot<T>)});
    }
  }

  const std::size_t _count;
  result_slot<T>* const _first;
};

/// The tasks stay where they are, with whoever outlives it: children that were not started are that one's to destroy.
///
/// Two passes over the children, one as they begin and one as their values are taken: how many there are is hard to foresee for the processor, once for each loop.
template <class T>
class when_all_many_awaiter : fork_awaiter_base {
 public:
  when_all_many_awaiter(const when_all_many_awaiter&) = delete;
  when_all_many_awaiter& operator=(const when_all_many_awaiter&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return _tasks.empty(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) {
    return begin(parent, _tasks.size(), [tasks = _tasks.data(), slots = _slots.data()](std::size_t i) -> promise_base& {
      if (!tasks[i]) [[unlikely]]
        throw_empty_task("when_all");
      auto& child = tasks[i].coroutine();
      child.result_to(*std::construct_at(slots + i));
      return child;
    });
  }

 protected:
  explicit when_all_many_awaiter(std::span<task<T>> tasks)
      : fork_awaiter_base(tasks.size()), _tasks(tasks), _slots(tasks.size()) {}
  ~when_all_many_awaiter() {
    if (!begun()) return;                     // or all were taken
    for (auto& each : _tasks) each.forget();  // they have ended, or went before us: promise.hpp, I2
    std::destroy_n(_slots.data(), _tasks.size());
  }

  /// Takes the values in order as it is gone through, each once; as much of a random access iterator as the constructor of a vector asks for.
  class taker {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = std::remove_cvref_t<T>;
    using pointer = void;
    using reference = T;

    taker(task<T>* tasks, result_slot<T>* slots) noexcept : _task(tasks), _slot(slots) {}
    T operator*() const {
      _task->forget();
      return _slot->take();
    }
    taker& operator++() noexcept {
      ++_task;
      ++_slot;
      return *this;
    }
    friend bool operator==(const taker& a, const taker& b) noexcept { return a._task == b._task; }
    friend difference_type operator-(const taker& a, const taker& b) noexcept { return a._task - b._task; }

   private:
    task<T>* _task;
    result_slot<T>* _slot;
  };

  /// In await_resume: take(first, last) goes from first to last. If it throws on its way, the destructor does the rest.
  template <class Take>
  auto take_all(Take take) {
    resumed();
    const taker first(_tasks.data(), _slots.data());
    const taker last(_tasks.data() + _tasks.size(), _slots.data() + _tasks.size());
    if constexpr (std::is_void_v<decltype(take(first, last))>) {
      take(first, last);
      _fork.parent = nullptr;
    } else {
      auto all = take(first, last);
      _fork.parent = nullptr;
      return all;
    }
  }

 private:
  promise_base* next_unended() noexcept final {
    while (_seen < _tasks.size()) {
      const std::size_t at = _seen++;
      if (_slots.data()[at].empty()) return &_tasks[at].coroutine();
    }
    return nullptr;
  }

  std::span<task<T>> _tasks;
  slot_room<T> _slots;
  std::size_t _seen = 0;  // of the children, by next_unended()
};

template <class T>
class when_all_vector_awaiter final : public when_all_many_awaiter<T> {
 public:
  explicit when_all_vector_awaiter(std::vector<task<T>>& tasks) : when_all_many_awaiter<T>(tasks) {}
  auto await_resume() {
    if constexpr (std::is_void_v<T>) {
      this->take_all([](auto first, auto last) {
        for (; first != last; ++first) *first;
      });
    } else {
      using value = std::conditional_t<std::is_reference_v<T>, std::reference_wrapper<std::remove_reference_t<T>>, T>;
      return this->take_all([](auto first, auto last) { return std::vector<value>(first, last); });
    }
  }
};

template <class T>
class when_all_into_awaiter final : public when_all_many_awaiter<T> {
 public:
  when_all_into_awaiter(std::span<task<T>> tasks, std::span<T> results)
      : when_all_many_awaiter<T>(tasks), _results(results) {}
  void await_resume() {
    this->take_all([to = _results.data()](auto first, auto last) mutable {
      for (; first != last; ++first) *to++ = *first;
    });
  }

 private:
  std::span<T> _results;
};

template <class T>
class [[nodiscard("co_await it")]] when_all_vector_awaitable {
 public:
  explicit when_all_vector_awaitable(std::vector<task<T>> tasks) noexcept : _tasks(std::move(tasks)) {}
  auto operator co_await() { return when_all_vector_awaiter<T>(_tasks); }

 private:
  std::vector<task<T>> _tasks;
};

template <class T>
class [[nodiscard("co_await it")]] when_all_into_awaitable {
 public:
  when_all_into_awaitable(std::span<task<T>> tasks, std::span<T> results) noexcept : _tasks(tasks), _results(results) {}
  auto operator co_await() const { return when_all_into_awaiter<T>(_tasks, _results); }

 private:
  std::span<task<T>> _tasks;
  std::span<T> _results;
};

}  // namespace faio::context

namespace faio {

/// Effect: runs all of them at once; their values as a tuple in order, std::monostate for void. Call from: a task. Resumes on the
/// worker where the last of them ended, when all have. Cancellation: they have the awaiting task's stop token.
/// Errors: the first exception by position, after all have ended; std::logic_error for an empty task.
///     auto [x, y] = co_await faio::when_all(add(1, 1), add(2, 2));                            // tests/when_all_test.cpp
template <class... T>
context::when_all_awaitable<T...> when_all(task<T>... tasks) {
  if (!(... && static_cast<bool>(tasks))) [[unlikely]]
    context::throw_empty_task("when_all");
  return context::when_all_awaitable<T...>(tasks...);
}

/// The same for any number: a vector of the values, or nothing for void.
template <class T>
context::when_all_vector_awaitable<T> when_all(std::vector<task<T>> tasks) {
  return context::when_all_vector_awaitable<T>(std::move(tasks));
}

/// The same without a vector: tasks and values are in arrays of the caller's, in its coroutine's frame say, and stay there until it goes on. The tasks
/// are empty then. Errors: std::logic_error when there is no room for all values.
///     std::array<faio::task<int>, 8> tasks; std::array<int, 8> sums{};
///     co_await faio::when_all(std::span(tasks).first(n), std::span(sums));                    // tests/when_all_test.cpp
template <class T, std::size_t N>
context::when_all_into_awaitable<T> when_all(std::span<task<T>, N> tasks, std::type_identity_t<std::span<T>> results) {
  if (results.size() < tasks.size()) context::throw_no_room("when_all");
  return context::when_all_into_awaitable<T>(tasks, results);
}

}  // namespace faio
