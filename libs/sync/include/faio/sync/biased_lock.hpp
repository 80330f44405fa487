// biased_lock -- a spin lock that belongs to one worker for as long as nobody else comes: then it costs no locked instruction.
//
//   _owner == me:   inside = true, at my place;  light barrier;  owner still me?  in            unlock:  inside = false
//   anybody else:   the mutex;  owner = nobody;  heavy barrier;  until inside is false there: wait          unlock:  the mutex
//
// Tasks that talk through a channel mostly run on one worker (docs/adr/0016), and two locked instructions were half of what an item cost. A lock that
// was taken many times by the same worker alone becomes that worker's. Who takes it away pays microseconds for the heavy barrier, once; and each
// time it takes twice as many uses until the lock has an owner again, so that two who take turns soon do without.
//
// I1  Only the owner makes itself the owner, with the mutex held; anybody may end that, with the mutex held.
// I2  The owner says that it is inside, then looks whether it is the owner still; who ends that says so, then looks whether it is inside. The
//     barriers are the asymmetric pair of libs/statemachine: one of the two sees the other.
// I3  So with an owner only that one is in without the mutex, and whoever has the mutex has ended that first: one at a time.
// I4  Each who has ever been the owner has a place of its own to say that it is inside. One that was interrupted between its first look and saying so may
//     come back when another has long become the owner, and takes back what it says: in a common place it would take back what that other one says.
//     Whoever finds all places taken never becomes the owner.
//
// Modelled in tests/explorer/models/biased_lock_model.cpp. docs/adr/0017.
//
// Rejected: an owner for ever, the first one. Most channels are made by one worker and used by others.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
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
    // relaxed: only we make ourselves the owner, and our place stays ours.
    const word owner = _owner.load(std::memory_order_relaxed);
    if ((owner & ~place_mask) != name_of(me)) [[unlikely]]
      return false;
    place& mine = _places[owner & place_mask];
    // relaxed, both: the barrier orders them against the pair in end_ownership() (I2).
    mine.inside.store(true, std::memory_order_relaxed);
    Policy::light_barrier();
    if (_owner.load(std::memory_order_relaxed) == owner) [[likely]] {
      _held_from.write() = &mine;
      return true;
    }
    mine.leave();
    return false;
  }
  void unlock_as_owner() noexcept { _held_from.read()->leave(); }

  // ---- end of the public interface ----

 private:
  /// Who is the owner, and in the lowest bits which place is its own; 0: nobody.
  using word = std::uintptr_t;
  static constexpr std::size_t places = 4;
  static constexpr word place_mask = places - 1;
  static word name_of(const void* one) noexcept { return reinterpret_cast<word>(one); }

  struct place {
    void leave() noexcept {
      inside.store(false, std::memory_order_release);  // [I] release: what we did is visible to whoever waits for it
    }
    typename Policy::template atomic<bool> inside{false};         // the owner; or one that was it a moment ago
    typename Policy::template plain<const void*> whose{nullptr};  // with the mutex held
  };

  [[gnu::noinline]] void lock_for_all(const void* me) noexcept {
    _mutex.lock();
    if (_owner.load(std::memory_order_relaxed) != 0) end_ownership();  // relaxed: written with the mutex held
    if (_last.read() != me) {
      _last.write() = me;
      _uses.write() = 0;
    } else if (me != nullptr && ++_uses.write() >= _needed.read()) {
      _uses.write() = 0;
      _owner.store(as_owner(me), std::memory_order_relaxed);  // relaxed: nobody but us acts on it without the mutex
    }
  }
  /// With the mutex held. 0: there is no place for it (I4).
  [[nodiscard]] word as_owner(const void* me) noexcept {
    assert((name_of(me) & place_mask) == 0 && "biased_lock: the name of an owner is an aligned address");
    for (word i = 0; i < places; ++i) {
      const void* const whose = _places[i].whose.read();
      if (whose != nullptr && whose != me) continue;
      _places[i].whose.write() = me;
      return name_of(me) | i;
    }
    return 0;
  }
  void end_ownership() noexcept {
    const place& whose = _places[_owner.load(std::memory_order_relaxed) & place_mask];
    _owner.store(0, std::memory_order_relaxed);
    Policy::heavy_barrier();
    constexpr int long_since = 100;
    // acquire, pairs with [I].
    for (int turn = 0; whose.inside.load(std::memory_order_acquire); ++turn) Policy::pause(turn > long_since);
    _needed.write() = std::min(2 * _needed.read(), most_uses);
  }

  typename Policy::template atomic<word> _owner{0};
  typename Policy::template plain<bool> _by_owner{false};       // who holds it since lock() came without the mutex
  typename Policy::template plain<place*> _held_from{nullptr};  // by the owner
  typename Policy::mutex _mutex;
  // With the mutex held.
  typename Policy::template plain<const void*> _last{nullptr};
  typename Policy::template plain<std::uint32_t> _uses{0};
  typename Policy::template plain<std::uint32_t> _needed;
  std::array<place, places> _places;
};

}  // namespace faio::sync
