// runtime_poller -- a runtime of workers that runs callables: start here. Coroutines are the layer above (faio/context).
//
//   post ────────────> global queue ──> whichever worker is free          post_compute ──> compute queue ──> compute workers
//   post_to(w) ──────> inbox of w, never stolen                           post_after ────> wheel of a worker, two-choice
//   this_worker::post_local ──> its queue, stealable                      this_worker::post_self ──> never stolen
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <system_error>
#include <thread>
#include <utility>

#include "faio/scheduler/config.hpp"
#include "faio/scheduler/export.hpp"
#include "faio/scheduler/job.hpp"
#include "faio/scheduler/metrics.hpp"
#include "faio/scheduler/shared_state.hpp"
#include "faio/scheduler/stop_report.hpp"
#include "faio/scheduler/this_worker.hpp"
#include "faio/scheduler/watcher.hpp"

namespace faio::scheduler {

/// Workers that run callables: what runtime_context is made of, and enough for those who do without coroutines.
class FAIO_SCHEDULER_API runtime_poller {
 public:
  /// The threads are up when it returns. Throws std::invalid_argument, std::system_error.
  explicit runtime_poller(config wanted = {});
  runtime_poller(const runtime_poller&) = delete;
  runtime_poller& operator=(const runtime_poller&) = delete;
  /// As stop(config.stop_grace), and then waits for user code that will not end.
  ~runtime_poller();

  // ---- Posting. Any thread. A runtime that was stopped: std::system_error, errc::stopped.

  /// On any worker; wakes one that is idle. From a worker: handed over with the others of its turn.
  template <callable F>
  void post(F&& f, std::source_location where = std::source_location::current()) {
    detail::schedule_or_throw(
        detail::make_job(*_shared, where, std::forward<F>(f)), [this](work_item& item) { return _shared->post(item); },
        errc::stopped);
  }

  /// On a compute worker. There is no delayed form: delay the post, not the work.
  template <callable F>
  void post_compute(F&& f, std::source_location where = std::source_location::current()) {
    detail::schedule_or_throw(
        detail::make_job(*_shared, where, std::forward<F>(f)),
        [this](work_item& item) { return _shared->post_compute(item); }, errc::stopped);
  }

  /// On the I/O worker with fewer timers of two drawn at random, not before `delay` has passed.
  template <callable F>
  void post_after(std::chrono::nanoseconds delay, F&& f, std::source_location where = std::source_location::current()) {
    const auto when = detail::after(_shared->time().now(), delay);
    detail::schedule_or_throw(
        detail::make_timed_job(*_shared, where, when, std::forward<F>(f)),
        [this](work_item& item) { return _shared->post_to_fewest_timers(item); }, errc::stopped);
  }
  template <callable F>
  void post_compute_after(std::chrono::nanoseconds delay, F&& f) = delete;  // post_after, and post_compute from there

  /// On that worker alone. errc::no_such_worker.
  template <callable F>
  void post_to(std::size_t worker, F&& f, std::source_location where = std::source_location::current()) {
    detail::schedule_or_throw(
        detail::make_job(*_shared, where, std::forward<F>(f)),
        [&](work_item& item) { return _shared->post_to(worker, item); },
        _shared->accepts_work() ? errc::no_such_worker : errc::stopped);
  }

  // ---- Workers. Any thread.

  /// The new worker's id.
  std::expected<std::size_t, std::error_code> attach_worker(worker_kind kind = worker_kind::io) {
    return _shared->attach(kind);
  }
  /// Its queued work goes to the others, timers and operations in flight too. Returns when it has left; called on a worker, at
  /// once. no_such_worker, hosted_worker, last_worker.
  std::expected<void, std::error_code> detach_worker(std::size_t id) { return _shared->detach(id); }

  // ---- Hosting: the calling thread is a worker too, from the first of these calls on. All by one and the same thread, which also
  // destroys the runtime, or calls run_once() until stop() has ended it. std::logic_error: on another thread, inside a task, or on a
  // thread that is a worker of another runtime.

  /// Until stop().
  void run();
  /// Runs what there is; waits up to `timeout` if that is nothing. Gives the number of tasks that ran; 0 once the runtime has been
  /// stopped. Between two calls nobody waits for this thread but what was meant for it alone.
  std::size_t run_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::zero());
  /// A descriptor that is readable when run_once() has something to do. The runtime's own: do not close it; stop() closes it.
  /// While waiting for it, expect EINTR: the kernel may interrupt the wait to do work for the ring.
  /// A stopped runtime: std::system_error, errc::stopped.
  int native_handle();

  // ---- Any thread.

  /// See watcher.hpp.
  [[nodiscard]] ioengine::result<watcher> watch(int fd, short events, std::function<void(int)> ready,
                                                std::source_location where = std::source_location::current()) {
    return scheduler::watch(*_shared, fd, events, std::move(ready), where);
  }
  /// What each worker has counted, and what is queued: a moment's view.
  [[nodiscard]] runtime_metrics metrics() const { return _shared->metrics(); }

  /// Refuses new work, runs what is queued, and ends the threads; true when all of them have ended. Callables that still run when the
  /// grace ends are in the report, by the place that posted them. Any number of times. On a worker it only begins the end, and gives false.
  stop_report stop(std::chrono::nanoseconds grace);
  /// With config.stop_grace.
  stop_report stop() { return stop(_shared->settings.stop_grace); }

  /// Any thread. One that hosts a worker and is not inside run() or run_once() hosts it no longer; nothing on others.
  void leave_host();
  /// For the layer above.
  [[nodiscard]] shared_state& shared() noexcept { return *_shared; }

  // ---- end of the public interface ----

 private:
  worker* hosted(const char* call);
  void end_hosting();

  std::unique_ptr<shared_state> _shared;
  std::atomic<std::thread::id> _host{};  // who called the first of the hosting calls
  worker* _hosted = nullptr;             // that thread's alone
};

using runtime = runtime_poller;

}  // namespace faio::scheduler
