// end_meeting -- a task's end meets whoever waits for it, and the two that keep its record agree on who frees it.
//
//   waiter:   pending ── somebody waits ──> its word ── the task ends ──> ended
//                └───────────────── the task ends ────────────────────────^
//   keepers:  the handle and the scope, one bit each; whoever lets go last frees
//
// I1  The end exchanges the word for `ended`; a waiter installs itself by compare-and-swap from `pending`. So either the end sees the
//     waiter, or the waiter sees the end.
// I2  The end touches the meeting no more after its exchange, unless it is also a keeper: who waits may free it.
// I3  Exactly one keeper is told that it was the last, and sees what the other did. Who finds itself alone needs no read-modify-write for that.
// I4  Only the handle's owner installs a waiter. So once the handle is gone nobody comes any more, and the end need not exchange.
//
// Modelled in tests/explorer/models/meeting_model.cpp.
//
// Rejected: one word for both. The handle may go while somebody waits, and the end may come before or after either.
#pragma once

#include <cstdint>

#include "faio/context/atomics.hpp"

namespace faio::context {

enum class keeper : std::uint8_t { handle = 1, scope = 2 };

template <class Policy>
class basic_end_meeting {
 public:
  /// Who waits: an address, with whatever its low bits say; never one of these two.
  using word = std::uintptr_t;
  static constexpr word pending = 0;
  static constexpr word ended = 1;

  basic_end_meeting() = default;
  basic_end_meeting(const basic_end_meeting&) = delete;
  basic_end_meeting& operator=(const basic_end_meeting&) = delete;

  /// A keeper, or whoever waits. True: what the task did is visible.
  [[nodiscard]] bool has_ended() const noexcept {
    return _waiter.load(std::memory_order_acquire) == ended;  // acquire, pairs with [E]
  }
  /// The handle's owner. True: the end will see it. False: the task has ended, or somebody else waits.
  [[nodiscard]] bool install(word waiter) noexcept {
    word none = pending;
    // release, pairs with [E]: what the waiter needs when it goes on is written. failure acquire, pairs with [E].
    return _waiter.compare_exchange_strong(none, waiter, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  /// The task, once. Who waited, or `pending`.
  [[nodiscard]] word end() noexcept {
    if (!has_handle()) {  // I4
      const word waiter =
          _waiter.load(std::memory_order_relaxed);      // relaxed: installed before the handle was let go, [K]
      _waiter.store(ended, std::memory_order_release);  // [E]
      return waiter;
    }
    // [E] release: the result is visible to whoever sees the mark. acquire: the waiter is ready to go on.
    return _waiter.exchange(ended, std::memory_order_acq_rel);
  }

  /// That keeper, once. True: it was the last, and frees the record; it sees what the other did.
  [[nodiscard]] bool let_go(keeper which) noexcept {
    const auto bit = static_cast<std::uint8_t>(which);
    // acquire, pairs with [K]: alone, and what the other did is visible.
    if (_keepers.load(std::memory_order_acquire) == bit) return true;
    // [K] release: what we did is visible to the last. acquire: we may be that last.
    return _keepers.fetch_and(static_cast<std::uint8_t>(~bit), std::memory_order_acq_rel) == bit;
  }
  /// The other keeper. False: the handle is gone, and what its owner asked for before is visible.
  [[nodiscard]] bool has_handle() const noexcept {
    // acquire, pairs with [K].
    return (_keepers.load(std::memory_order_acquire) & static_cast<std::uint8_t>(keeper::handle)) != 0;
  }

  // ---- end of the public interface ----

 private:
  typename Policy::template atomic<word> _waiter{pending};
  typename Policy::template atomic<std::uint8_t> _keepers{static_cast<std::uint8_t>(keeper::handle) |
                                                          static_cast<std::uint8_t>(keeper::scope)};
};

using end_meeting = basic_end_meeting<std_atomics>;

}  // namespace faio::context
