// task_group -- tasks that belong together: spawn into it, join it; the first exception stops the rest.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <mutex>
#include <optional>
#include <source_location>
#include <utility>

#include "faio/context/inner_scope.hpp"
#include "faio/context/place.hpp"
#include "faio/context/spawn.hpp"

namespace faio {

namespace context {

/// Outlives the group object: its tasks may, when the object goes without a join.
///
///   open ── wait(), all have left ──> complete ── take_first() by the one that waited, who deletes it
///     └──── abandon(), or the waiting coroutine was destroyed ──> complete() deletes it, and reports an exception nobody will take
class FAIO_CONTEXT_API group_scope final : public scope {
 public:
  group_scope(runtime_core& runtime, scope& above) noexcept : scope(runtime, &above) {}

  /// One of its tasks, spawned there.
  void failed(std::exception_ptr what, const std::source_location& where) noexcept;
  /// The object's own place inside is given up; nobody waits.
  void abandon() noexcept;
  /// The same, and `waiting` goes on when it is complete.
  void wait(promise_base& waiting) noexcept;
  /// Whoever waited, when it goes on: what was thrown first. Deletes the scope.
  [[nodiscard]] std::exception_ptr finish() noexcept;
  /// Whoever waited will not go on: its frame is destroyed.
  void give_up_waiting() noexcept;

 private:
  ~group_scope() = default;
  void complete() noexcept override;
  void report_and_delete() noexcept;

  std::mutex _mutex;
  std::exception_ptr _first;
  std::source_location _where;
  promise_base* _waiting = nullptr;
  bool _complete = false;
};

/// A task of a group: nobody takes its value, and the group is told of its exception.
template <class T>
class group_state final : public join_state {
 public:
  using join_state::join_state;
  result_slot<T> slot;

 private:
  void ending(live_task& task) noexcept override {
    if (slot.has_exception()) static_cast<group_scope&>(task.above()).failed(slot.take_exception(), where());
    slot.reset();
  }
  std::exception_ptr untaken() noexcept override { return nullptr; }
};

/// Something that has a runtime_core: a runtime_context.
template <class R>
concept has_core = requires(R& runtime) {
  { runtime.core() } -> std::same_as<runtime_core&>;
};

}  // namespace context

/// Effect: what is spawned into it runs at once. Make it in a task, or on any thread; join() it in a task before it goes away: otherwise its
/// tasks are asked to stop, and go on in the background until they have ended; an exception of theirs then reaches config.on_unhandled.
///     faio::task_group group;
///     for (auto& url : urls) group.spawn(fetch(url));
///     co_await group.join();                                                                  // tests/task_group_test.cpp
class FAIO_CONTEXT_API task_group {
 public:
  /// On the current runtime.
  task_group() : task_group(context::runtime_core::current()) {}
  /// On a given one, a runtime_context.
  template <context::has_core R>
  explicit task_group(R& runtime) : task_group(runtime.core()) {}
  /// For the library.
  explicit task_group(context::runtime_core& runtime);
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group();

  /// The task's value is dropped, its exception kept for join() if it is the first, and then the others are asked to stop. From whoever has
  /// the group, its own tasks too, also while somebody waits in join(). After the join: std::logic_error.
  template <class T>
  void spawn(task<T> what, std::source_location where = std::source_location::current()) {
    context::group_scope& group = open("spawn");
    if (!what) context::throw_empty_task("task_group::spawn");
    group.retain();
    context::start_beneath<context::group_state<T>>(group.runtime(), &group, std::move(what), priority::normal, where)
        .drop_handle();
  }
  /// The same for a callable; if it gives a task, that runs too.
  template <class F>
    requires context::spawnable<F>
  void spawn(F&& f, std::source_location where = std::source_location::current()) {
    spawn(context::as_task(std::forward<F>(f)), where);
  }
  /// The same for a callable and its arguments, which are copied or moved into the task.
  template <class F, class A1, class A2 = context::no_argument, class A3 = context::no_argument,
            class A4 = context::no_argument, class A5 = context::no_argument, class A6 = context::no_argument>
    requires context::spawnable<F, A1, A2, A3, A4, A5, A6>
  void spawn(F&& f, A1&& a1, A2&& a2 = context::absent, A3&& a3 = context::absent, A4&& a4 = context::absent,
             A5&& a5 = context::absent, A6&& a6 = context::absent,
             std::source_location where = std::source_location::current()) {
    spawn(context::as_task(std::forward<F>(f), std::forward<A1>(a1), std::forward<A2>(a2), std::forward<A3>(a3),
                           std::forward<A4>(a4), std::forward<A5>(a5), std::forward<A6>(a6)),
          where);
  }
  /// The same with more arguments than six; reports name this header instead of the line.
  template <class F, class... Args>
    requires context::spawnable_without_place<F, Args...>
  void spawn(F&& f, Args&&... args) {
    spawn(context::as_task(std::forward<F>(f), std::forward<Args>(args)...));
  }

  /// Any thread. Asks all of them to stop.
  void request_stop() { open("request_stop").request_stop(); }

  class join_awaiter;
  class join_awaitable;
  /// Once. Resumes when all of them, and what they spawned, have ended. Rethrows the first exception. Stop requested: it is passed on to
  /// them, and they are waited for.
  [[nodiscard("co_await it")]] join_awaitable join();

  // ---- end of the public interface ----

 private:
  context::group_scope& open(const char* call) const;

  context::group_scope* _scope;  // null after the join
  bool _joining = false;
};

class task_group::join_awaiter {
 public:
  explicit join_awaiter(task_group& group) : _group(&group) {}
  join_awaiter(const join_awaiter&) = delete;
  join_awaiter& operator=(const join_awaiter&) = delete;
  ~join_awaiter() {
    if (_scope == nullptr) return;
    leave_owner();
    _scope->give_up_waiting();  // destroyed while it waited: the runtime has ended
  }
  /// Throws std::logic_error when the group was joined before.
  [[nodiscard]] bool await_ready() const {
    (void)_group->open("join");
    return false;
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, context::promise_base>, "a task_group can be joined in a faio::task only");
    suspend(waiting.promise());
  }
  void await_resume() {
    leave_owner();
    _group->_scope = nullptr;
    if (auto what = std::exchange(_scope, nullptr)->finish()) std::rethrow_exception(std::move(what));
  }

 private:
  FAIO_CONTEXT_API void suspend(context::promise_base& waiting);
  void leave_owner() noexcept {
    if (_relay && _relay->is_added()) _owner->unsubscribe(*_relay);
  }

  task_group* _group;
  context::group_scope* _scope = nullptr;  // while it waits: then the group's object may go before us
  context::scope* _owner = nullptr;
  std::optional<context::stop_relay> _relay;
};

class [[nodiscard("co_await it")]] task_group::join_awaitable {
 public:
  explicit join_awaitable(task_group& group) noexcept : _group(&group) {}
  join_awaiter operator co_await() const { return join_awaiter(*_group); }

 private:
  task_group* _group;
};

inline task_group::join_awaitable task_group::join() { return join_awaitable(*this); }

}  // namespace faio
