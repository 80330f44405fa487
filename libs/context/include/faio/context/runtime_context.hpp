// runtime_context -- a runtime: what a program makes first.
//
//   faio::runtime_context ctx{{.workers = 4}};
//   int n = ctx.block_on(parent());                                                           // tests/first_context.cpp
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <tuple>
#include <utility>

#include "faio/context/export.hpp"
#include "faio/context/hop.hpp"
#include "faio/context/join_handle.hpp"
#include "faio/context/place.hpp"
#include "faio/context/runtime_core.hpp"
#include "faio/context/spawn.hpp"
#include "faio/context/task.hpp"
#include "faio/context/when_all.hpp"
#include "faio/scheduler/runtime_poller.hpp"

namespace faio {

using context::stop_report;
using scheduler::config;
using scheduler::discipline;
using scheduler::engine_kind;
using scheduler::runtime_metrics;
using scheduler::worker_kind;
using scheduler::worker_metrics;
using scheduler::worker_state;
namespace this_worker = scheduler::this_worker;

namespace context {

/// Waits for the task and everything beneath it.
template <class T>
T block_on_core(runtime_core& runtime, task<T> what, const std::source_location& where) {
  if (runtime.is_here()) throw_blocks_worker("block_on");
  completion_signal all_ended;
  auto handle = spawn_beneath(runtime, runtime.admit_to_root(), std::move(what), priority::normal, where, &all_ended);
  all_ended.wait();
  return handle.get();
}

template <class... T>
task<std::tuple<tuple_value<T>...>> all_of(task<T>... tasks) {
  co_return co_await when_all(std::move(tasks)...);
}
template <class... T>
auto all_given(T... tasks) {
  return with_given([](auto&&... each) { return all_of(std::move(each)...); }, std::move(tasks)...);
}
/// Tasks that were given to wait_all, beside a place.
template <class... T>
concept tasks_or_absent = ((is_task<T> || is_absent<T>) && ...);

}  // namespace context

/// The workers of a program, and the way into them from plain code. Most programs have one; several may live side by side.
///     faio::runtime_context ctx{{.workers = 4}};
///     int n = ctx.block_on(parent());                                                         // tests/first_context.cpp
class FAIO_CONTEXT_API runtime_context {
 public:
  /// The threads are up when it returns. Throws std::invalid_argument that names the field, std::system_error that names the policy
  /// which refused the engine.
  explicit runtime_context(config wanted = {}) : _core(std::make_unique<context::runtime_core>(std::move(wanted))) {}
  runtime_context(const runtime_context&) = delete;
  runtime_context& operator=(const runtime_context&) = delete;
  /// As stop(config.stop_grace), and then waits for user code that will not end.
  ~runtime_context() = default;

  /// Runs it and gives its value once it and everything spawned beneath it, at any depth, has ended. Blocks; on a worker of this runtime:
  /// std::system_error that says to co_await. Rethrows what it threw. operation_canceled: the runtime was stopped meanwhile.
  template <class T>
  T block_on(task<T> what, std::source_location where = std::source_location::current()) {
    return context::block_on_core(*_core, std::move(what), where);
  }
  /// The same for a callable, which runs on a worker; if it gives a task, that runs too.
  template <class F>
    requires context::spawnable<F>
  auto block_on(F&& f, std::source_location where = std::source_location::current()) {
    return context::block_on_core(*_core, context::as_task(std::forward<F>(f)), where);
  }
  /// The same for a callable and its arguments, which are copied or moved into the task.
  template <class F, class A1, class A2 = context::no_argument, class A3 = context::no_argument,
            class A4 = context::no_argument, class A5 = context::no_argument, class A6 = context::no_argument>
    requires context::spawnable<F, A1, A2, A3, A4, A5, A6>
  auto block_on(F&& f, A1&& a1, A2&& a2 = context::absent, A3&& a3 = context::absent, A4&& a4 = context::absent,
                A5&& a5 = context::absent, A6&& a6 = context::absent,
                std::source_location where = std::source_location::current()) {
    return block_on(
        context::as_task(std::forward<F>(f), std::forward<A1>(a1), std::forward<A2>(a2), std::forward<A3>(a3),
                         std::forward<A4>(a4), std::forward<A5>(a5), std::forward<A6>(a6)),
        where);
  }
  /// The same with more arguments than six; reports name this header instead of the line.
  template <class F, class... Args>
    requires context::spawnable_without_place<F, Args...>
  auto block_on(F&& f, Args&&... args) {
    return block_on(context::as_task(std::forward<F>(f), std::forward<Args>(args)...));
  }

  /// All at once, their values in order, std::monostate for void; the first exception by position after all have ended. As block_on.
  template <class T1, class T2 = context::absent_t, class T3 = context::absent_t, class T4 = context::absent_t,
            class T5 = context::absent_t, class T6 = context::absent_t>
    requires context::tasks_or_absent<T1, T2, T3, T4, T5, T6>
  auto wait_all(T1 t1, T2 t2 = context::absent, T3 t3 = context::absent, T4 t4 = context::absent,
                T5 t5 = context::absent, T6 t6 = context::absent,
                std::source_location where = std::source_location::current()) {
    return block_on(
        context::all_given(std::move(t1), std::move(t2), std::move(t3), std::move(t4), std::move(t5), std::move(t6)),
        where);
  }
  /// The same for none, or for more than six; reports name this header instead of the line.
  template <class... T>
    requires(sizeof...(T) == 0 || sizeof...(T) > context::arguments_with_place)
  std::tuple<context::tuple_value<T>...> wait_all(task<T>... tasks) {
    return block_on(context::all_of(std::move(tasks)...));
  }

  /// Effect: faio::spawn, onto this runtime. Any thread. The task runs on any of its workers; the handle gives its value. In a task of this runtime
  /// it is a child: whoever waits for that task waits for it too, and it is asked to stop with it. Errors: std::system_error, the runtime was stopped.
  template <class T>
  join_handle<T> spawn(task<T> what, std::source_location where = std::source_location::current()) {
    return context::spawn_on(*_core, std::move(what), priority::normal, where);
  }
  /// The same; priority::low goes to the global queue, behind what the workers have.
  template <class T>
  join_handle<T> spawn(priority how, task<T> what, std::source_location where = std::source_location::current()) {
    return context::spawn_on(*_core, std::move(what), how, where);
  }
  /// The same for a callable; if it gives a task, that runs too.
  template <class F>
    requires context::spawnable<F>
  auto spawn(F&& f, std::source_location where = std::source_location::current()) {
    return spawn(context::as_task(std::forward<F>(f)), where);
  }
  /// The same for a callable and its arguments, which are copied or moved into the task.
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
  /// The same with more arguments than six; reports name this header instead of the line.
  template <class F, class... Args>
    requires context::spawnable_without_place<F, Args...>
  auto spawn(F&& f, Args&&... args) {
    return spawn(context::as_task(std::forward<F>(f), std::forward<Args>(args)...));
  }
  /// The same with a priority.
  template <class F, class... Args>
    requires context::spawnable<F, Args...>
  auto spawn(context::placed<priority> how, F&& f, Args&&... args) {
    return spawn(how.value, context::as_task(std::forward<F>(f), std::forward<Args>(args)...), how.where);
  }

  // ---- Callables. Any thread. What one throws reaches config.on_unhandled. A runtime that was stopped: std::system_error, errc::stopped.

  /// Effect: runs it on any I/O worker; wakes one that is idle. From a worker: handed over with the others of its turn (config.batch_posts). Any thread.
  template <scheduler::callable F>
  void post(F&& f, std::source_location where = std::source_location::current()) {
    _core->poller.post(std::forward<F>(f), where);
  }
  /// Effect: runs it on a compute worker. Any thread. There is no delayed form: delay the post, not the work.
  template <scheduler::callable F>
  void post_compute(F&& f, std::source_location where = std::source_location::current()) {
    _core->poller.post_compute(std::forward<F>(f), where);
  }
  /// Effect: runs it on an I/O worker, the one with fewer timers of two drawn at random, not before `delay` has passed. Any thread.
  template <scheduler::callable F>
  void post_after(std::chrono::nanoseconds delay, F&& f, std::source_location where = std::source_location::current()) {
    _core->poller.post_after(delay, std::forward<F>(f), where);
  }
  /// Effect: runs it on that worker alone; nobody steals it. Any thread. Errors: std::system_error, errc::no_such_worker.
  template <scheduler::callable F>
  void post_to(std::size_t worker, F&& f, std::source_location where = std::source_location::current()) {
    _core->poller.post_to(worker, std::forward<F>(f), where);
  }

  // ---- Workers.

  /// Effect: one worker more; gives its id. Any thread. Errors: what refuses a thread or its engine; errc::stopped.
  std::expected<std::size_t, std::error_code> attach_worker(worker_kind kind = worker_kind::io) {
    return _core->poller.attach_worker(kind);
  }
  /// Effect: the worker leaves; its queued work goes to the others, timers and operations in flight too. Any thread; returns when it has left, on a worker
  /// at once. Errors: errc::no_such_worker, hosted_worker, last_worker.
  std::expected<void, std::error_code> detach_worker(std::size_t id) { return _core->poller.detach_worker(id); }

  // ---- Hosting: the calling thread is a worker too, from the first of these calls on. All by one and the same thread, which also destroys the runtime, or
  // calls run_once() until stop() has ended it. std::logic_error: on another thread, inside a task, or on a worker of another runtime.

  /// Effect: works until stop(). The hosting thread.
  void run() { _core->poller.run(); }
  /// Effect: runs what there is; waits up to `timeout` if that is nothing. Gives the number of tasks that ran; 0 once the runtime has been stopped. The
  /// hosting thread.
  std::size_t run_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::zero()) {
    return _core->poller.run_once(timeout);
  }
  /// A descriptor that is readable when run_once() has something to do. The runtime's own: do not close it; stop() closes it. While waiting for it,
  /// expect EINTR. The hosting thread. Errors: std::system_error, errc::stopped.
  int native_handle() { return _core->poller.native_handle(); }

  // ---- Any thread.

  /// Effect: calls `ready(revents)` on a worker each time that one of `events`, as poll(2) has them, holds for `fd`, until the watcher is destroyed. Any thread.
  /// Errors: what the worker's engine answers to a descriptor that it cannot wait for.
  [[nodiscard]] result<scheduler::watcher> watch(int fd, short events, std::function<void(int)> ready,
                                                 std::source_location where = std::source_location::current()) {
    return _core->poller.watch(fd, events, std::move(ready), where);
  }
  /// What each worker has counted, and what is queued: a moment's view. Any thread; it stops nobody.
  [[nodiscard]] runtime_metrics metrics() const { return _core->poller.metrics(); }

  /// No new work; stop is requested everywhere; what is in flight is cancelled and reaped; when the grace ends, frames that are left are
  /// destroyed, threads joined. Bounded: user code that still runs then is in the report, by the place that spawned it, and only the destructor
  /// waits for it. Any number of times; on a worker it only begins the end.
  stop_report stop(std::chrono::nanoseconds grace) { return _core->stop(grace); }
  /// With config.stop_grace.
  stop_report stop() { return _core->stop(_core->shared().settings.stop_grace); }

  /// For the libraries above.
  [[nodiscard]] context::runtime_core& core() noexcept { return *_core; }

  // ---- end of the public interface ----

 private:
  std::unique_ptr<context::runtime_core> _core;
};

/// runtime_context::block_on, as a free function: with a runtime, or with the process's default one.
template <class T>
T block_on(runtime_context& ctx, task<T> what, std::source_location where = std::source_location::current()) {
  return ctx.block_on(std::move(what), where);
}
template <class F, class... Args>
  requires context::spawnable<F, Args...>
auto block_on(context::placed<runtime_context&> ctx, F&& f, Args&&... args) {
  return ctx.value.block_on(context::as_task(std::forward<F>(f), std::forward<Args>(args)...), ctx.where);
}
template <class T>
T block_on(task<T> what, std::source_location where = std::source_location::current()) {
  return context::block_on_core(context::runtime_core::current(), std::move(what), where);
}
template <class F>
  requires context::spawnable<F>
auto block_on(F&& f, std::source_location where = std::source_location::current()) {
  return block_on(context::as_task(std::forward<F>(f)), where);
}
template <class F, class A1, class A2 = context::no_argument, class A3 = context::no_argument,
          class A4 = context::no_argument, class A5 = context::no_argument, class A6 = context::no_argument>
  requires context::spawnable<F, A1, A2, A3, A4, A5, A6>
auto block_on(F&& f, A1&& a1, A2&& a2 = context::absent, A3&& a3 = context::absent, A4&& a4 = context::absent,
              A5&& a5 = context::absent, A6&& a6 = context::absent,
              std::source_location where = std::source_location::current()) {
  return block_on(context::as_task(std::forward<F>(f), std::forward<A1>(a1), std::forward<A2>(a2), std::forward<A3>(a3),
                                   std::forward<A4>(a4), std::forward<A5>(a5), std::forward<A6>(a6)),
                  where);
}
template <class F, class... Args>
  requires context::spawnable_without_place<F, Args...>
auto block_on(F&& f, Args&&... args) {
  return block_on(context::as_task(std::forward<F>(f), std::forward<Args>(args)...));
}

/// runtime_context::wait_all.
template <class... T>
std::tuple<context::tuple_value<T>...> wait_all(context::placed<runtime_context&> ctx, task<T>... tasks) {
  return ctx.value.block_on(context::all_of(std::move(tasks)...), ctx.where);
}
template <class T1, class T2 = context::absent_t, class T3 = context::absent_t, class T4 = context::absent_t,
          class T5 = context::absent_t, class T6 = context::absent_t>
  requires context::tasks_or_absent<T1, T2, T3, T4, T5, T6>
auto wait_all(T1 t1, T2 t2 = context::absent, T3 t3 = context::absent, T4 t4 = context::absent, T5 t5 = context::absent,
              T6 t6 = context::absent, std::source_location where = std::source_location::current()) {
  return block_on(
      context::all_given(std::move(t1), std::move(t2), std::move(t3), std::move(t4), std::move(t5), std::move(t6)),
      where);
}
template <class... T>
  requires(sizeof...(T) == 0 || sizeof...(T) > context::arguments_with_place)
std::tuple<context::tuple_value<T>...> wait_all(task<T>... tasks) {
  return block_on(context::all_of(std::move(tasks)...));
}

}  // namespace faio
