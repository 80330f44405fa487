// completion_signal -- lets plain threads sleep until something is done; the waiter may destroy it as soon as it is.
//
//   pending ── first waiter ──> awaited ── mark_ready() ──> ready
//      └────────────── mark_ready() ─────────────────────────^
//
// I1  The state only moves forward, and mark_ready() moves it to ready with one exchange.
// I2  That exchange is the last access of mark_ready() to the signal: the wake that follows uses only its address.
//
// So the signal can live on the waiter's stack: a waiter that sees ready may return and destroy it while the other thread is
// still about to wake. (model `completion_signal`, and mutant `completion_signal_notifies_the_object`)
//
// Rejected: store ready, then std::atomic::notify_all(). The notify works on the object, which the waiter may have destroyed
// between the two. Rejected: a mutex and a condition variable: right, but a lock and two words more for each block_on.
#pragma once

#include <cstdint>

#include "faio/context/atomics.hpp"

namespace faio::context {

template <class Policy>
class basic_completion_signal {
 public:
  basic_completion_signal() = default;
  basic_completion_signal(const basic_completion_signal&) = delete;
  basic_completion_signal& operator=(const basic_completion_signal&) = delete;

  /// Any thread, once. What the caller did before is visible to those who saw it ready. The signal may be gone when this returns.
  void mark_ready() noexcept {
    const void* const address = &_state;
    // [A] release, pairs with is_ready(). acquire is not needed: nothing comes back. I2: do not touch *this after it.
    if (_state.exchange(ready, std::memory_order_release) == awaited) Policy::futex_wake_all(address);
  }

  /// Any thread.
  bool is_ready() const noexcept {
    // acquire, pairs with [A].
    return _state.load(std::memory_order_acquire) == ready;
  }

  /// Any thread that may block. Returns once it is ready.
  void wait() noexcept {
    if (is_ready()) return;
    ask_for_wake();
    // The kernel compares the word with `awaited` under its own lock: a mark_ready() before it falls asleep keeps it awake.
    while (!is_ready()) Policy::futex_wait(_state, awaited);
  }

  /// Any thread that may block. As wait(), until `deadline` at the latest; says whether it is ready.
  template <class TimePoint>
  bool wait_until(TimePoint deadline) noexcept {
    if (deadline == TimePoint::max()) {
      wait();
      return true;
    }
    ask_for_wake();
    while (!is_ready()) {
      if (TimePoint::clock::now() >= deadline) return false;
      Policy::futex_wait_until(_state, awaited, deadline);
    }
    return true;
  }

  // ---- end of the public interface ----

 private:
  void ask_for_wake() noexcept {
    // relaxed: it only asks for a wake; what was done comes with is_ready().
    std::uint32_t seen = pending;
    _state.compare_exchange_strong(seen, awaited, std::memory_order_relaxed);
  }

  enum : std::uint32_t { pending, awaited, ready };
  typename Policy::template atomic<std::uint32_t> _state{pending};
};

using completion_signal = basic_completion_signal<std_atomics>;

}  // namespace faio::context
