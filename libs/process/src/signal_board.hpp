// signal_board -- where the handler notes what arrived, and the seats of those that it wakes. One for the process.
//
//   handler:  inside + 1 ── arrived[n] + 1 ── for each seat that wants n: write to its eventfd ── inside - 1
//   sitter:   seat.wants = mask ── looks at arrived[] ── reads its eventfd ── looks again ...
//   leaver:   seat.wants = 0 ── waits until inside is 0 ── closes the eventfd
//
// I1  No wake-up is lost: the handler counts and then looks at the seats, the sitter sits down and then looks at the counts, all of it
//     sequentially consistent; so the handler sees the seat, or the sitter sees the count. SignalTest.ManyArriveWhileTasksComeAndGo
// I2  The handler writes to no descriptor that is closed, and perhaps somebody else's by now: it is inside, then looks at `wants`; the leaver
//     clears `wants`, then looks whether somebody is inside.
// I3  Seats are linked once and never unlinked, only reused: the handler walks the list without a lock. There are as many as there
//     were sitters at a time.
//
// The handler uses atomics and write(2): both may be used in a handler. It never takes the mutex.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>

#include "faio/process/signal.hpp"

namespace faio::process::detail {

/// By the signal's number; 0 is unused.
using signal_counts = std::array<std::uint64_t, signal_mask::highest + 1>;

class signal_board {
 public:
  struct seat {
    std::atomic<std::uint64_t> wants{0};
    std::atomic<int> event{-1};
    seat* next = nullptr;
    bool free = false;  // under the mutex
  };

  /// Never destroyed: a handler may run until the very end.
  static signal_board& get();

  /// Any thread. Has the handler installed for all of them.
  result<void> install(signal_mask which);
  void forget(signal_mask which) noexcept;

  /// Any thread. From now on the handler writes to `event` for each arrival.
  seat& sit_down(signal_mask which, int event);
  /// Any thread. Afterwards the handler does not touch the event any more.
  void stand_up(seat& from) noexcept;

  [[nodiscard]] std::uint64_t arrived(int number) const noexcept {
    return _arrived[static_cast<std::size_t>(number)].load(std::memory_order_seq_cst);  // I1
  }

  /// What signal() has given of the arrivals; guarded by `mutex`.
  signal_counts taken{};
  std::mutex mutex;

 private:
  static void handle(int number) noexcept;

  std::array<std::atomic<std::uint64_t>, signal_mask::highest + 1> _arrived{};
  std::atomic<seat*> _seats{nullptr};
  std::atomic<int> _inside{0};
  std::uint64_t _installed = 0;                                      // guarded by `mutex`
  std::array<struct sigaction, signal_mask::highest + 1> _before{};  // guarded by `mutex`
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<signal_board::seat*>::is_always_lock_free);

}  // namespace faio::process::detail
