// biased_lock -- a spin lock that belongs to one worker for as long as nobody else comes: then it costs no locked instruction.
//
//   _owner == me:   inside = true;  light barrier;  owner still me?  in            unlock:  inside = false
//   anybody else:   the mutex;  owner = nobody;  heavy barrier;  until inside is false: wait          unlock:  the mutex
//
// Tasks that talk through a channel mostly run on one worker (docs/adr/0016), and two locked instructions were half of what an item cost. A lock that
// was taken many times by the same worker alone becomes that worker's. Who takes it away pays microseconds for the heavy barrier, once; and each
// time it takes twice as many uses until the lock has an owner again, so that two who take turns soon do without.
//
// I1  Only the owner makes itself the owner, with the mutex held; anybody may end that, with the mutex held.
// I2  The owner says that it is inside, then looks whether it is the owner still; who ends that says so, then looks whether it is inside. The
//     barriers are the asymmetric pair of libs/statemachine: one of the two sees the other.
// I3  So with an owner only that one is in without the mutex, and whoever has the mutex has ended that first: one at a time.
//
// Modelled in tests/explorer/models/biased_lock_model.cpp. docs/adr/0017.
//
// Rejected: an owner for ever, the first one. Most channels are made by one worker and used by others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "faio/sync/atomics.hpp"

namespace faio::sync {

template <class Policy>
class basic_biased_lock {
 public:
  static constexpr std::uint32_t first_uses = 256;
  static constexpr std::uint32_t most_uses = 1U << 20;

  /// `uses`: after how many by the same one in a row the lock becomes its own.
  explicit basic_biased_lock(std::uint32_t uses = first_uses) noexcept : _needed(uses) {}
  basic_biased_lock(const basic_biased_lock&) = delete;
  basic_biased_lock& operator=(const basic_biased_lock&) = delete;

  /// Any thread. `me`: a worker on whose thread we are, or null, for one to whom the lock will never belong.
  void lock(const void* me) noexcept {
    if (me != nullptr && try_lock_as_owner(me)) [[likely]] {
      _by_owner.write() = true;
    } else {
      lock_for_all(me);
    }
  }
  /// Who holds it since lock().
  void unlock() noexcept {
    if (_by_owner.read()) [[likely]] {
      _by_owner.write() = false;
      unlock_as_owner();
    } else {
      _mutex.unlock();
    }
  }

  /// A worker, on its own thread. True: the lock is its own, and held until unlock_as_owner(): nothing has to remember how it was taken. False: take the other way.
  [[nodiscard]] bool try_lock_as_owner(const void* me) noexcept {
    // relaxed: only we make ourselves the owner.
    if (_owner.load(std::memory_order_relaxed) != me) [[unlikely]]
      return false;
    // relaxed, both: the barrier orders them against the pair in end_ownership() (I2).
    _inside.store(true, std::memory_order_relaxed);
    Policy::light_barrier();
    if (_owner.load(std::memory_order_relaxed) == me) [[likely]]
      return true;
    unlock_as_owner();
    return false;
  }
  void unlock_as_owner() noexcept {
    _inside.store(false, std::memory_order_release);  // [I] release: what we did is visible to whoever waits for it
  }

  // ---- end of the public interface ----

 private:
  [[gnu::noinline]] void lock_for_all(const void* me) noexcept {
    _mutex.lock();
    if (_owner.load(std::memory_order_relaxed) != nullptr) end_ownership();  // relaxed: written with the mutex held
    if (_last.read() != me) {
      _last.write() = me;
      _uses.write() = 0;
    } else if (me != nullptr && ++_uses.write() >= _needed.read()) {
      _uses.write() = 0;
      _owner.store(me, std::memory_order_relaxed);  // relaxed: nobody but us acts on it without the mutex
    }
  }
  void end_ownership() noexcept {
    _owner.store(nullptr, std::memory_order_relaxed);
    Policy::heavy_barrier();
    constexpr int long_since = 100;
    // acquire, pairs with [I].
    for (int turn = 0; _inside.load(std::memory_order_acquire); ++turn) Policy::pause(turn > long_since);
    _needed.write() = std::min(2 * _needed.read(), most_uses);
  }

  typename Policy::template atomic<const void*> _owner{nullptr};
  typename Policy::template atomic<bool> _inside{false};   // the owner; or one that was it a moment ago
  typename Policy::template plain<bool> _by_owner{false};  // who holds it since lock() came without the mutex
  typename Policy::mutex _mutex;
  // With the mutex held.
  typename Policy::template plain<const void*> _last{nullptr};
  typename Policy::template plain<std::uint32_t> _uses{0};
  typename Policy::template plain<std::uint32_t> _needed;
};

}  // namespace faio::sync
