// end_meeting -- a task's end meets whoever waits for it, and those that keep its two records agree on who frees which.
//
//   waiter:   pending ── somebody waits ──> its word ── the task ends ──> ended
//                └───────────────── the task ends ────────────────────────^
//   keepers:  [ pins : 29 | stop was asked for : 1 | scope : 1 | handle : 1 ]
//
// A spawned task has two records. What it needs while it runs, its scope, goes as soon as it and all beneath it have ended; what is left for the
// handle, this meeting and the result, goes when both keepers, the handle and the scope, have let go. The handle's owner reaches the scope with a
// pin: a scope that is let go meanwhile stays until the pins are gone.
//
// I1  The end exchanges the word for `ended`; a waiter installs itself by compare-and-swap from `pending`. So either the end sees the
//     waiter, or the waiter sees the end.
// I2  The end touches the meeting no more after its exchange, unless it is also a keeper: who waits may free it.
// I3  Exactly one keeper is told that it was the last, and sees what the other did. Who finds itself alone needs no read-modify-write for that.
// I4  Only the handle's owner installs a waiter. So once the handle is gone nobody comes any more, and the end need not exchange.
// I5  A pin is taken only while the scope's bit is set, and with it. So exactly one frees the scope: its keeper, who sees no pins when it lets go and
//     knows that none will come, or the last of those that it saw.
//
// Modelled in tests/explorer/models/meeting_model.cpp.
//
// Rejected: one word for both. The handle may go while somebody waits, and the end may come before or after either.
#pragma once

#include <cstdint>

#include "faio/context/atomics.hpp"

namespace faio::context {

enum class keeper : std::uint32_t { handle = 1, scope = 2 };

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
    // I4: and nobody looks for the mark. relaxed: installed before the handle was let go, [K].
    if (!has_handle()) return _waiter.load(std::memory_order_relaxed);
    // [E] release: the result is visible to whoever sees the mark. acquire: the waiter is ready to go on.
    return _waiter.exchange(ended, std::memory_order_acq_rel);
  }

  /// What whoever lets go has to free; it sees what the others did with it.
  struct left {
    bool meeting;
    bool scope;
  };
  /// That keeper, once.
  [[nodiscard]] left let_go(keeper which) noexcept {
    const auto bit = static_cast<std::uint32_t>(which);
    // acquire, pairs with [K]: alone, and what the other did is visible.
    std::uint32_t before = _keepers.load(std::memory_order_acquire);
    // [K] release: what we did is visible to the last. acquire: we may be that last.
    if ((before & ~asked) != bit) before = _keepers.fetch_and(~bit, std::memory_order_acq_rel);
    return {.meeting = (before & ~asked) == bit, .scope = which == keeper::scope && before < one_pin};
  }
  /// The handle's owner, on any thread. True: the scope stays until unpin(). False: it has been let go, and what the task did is visible.
  [[nodiscard]] bool pin() noexcept {
    // acquire, pairs with [K], here and below where it fails.
    std::uint32_t seen = _keepers.load(std::memory_order_acquire);
    while ((seen & static_cast<std::uint32_t>(keeper::scope)) != 0) {
      if (_keepers.compare_exchange_weak(seen, seen + one_pin, std::memory_order_acquire)) return true;
    }
    return false;
  }
  /// True: the scope was let go meanwhile, and whoever called this frees it.
  [[nodiscard]] bool unpin() noexcept {
    // [P] release: what we did with the scope is visible to whoever frees it. acquire: that may be us.
    const std::uint32_t before = _keepers.fetch_sub(one_pin, std::memory_order_acq_rel);
    return before < 2 * one_pin && (before & static_cast<std::uint32_t>(keeper::scope)) == 0;
  }
  /// A keeper: notes that stop was asked for. True: it was not noted before.
  bool note_asked() noexcept {
    return (_keepers.fetch_or(asked, std::memory_order_relaxed) & asked) == 0;  // relaxed: it hands nothing over
  }
  /// The other keeper. False: the handle is gone, and what its owner asked for before is visible.
  [[nodiscard]] bool has_handle() const noexcept {
    // acquire, pairs with [K].
    return (_keepers.load(std::memory_order_acquire) & static_cast<std::uint32_t>(keeper::handle)) != 0;
  }

  /// Whoever keeps the scope from being let go meanwhile, or asks for no more than a moment's view.
  [[nodiscard]] bool has_scope() const noexcept {
    return (_keepers.load(std::memory_order_relaxed) & static_cast<std::uint32_t>(keeper::scope)) !=
           0;  // relaxed: see there
  }

  // ---- end of the public interface ----

 private:
  static constexpr std::uint32_t asked = 4;
  static constexpr std::uint32_t one_pin = 8;

  typename Policy::template atomic<word> _waiter{pending};
  typename Policy::template atomic<std::uint32_t> _keepers{static_cast<std::uint32_t>(keeper::handle) |
                                                           static_cast<std::uint32_t>(keeper::scope)};
};

using end_meeting = basic_end_meeting<std_atomics>;

}  // namespace faio::context
