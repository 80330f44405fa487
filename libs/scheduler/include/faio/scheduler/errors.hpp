// errors -- what the runtime itself refuses, as error codes whose messages say what to do instead.
#pragma once

#include <system_error>

#include "faio/scheduler/export.hpp"

namespace faio::scheduler {

enum class errc {
  stopped = 1,     ///< the runtime takes no new work
  no_such_worker,  ///< never there, or detached
  hosted_worker,   ///< lives on a thread of the caller's
  last_worker,     ///< nobody would be left to run its tasks
  too_many_workers,
  not_watchable,  ///< a descriptor that is always ready, or an engine without descriptors
  on_a_worker,    ///< would block a worker that others wait for
};

FAIO_SCHEDULER_API const std::error_category& error_category() noexcept;
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

}  // namespace faio::scheduler

template <>
struct std::is_error_code_enum<faio::scheduler::errc> : std::true_type {};
