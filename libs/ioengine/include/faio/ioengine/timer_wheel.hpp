// timer_wheel -- the deadlines of one engine: who waits until when, and who is due.
//
//   cursor, in ms, as digits of base 64:      .. | d5 d4 d3 d2 d1 d0
//
//   level 0   [ ][ ][ ] .. [ ]  64 slots of 1 ms        An entry hangs at the level of the highest digit in
//   level 1   [ ][ ][ ] .. [ ]             64 ms        which its tick (its deadline, rounded up to ms)
//   level 2   [ ][ ][ ] .. [ ]            4.1 s         differs from the cursor, in the slot of its own digit
//   level 3   [ ][ ][ ] .. [ ]            4.4 min       there. When the cursor enters a slot, the slot's
//   level 4   [ ][ ][ ] .. [ ]            4.7 h         entries now differ in a lower digit only, and move
//   level 5   [ ][ ][ ] .. [ ]           12.4 days      down (they cascade): at most six times in a life.
//   far       [ ]  differs above the six digits; looked through when the cursor gets there, every 2.2 years
//   overdue   [ ]  not ahead of the cursor when it was added: fires at the next advance
//   firing    [ ]  the batch of the advance that is running
//
// Invariants, each with a test that keeps it; timer_wheel_property_test.cpp checks all of them at random.
//   I1 The list an entry is in depends on its tick and the cursor alone. So all entries of one millisecond are in one
//      list, in the order of their adds. Test: FiresEntriesOfTheSameMillisecondInTheOrderOfTheirAdds.
//   I2 Every used slot lies ahead of the cursor's own digit: no level ever wraps, and the lowest slot of the lowest
//      used level holds the earliest entry. Test: FiresAcrossTheWrapOfTheTopLevel.
//   I3 A slot's bit in _occupied is set if and only if its list is not empty. Test: ForgetsAnEntryThatWasCancelled.
//   I4 A slot's `earliest` lies in the slot and is not after any tick in it. It is exact until the earliest entry is
//      cancelled; then it stays, a bound that costs at most one early wake-up at each level.
//      Test: WakesAtMostOnceALevelWhenEachWakeUpMeetsACancelledTimer.
//   I5 The cursor is the latest `now` it was given, rounded down to ms; it never goes back. Rounding deadlines up and
//      `now` down is what makes early firing impossible. Test: NeverFiresEarlyByANanosecond.
//   I6 What a completion adds is never in the batch that is firing: an advance ends, whatever completions do.
//      Test: AnEntryThatRearmsItselfInThePastFiresOncePerAdvance.
//
// Rejected: levels by distance (now + 64 ms is level 1, wherever the cursor's digits stand), as wheels are mostly
// drawn. Entries of one millisecond then wait at different levels, depending on when they were added, and overtake each
// other; slots wrap around the cursor, so that an entry 64 slots ahead in the top level looks like one that is due; and
// no bitmap says by itself which slot comes next. Wheels that never cascade (Linux) are late by an eighth of the delay:
// we promise 1 ms.
//
// Thread roles: everything here, each field and each function of both types, belongs to the one thread that owns the
// wheel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "faio/ioengine/clock.hpp"
#include "faio/ioengine/export.hpp"

namespace faio::ioengine {

class timer_wheel;

namespace detail {

/// A link of a circular list; a list's head is one that is no entry.
struct timer_link {
  timer_link* next = nullptr;
  timer_link* prev = nullptr;
};

}  // namespace detail

/// A timer, owned by whoever waits: derive from it, or keep it as a member. The wheel only links it, and allocates
/// nothing. It stays where it is, and alive, from `add` until it has fired or was cancelled; going away while pending
/// ends the program with a message, in release too, because the wheel would go on to write into freed memory.
class FAIO_IOENGINE_API timer_entry : private detail::timer_link {
 public:
  /// Called by `timer_wheel::advance` once the deadline has passed. The entry is no longer pending then and the wheel
  /// does not touch it afterwards: the function may add it again, or destroy it.
  using completion = void (*)(timer_entry&) noexcept;

  explicit timer_entry(completion complete) noexcept : _complete(complete) {}
  timer_entry(const timer_entry&) = delete;
  timer_entry& operator=(const timer_entry&) = delete;
  ~timer_entry() {
    if (pending()) [[unlikely]]
      die_pending();
  }

  /// Owner only. True from `add` until it fires or is cancelled.
  [[nodiscard]] bool pending() const noexcept { return next != nullptr; }

  /// Owner only. The deadline of the last `add`, as it was given.
  [[nodiscard]] time_point deadline() const noexcept { return _deadline; }

 private:
  friend class timer_wheel;
  [[noreturn]] static void die_pending() noexcept;

  time_point _deadline{};
  completion _complete;
};

/// Keeps any number of timers; add, cancel and re-arm are a few dozen instructions, whether there are ten or a million. What
/// grows with a million is the cache misses: an entry nobody touched lately, and its two neighbours, come from memory.
/// It reads no clock: time is what `advance` is told, so a test, or a runtime with virtual time, moves it by hand.
///
///     struct alarm : timer_entry {                                     // timer_wheel_test.cpp, TheExampleOfTheHeader
///       bool rang = false;
///       alarm() : timer_entry([](timer_entry& self) noexcept { static_cast<alarm&>(self).rang = true; }) {}
///     };
///     timer_wheel wheel(clock.now());
///     alarm tea;
///     wheel.add(tea, clock.now() + 3min);
///     clock.set(*wheel.next_deadline());                               // a real loop sleeps until then
///     wheel.advance(clock.now());                                      // tea.rang
class FAIO_IOENGINE_API timer_wheel {
 public:
  /// `now`: where time starts. Any time will do, also one before the clock's epoch; a recent one saves a cascade.
  explicit timer_wheel(time_point now) noexcept;
  timer_wheel(const timer_wheel&) = delete;
  timer_wheel& operator=(const timer_wheel&) = delete;

  /// Owner only. Entries that are still pending are unlinked, do not fire, and can be added to another wheel.
  /// Not from inside a completion of this wheel.
  ~timer_wheel();

  /// Owner only, also from inside a completion. The entry will fire at the first advance whose `now` has reached
  /// `deadline` rounded up to the millisecond: never early, and at most 1 ms after the deadline if advance is called
  /// then. A deadline in the past fires at the next advance (never inside the one that is running). Any deadline will
  /// do: 49 days, 200 years; `time_point::max()` never fires. The entry must not be pending: a debug assert; in release
  /// it is re-armed.
  void add(timer_entry& entry, time_point deadline) noexcept;

  /// Owner only, also from inside a completion, also for an entry that is due in the same advance.
  /// True: it was pending and will not fire. False: it was not. A pending entry must be one of this wheel.
  bool cancel(timer_entry& entry) noexcept;

  /// Owner only, also from inside a completion. As `cancel`, then `add`: pending or not, the entry will fire at
  /// `deadline`.
  void rearm(timer_entry& entry, time_point deadline) noexcept;

  /// Owner only, not from inside a completion (a debug assert; in release nothing happens). Fires what is due and gives
  /// the number fired: first what was already overdue when added, in order of the adds, then by millisecond, and within
  /// one in the order of the adds. A `now` before an earlier one counts as that earlier one. A jump of any length costs
  /// no more than the entries that it passes: empty time is skipped by bitmap, not walked. At most `most` are fired; the rest of them is pending still, and
  /// the first to be fired by the next advance.
  std::size_t advance(time_point now, std::size_t most = unlimited) noexcept;
  static constexpr std::size_t unlimited = ~std::size_t{0};
  /// Owner only. True: the last advance left some that were due.
  [[nodiscard]] bool is_behind() const noexcept { return used(firing); }

  /// Owner only. When to call `advance` next, or nothing if no entry is pending. Never after the next entry is due, and
  /// exactly then unless an earlier one in the same slot was cancelled: advancing to such a time fires nothing but
  /// moves on. In the past if something is overdue.
  [[nodiscard]] std::optional<time_point> next_deadline() const noexcept;

  /// Owner only. Unlinks an entry (of the earliest slot) and gives it to the caller, nullptr if none is pending: for
  /// handing all timers to another wheel, or ending them as cancelled.
  [[nodiscard]] timer_entry* take() noexcept;

  /// Owner only. How many entries are pending, those of the running advance that have not yet fired included.
  [[nodiscard]] std::size_t size() const noexcept { return _size; }

  /// Owner only.
  [[nodiscard]] bool empty() const noexcept { return _size == 0; }

  // -------------------------------------------------------------------------- end of the public interface

 private:
  /// Milliseconds, shifted so that the order of all time points, before the clock's epoch too, is that of unsigned
  /// numbers.
  using tick = std::uint64_t;

  struct slot : detail::timer_link {
    tick earliest = 0;
    slot() noexcept { next = prev = this; }
  };

  static constexpr unsigned digit_bits = 6;
  static constexpr unsigned levels = 6;
  static constexpr std::size_t slots_per_level = std::size_t{1} << digit_bits;
  // Indices of _slots: level * 64 + digit, then the three lists that are in no level.
  static constexpr std::size_t far = levels * slots_per_level;
  static constexpr std::size_t overdue = far + 1;
  static constexpr std::size_t firing = far + 2;

  // Owner only, all of them.
  [[nodiscard]] bool used(std::size_t index) const noexcept { return _slots[index].next != &_slots[index]; }
  [[nodiscard]] std::size_t earliest_slot() const noexcept;
  void mark(std::size_t index) noexcept;
  void unmark(std::size_t index) noexcept;
  void place(timer_entry& entry, std::size_t list_if_reached) noexcept;
  void unlink(timer_entry& entry) noexcept;
  void move_all(std::size_t from, std::size_t to) noexcept;
  void cascade(std::size_t index) noexcept;
  void collect(tick target) noexcept;

  tick _cursor;
  std::size_t _size = 0;
  bool _advancing = false;
  // One word for each level; the last for the lists beyond, so that they need no branch. Nobody reads that one.
  std::array<std::uint64_t, levels + 1> _occupied{};
  std::array<slot, firing + 1> _slots{};
};

}  // namespace faio::ioengine
