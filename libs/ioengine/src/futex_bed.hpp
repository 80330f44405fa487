// futex_bed -- a sleep that needs no descriptor: the cheapest to lie down on and to be woken from, as long as there is no I/O to wait for.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>

namespace faio::ioengine::detail {

class futex_bed {
 public:
  /// Owner only. Until end(), or the time is over (negative: without end), or a signal came: the caller looks.
  void sleep(std::chrono::nanoseconds timeout) noexcept {
    timespec time{};
    const bool limited = timeout >= std::chrono::nanoseconds::zero();
    if (limited) {
      const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
      time.tv_sec = seconds.count();
      time.tv_nsec = (timeout - seconds).count();
    }
    // Sleeps only while no end() has come since the last one that was taken: an early one makes this return at once.
    ::syscall(SYS_futex, &_ends, FUTEX_WAIT_PRIVATE, _ends_taken, limited ? &time : nullptr, nullptr, 0);
    // acquire, pairs with [E]; what was published is ordered by the waker already, this only keeps the count.
    _ends_taken = _ends.load(std::memory_order_acquire);
  }

  /// Any thread.
  void end() noexcept {
    // [E] release, see sleep.
    _ends.fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &_ends, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  std::atomic<std::uint32_t> _ends{0};  // any thread: how many sleeps were ended; wraps, only its change matters
  std::uint32_t _ends_taken = 0;        // owner
};

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free,
              "the futex is the atomic's own word");

}  // namespace faio::ioengine::detail
