// spin_lock -- a lock for a few instructions: one locked instruction, and a store to let go.
//
// For critical sections that call nothing of the user's but the move of a value, and never wait. A thread that finds it taken looks again for about as long as such a section
// takes, then lets others run: its holder has lost its processor. Not fair, and not for anything longer.
//
// Rejected: std::mutex. Its unlock is a locked instruction too, and neither is inlined: half of the time of a channel's send was spent there.
#pragma once

#include <sched.h>

#include <atomic>

namespace faio::queue {

/// In a loop that waits for another thread to do a few instructions; with `long_since`, which must have been interrupted meanwhile.
inline void pause(bool long_since = false) noexcept {
  if (long_since) {
    ::sched_yield();
    return;
  }
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Lockable.
class spin_lock {
 public:
  spin_lock() = default;
  spin_lock(const spin_lock&) = delete;
  spin_lock& operator=(const spin_lock&) = delete;

  void lock() noexcept {
    for (int turn = 0; !try_lock(); ++turn) {
      constexpr int long_since = 100;
      // relaxed: try_lock decides.
      while (_taken.load(std::memory_order_relaxed)) pause(++turn > long_since);
    }
  }
  [[nodiscard]] bool try_lock() noexcept {
    return !_taken.exchange(true, std::memory_order_acquire);  // acquire, pairs with unlock()
  }
  void unlock() noexcept { _taken.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> _taken{false};
};

}  // namespace faio::queue
