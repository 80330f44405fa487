// this_worker -- what runs on a worker asks of that worker. On another thread: std::logic_error, except id().
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <source_location>

#include "faio/scheduler/job.hpp"
#include "faio/scheduler/worker.hpp"

namespace faio::scheduler {
namespace detail {
/// The calling worker; throws std::logic_error that names `call` elsewhere.
FAIO_SCHEDULER_API worker& this_worker_for(const char* call);
/// The same, and one with an engine for I/O.
FAIO_SCHEDULER_API worker& this_io_worker_for(const char* call);
}  // namespace detail

namespace this_worker {

/// The calling worker's id; empty on a thread that is no worker.
[[nodiscard]] FAIO_SCHEDULER_API std::optional<std::size_t> id() noexcept;

/// Into this worker's queue, where others may steal it; a full queue spills to the global one.
template <callable F>
void post_local(F&& f, std::source_location where = std::source_location::current()) {
  worker& here = detail::this_io_worker_for("post_local");
  here.push_back(*detail::make_job(here.runtime(), where, std::forward<F>(f)));
}

/// On this worker, whatever happens: never stolen.
template <callable F>
void post_self(F&& f, std::source_location where = std::source_location::current()) {
  worker& here = detail::this_worker_for("post_self");
  here.push_private(*detail::make_job(here.runtime(), where, std::forward<F>(f)));
}

/// On this worker, not before `delay` has passed. Compute workers have no delayed work.
template <callable F>
void post_self_after(std::chrono::nanoseconds delay, F&& f,
                     std::source_location where = std::source_location::current()) {
  worker& here = detail::this_io_worker_for("post_self_after");
  const auto when = detail::after(here.io().time().now(), delay);
  here.arm(*detail::make_timed_job(here.runtime(), where, when, std::forward<F>(f)), when);
}

}  // namespace this_worker
}  // namespace faio::scheduler
