// processor_time -- how long the calling thread has been on a processor, and how long it could have run and had to wait for one.
//
// The kernel counts both for each thread: /proc/thread-self/schedstat. A look at it is one system call, under a microsecond.
#pragma once

#include <chrono>
#include <optional>

#include "faio/scheduler/export.hpp"

namespace faio::scheduler {

/// Any thread. How long all threads of this process have been on processors; under a microsecond for a dozen of them.
[[nodiscard]] FAIO_SCHEDULER_API std::chrono::nanoseconds process_time() noexcept;

/// One thread's: made, read and destroyed on it.
class FAIO_SCHEDULER_API processor_time {
 public:
  /// Since the thread began.
  struct spent {
    std::chrono::nanoseconds ran;
    std::chrono::nanoseconds waited;  ///< it was woken, or had to give way, and others ran
  };

  processor_time() noexcept;
  processor_time(const processor_time&) = delete;
  processor_time& operator=(const processor_time&) = delete;
  ~processor_time();

  /// Empty: the kernel does not tell.
  [[nodiscard]] std::optional<spent> read() const noexcept;

 private:
  int _fd;
};

}  // namespace faio::scheduler
