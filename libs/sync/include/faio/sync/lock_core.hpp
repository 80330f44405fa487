// lock_core -- one lock, taken by whoever runs; who finds it held waits in line and is called to try again. What mutex is made of.
//
//   _word:   [ called : 1 | waiting : 1 | locked : 1 ]
//
//   try_take:  sets `locked`; it was not set before: taken, also when somebody waits: whoever runs may overtake
//   give:      one compare-and-swap, unless somebody waits and nobody is called: then under _mutex, the first in line is called
//
//   waiter:  queued ── give() ──> called ── come(), it is free ────────────────────────────> granted
//              ^                    ├────── come(), it is held, and stop was requested ────> canceled
//              └─ front of the line ┴────── come(), it is held: once more in vain
//            queued ── give(), after `patience` times in vain: it stays locked, and is the waiter's ──> granted
//            queued ── cancel() ──> canceled
//
// I1  `waiting` is set if and only if the line is not empty, `called` if and only if a waiter is called. Both change under _mutex only, and by
//     read-modify-writes, or a store of the one who holds the lock. Only the holder sets `called`.
// I2  Whenever the lock is free and somebody is in line, somebody is called. So nobody is forgotten: one that is called comes, and takes the lock
//     or finds it held, by one who will see the line when it gives. Whoever goes into the line has seen `locked` in the very step that set `waiting`
//     and cleared `called`, or sees somebody called, or in line while nobody is called, under _mutex, without which no such lock becomes free;
//     and one that is called and will never come passes that on (pass_on).
// I3  At most one is called at a time: a lock that is given a thousand times before the called one runs wakes one, not a thousand.
// I4  The last access of give() is a compare-and-swap, or the waking of one that still needs the lock. So whoever has taken may destroy it, if nobody
//     else is going to use it; one that waits, or is called, is.
// I5  Whoever takes sees what those did who gave before: release on giving, acquire on taking; a lock that is handed over, by the waking.
// I6  Nobody waits for ever: the first in line comes in vain at most `patience` times, then the lock is handed to it.
//
// Handing over. A called one comes in vain again and again when those who overtake hold the lock while they are suspended; and two tasks are
// ready then where one would do, for which another worker is woken. So once patience is at an end the lock is handed over not once but in a
// series, each time twice as long as the last, until somebody who is called finds it free.
//
// Giving way. A task that takes the lock in a loop comes by its worker's loop now and then. If others wait it goes behind them in line, not into the
// worker's queue, from where another worker would take it, only to meet the called one at the lock.
//
// Modelled in tests/explorer/models/lock_core_model.cpp. Rejected: handing the lock over each time, as permits does. The next lock() of the one
// who gave must then wait, it is handed to it by the next, and so on: a convoy, in which each operation is two switches of tasks even on one worker:
// 84 ns instead of 20. Rejected: no handing over at all. One who comes from far away, a thread or another runtime, may never find it free.
// All figures: docs/adr/0015.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "faio/sync/atomics.hpp"
#include "faio/sync/wait_list.hpp"

namespace faio::sync {

template <class Policy, class Tuning>
class basic_lock_core;

template <class Policy>
class basic_lock_waiter : public basic_waiter<Policy> {
 public:
  /// As wake(), for one that is called: it is to come().
  virtual void call() noexcept { this->wake(); }

 protected:
  ~basic_lock_waiter() = default;

 private:
  template <class, class>
  friend class basic_lock_core;
  // Both under the lock's _mutex.
  typename Policy::template plain<std::uint32_t> _in_vain{0};  // how often it was called and came too late
  typename Policy::template plain<bool> _gives_up{false};      // stop was requested while it was called
};

struct lock_tuning {
  /// How often the first in line comes in vain before the lock is handed over.
  static constexpr std::uint32_t patience = 3;
  /// How often it is then handed over before the first in line is called again.
  static constexpr std::uint32_t shortest_series = 16;
  static constexpr std::uint32_t longest_series = 4096;
};

template <class Policy, class Tuning = lock_tuning>
class basic_lock_core {
 public:
  using waiter = basic_lock_waiter<Policy>;

  basic_lock_core() = default;
  basic_lock_core(const basic_lock_core&) = delete;
  basic_lock_core& operator=(const basic_lock_core&) = delete;

  /// Any thread. False: it is held.
  [[nodiscard]] bool try_take() noexcept {
    // [T] acquire, pairs with [G] and [S]. To set it when it is set changes nothing; a look before would wait for the last store to it, and cost more
    // than all the rest.
    return (_word.fetch_or(locked, std::memory_order_acquire) & locked) == 0;
  }

  /// Any thread. granted: taken. canceled: it was before it came. queued: `who` is in line, and may have been woken already; once it is, it is
  /// granted, canceled or called: then come().
  [[nodiscard]] wait_state take_or_wait(waiter& who) {
    const std::lock_guard lock(_mutex);
    if (who.state() == wait_state::canceled) return wait_state::canceled;
    if (is_held_and_awaited()) {
      _line.push_back(who);
      return wait_state::queued;
    }
    if (take_or(locked | waiting, 0, waiting)) {
      who.set_state(wait_state::granted);
      return wait_state::granted;
    }
    _line.push_back(who);
    return wait_state::queued;
  }

  /// Any thread. One that gives way, and has not tried: into the line if others wait already, whom it lets go first. False: nobody waits, or it was
  /// canceled before.
  [[nodiscard]] bool wait_behind_others(waiter& who) {
    const std::lock_guard lock(_mutex);
    if (who.state() == wait_state::canceled) return false;
    // relaxed, both: `called` and the line change under _mutex only. Somebody is called, or it is held by one that needs _mutex to give it (I2).
    if (_line.empty() && (_word.load(std::memory_order_relaxed) & called) == 0) return false;
    _word.fetch_or(waiting, std::memory_order_relaxed);
    _line.push_back(who);
    return true;
  }

  /// Whoever was woken and is called. granted: taken. canceled: it is held, and stop was requested. queued: back in line, as above.
  [[nodiscard]] wait_state come(waiter& who) {
    const std::lock_guard lock(_mutex);
    const bool gives_up = who._gives_up.read();
    if (take_or(called | waiting, called, gives_up ? 0 : waiting)) {
      _series.write() = Tuning::shortest_series;
      who.set_state(wait_state::granted);
      return wait_state::granted;
    }
    if (gives_up) {
      who.set_state(wait_state::canceled);
      return wait_state::canceled;
    }
    if (++who._in_vain.write() == Tuning::patience) begin_series();
    _line.push_front(who);
    return wait_state::queued;
  }

  /// Any thread. A waiter that must not wait any longer. True: it was in line; the caller wakes it. False: it has what it wants, or it will be
  /// told when it comes.
  [[nodiscard]] bool cancel(waiter& who) {
    const std::lock_guard lock(_mutex);
    if (_line.remove(who)) {
      left_the_line();
      return true;
    }
    if (who.state() == wait_state::idle) who.set_state(wait_state::canceled);
    if (who.state() == wait_state::called) who._gives_up.write() = true;
    return false;
  }

  /// Whoever destroys a waiter that was granted the lock, or called, and will never run: as if it had come and gone.
  void pass_on(waiter& who) {
    if (who.state() == wait_state::granted) {
      give();
      return;
    }
    waiter* next = nullptr;
    {
      const std::lock_guard lock(_mutex);
      std::uint32_t word = _word.load(std::memory_order_relaxed);  // relaxed: the compare-and-swap decides
      while (_line.empty() || (word & locked) != 0) {
        // relaxed: nothing is learnt from it, and what others released goes through it (I1: read-modify-writes).
        if (_word.compare_exchange_weak(word, word & ~called, std::memory_order_relaxed)) return;
      }
      next = call_first();  // `called` stays set, for another one
    }
    next->call();
  }

  /// Whoever holds it, on any thread.
  void give() {
    if (!try_give()) give_slowly();
  }

  // ---- end of the public interface ----

 private:
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t waiting = 2;
  static constexpr std::uint32_t called = 4;
  /// A guess: it was handed over while others were in line, so it takes _mutex to give it; nobody is called, because only the holder could have.
  static constexpr std::uint32_t others_wait = 0;

  struct next_in_line {
    waiter* called = nullptr;
    waiter* granted = nullptr;
  };

  /// False: somebody is in line, and nobody is called.
  [[nodiscard]] bool try_give() noexcept {
    // A guess: a look would wait for our own last store to it. Where it is wrong, the compare-and-swap is the look.
    std::uint32_t word = _guess.read();
    if (word == others_wait) return false;
    for (;;) {
      // [G] success release, pairs with [T] and [C]. Failure relaxed: the next one decides.
      if (_word.compare_exchange_weak(word, word & ~locked, std::memory_order_release, std::memory_order_relaxed)) {
        return true;
      }
      if ((word & waiting) != 0 && (word & called) == 0) return false;
      _guess.write() = word;
    }
  }
  /// A function of its own: give() is small then, and stands where it is called.
  [[gnu::noinline]] void give_slowly() {
    for (;;) {
      next_in_line next;
      {
        const std::lock_guard lock(_mutex);
        next = give_to_the_line();
      }
      if (next.called != nullptr) return next.called->call();
      if (next.granted != nullptr) return next.granted->wake();
      _guess.write() = locked;
      // Without _mutex, and as the last access (I4).
      if (try_give()) return;
    }
  }
  /// Under _mutex. True: it is held, by one that needs _mutex to give it, and `waiting` is set already (I2).
  [[nodiscard]] bool is_held_and_awaited() const noexcept {
    // relaxed: `called` changes under _mutex only.
    return !_line.empty() && (_word.load(std::memory_order_relaxed) & called) == 0;
  }
  /// Under _mutex. Takes the lock if it is free; otherwise sets `mark`, in the step that finds it held (I2). Clears `gone` either way. `word`: a
  /// guess, as in try_give().
  [[nodiscard]] bool take_or(std::uint32_t word, std::uint32_t gone, std::uint32_t mark) noexcept {
    for (;;) {
      const bool is_free = (word & locked) == 0;
      const std::uint32_t next = (word & ~gone) | (is_free ? locked : mark);
      // [C] success acquire, pairs with [G] and [S].
      if (_word.compare_exchange_weak(word, next, std::memory_order_acquire, std::memory_order_relaxed)) return is_free;
    }
  }
  /// Under _mutex, by the one who holds the lock, and has seen that nobody is called: only itself could call somebody. Neither: nobody is
  /// in line any more.
  [[nodiscard]] next_in_line give_to_the_line() noexcept {
    if (_line.empty()) return {};
    if (_to_hand_over.read() != 0) {
      --_to_hand_over.write();
      waiter* const next = static_cast<waiter*>(_line.pop_front());
      left_the_line();
      _guess.write() = _line.empty() ? locked : others_wait;  // the next holder's
      return {.granted = next};
    }
    _guess.write() = locked;
    waiter* const next = static_cast<waiter*>(_line.call_front());
    // [S] release, pairs with [T] and [C]. A plain store will do: with _mutex and the lock held nobody else changes it (I1).
    _word.store(called | (_line.empty() ? 0 : waiting), std::memory_order_release);
    return {.called = next};
  }
  /// Under _mutex, with `called` set for it.
  [[nodiscard]] waiter* call_first() noexcept {
    waiter* const next = static_cast<waiter*>(_line.call_front());
    left_the_line();
    return next;
  }
  /// Under _mutex. Twice as long as the last one, if nobody who was called has found it free since.
  void begin_series() noexcept {
    _to_hand_over.write() = _series.read();
    _series.write() = std::min(2 * _series.read(), Tuning::longest_series);
  }
  /// Under _mutex.
  void left_the_line() noexcept {
    // relaxed: as in pass_on().
    if (_line.empty()) _word.fetch_and(~waiting, std::memory_order_relaxed);
  }

  typename Policy::template atomic<std::uint32_t> _word{0};
  typename Policy::mutex _mutex;
  // The holder's: what it will find in the word, a moment's view. Never one that give() must not clear; others_wait only with a lock that was handed over.
  typename Policy::template plain<std::uint32_t> _guess{locked};
  // Under _mutex: how often it is still handed over; and how often the next time.
  typename Policy::template plain<std::uint32_t> _to_hand_over{0};
  typename Policy::template plain<std::uint32_t> _series{Tuning::shortest_series};
  basic_wait_list<Policy> _line;
};

using lock_core = basic_lock_core<std_atomics>;

}  // namespace faio::sync
