// waker -- the handshake between one thread that goes to sleep and any number that want it awake.
//
// One word, three states. The sleep itself (a futex, an eventfd, a message to a ring) is outside: this decides who needs it.
//
//   from       event                         to         syscall
//   awake      notify                        notified   none: the owner will look before it sleeps
//   awake      prepare_sleep                 sleeping   owner blocks
//   notified   notify                        notified   none: any number of wakes before a look is one wake
//   notified   prepare_sleep (gives false)   awake      none: owner does not block
//   sleeping   notify (gives true)           notified   that notifier, and no other, ends the sleep
//   sleeping   finish_sleep (gives false)    awake      it was I/O or a timeout that ended the sleep
//   notified   finish_sleep (gives true)     awake
//
// Invariants
//   I1 What was published before notify() is visible to the owner after the prepare_sleep that gave false, or after the
//      finish_sleep that follows: each notify is a release on the word, and each way out of `notified` acquires it.
//   I2 Between a prepare_sleep that gave true and the finish_sleep after it, the first notify gives true. So the owner may
//      block without a timeout: whoever publishes later also ends the sleep.
//   I3 The ending of a sleep must stick: a wake-up call that arrives before the owner blocks, or after it got up for another
//      reason, makes the next block return early. (An eventfd's count, a posted completion, a futex word that has changed.)
//   I4 What the owner wrote before prepare_sleep, how it is going to sleep say, is visible to the notifier that must end the sleep.
//
// Rejected: notify() that reads the word first and leaves it alone if it is `notified` already. A plain load may be stale: the
// owner has gone on to `awake` and looked at its queue before the publication, and both miss each other. The exchange reads
// the latest value by definition, and its release joins the chain that the owner acquires.
// Rejected: finish_sleep() as a plain store. It could wipe out the `notified` of a second notifier that relied on the first.
#pragma once

#include <atomic>
#include <cstdint>

namespace faio::ioengine {

/// The default policy. A model checker gives its own type with an `atomic<T>` that it controls.
struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;
};

template <class Atomics = std_atomics>
class waker {
 public:
  waker() = default;
  waker(const waker&) = delete;
  waker& operator=(const waker&) = delete;

  /// Any thread. True: the owner sleeps and the caller must now end that sleep. False: nothing more to do.
  [[nodiscard]] bool notify() noexcept {
    // [A] release, pairs with [B] and [C]: what the caller published is visible to the owner. An earlier notifier's value that
    // this one replaces stays in the chain: an exchange continues the release that it overwrites. acquire, pairs with [D]: I4.
    return _state.exchange(notified, std::memory_order_acq_rel) == sleeping;
  }

  /// Owner only. True: sleeping now; block, then call finish_sleep. False: a wake came; it is taken, do not block.
  [[nodiscard]] bool prepare_sleep() noexcept {
    std::uint32_t expected = awake;
    // [D] success release, pairs with [A]: I4. failure relaxed: what a notifier published is acquired at [B].
    if (_state.compare_exchange_strong(expected, sleeping, std::memory_order_release, std::memory_order_relaxed))
      return true;
    // [B] acquire, pairs with [A]. Only the owner leaves `notified`. Exchange, not store: a notify that came since the failed
    // compare-and-swap is swallowed together with the one that was seen, so its publication must be acquired as well.
    (void)_state.exchange(awake, std::memory_order_acquire);
    return false;
  }

  /// Owner only, once after each prepare_sleep that gave true. True: a wake came meanwhile.
  bool finish_sleep() noexcept {
    // [C] acquire, pairs with [A]. Exchange, not store: see the second rejected design.
    return _state.exchange(awake, std::memory_order_acquire) == notified;
  }

 private:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t sleeping = 1;
  static constexpr std::uint32_t notified = 2;

  typename Atomics::template atomic<std::uint32_t> _state{awake};
};

}  // namespace faio::ioengine
