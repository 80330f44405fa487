// bed_choice -- which of its two beds a sleeper lies on: the usual one, where everything can reach it, or a cheaper one aside.
//
// Invariants
//   I1 The choice is made before the waker says "asleep", so who must end the sleep reads the bed that was lain down on (waker.hpp, I4).
//   I2 Outside of a sleep the choice is the usual bed, also after a sleep that a wake has prevented: who lies down without a choice (a drain, a
//      descriptor in somebody else's loop) lies there, and is looked for there.     HandleTest.TellsOfAWakeAfterOneThatPreventedASleep
#pragma once

#include "faio/ioengine/waker.hpp"

namespace faio::ioengine {

template <class Atomics = std_atomics>
class bed_choice {
 public:
  bed_choice() = default;
  bed_choice(const bed_choice&) = delete;
  bed_choice& operator=(const bed_choice&) = delete;

  /// Owner only. The waker's prepare_sleep() for a sleep in the bed aside, or in the usual one.
  [[nodiscard]] bool prepare_sleep(waker<Atomics>& handshake, bool aside) noexcept {
    // relaxed: published by prepare_sleep (I1).
    _aside.store(aside, std::memory_order_relaxed);
    if (handshake.prepare_sleep()) return true;
    // relaxed: the next prepare_sleep publishes it, whoever makes it (I2).
    _aside.store(false, std::memory_order_relaxed);
    return false;
  }

  /// Owner only, after a sleep aside. Who ends that sleep only now goes to the usual bed: one wake too many there.
  void get_up() noexcept {
    // relaxed: as above.
    _aside.store(false, std::memory_order_relaxed);
  }

  /// The owner, or whoever must end its sleep: notify() gave true.
  [[nodiscard]] bool is_aside() const noexcept {
    // relaxed: the owner's own, or acquired by notify() (I1).
    return _aside.load(std::memory_order_relaxed);
  }

 private:
  typename Atomics::template atomic<bool> _aside{false};  // written by the owner
};

}  // namespace faio::ioengine
