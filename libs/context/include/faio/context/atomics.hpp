// atomics -- what the primitives here, and those of libs/sync, ask of the machine, as one policy: std::atomic and the kernel's futex.
//
// The policy is a template parameter, so that tests/explorer runs the very same code under a scheduler that controls each
// access, and can tell whether a wake touches an object that is gone.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <utility>

#include "faio/queue/spin_lock.hpp"

namespace faio::context {

struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  /// A field that is not atomic. Its accesses are marked so that a policy can check them for data races.
  template <class T>
  class plain {
   public:
    plain() = default;
    explicit plain(T value) : _value(std::move(value)) {}
    const T& read() const noexcept { return _value; }
    T& write() noexcept { return _value; }

   private:
    T _value{};
  };

  /// In a loop that waits for another thread: queue/spin_lock.hpp.
  static void pause(bool long_since = false) noexcept { queue::pause(long_since); }

  /// Sleeps while `word` is `expected`; may return for no reason.
  static void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
  }

  /// As futex_wait, until `deadline` of the steady clock at the latest.
  static void futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                               std::chrono::steady_clock::time_point deadline) noexcept {
    const auto since = deadline.time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
    timespec when{};
    when.tv_sec = seconds.count();
    when.tv_nsec = (since - seconds).count();
    // The bitset form takes a point of CLOCK_MONOTONIC, which is what the steady clock reads.
    ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &when, nullptr, FUTEX_BITSET_MATCH_ANY);
  }

  /// Wakes all who sleep on the word at `address`. The kernel uses the address as a key and does not look behind it, so the
  /// word may be gone: at worst somebody who sleeps on a newer word at that place looks up for no reason.
  static void futex_wake_all(const void* address) noexcept {
    ::syscall(SYS_futex, address, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
};
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "a futex is a plain 32-bit word");

}  // namespace faio::context
