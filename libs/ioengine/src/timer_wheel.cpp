// timer_wheel -- placing, cascading, firing. The picture and the invariants I1 to I6 are in the header.
#include "faio/ioengine/timer_wheel.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace faio::ioengine {

static_assert(sizeof(timer_entry) == 32,
              "two entries to a cache line: at a million timers the cache misses are the cost");

namespace {

using std::chrono::milliseconds;

// Added to signed milliseconds, it makes them unsigned ticks in the same order. No digit of a wheel level is touched.
constexpr std::uint64_t epoch = std::uint64_t{1} << 63;

std::uint64_t to_tick(milliseconds time) noexcept { return static_cast<std::uint64_t>(time.count()) + epoch; }

std::uint64_t round_down(time_point time) noexcept {
  return to_tick(std::chrono::floor<milliseconds>(time.time_since_epoch()));
}

std::uint64_t round_up(time_point time) noexcept {
  return to_tick(std::chrono::ceil<milliseconds>(time.time_since_epoch()));
}

time_point to_time(std::uint64_t tick) noexcept {
  const milliseconds time(static_cast<milliseconds::rep>(tick - epoch));
  // The tick after time_point::max(), to which that is rounded up, is no time point.
  if (time > std::chrono::floor<milliseconds>(time_point::max().time_since_epoch())) return time_point::max();
  return time_point(time);
}

}  // namespace

void timer_entry::die_pending() noexcept {
  std::fputs("faio: a timer_entry was destroyed while pending; cancel it first\n", stderr);
  std::abort();
}

timer_wheel::timer_wheel(time_point now) noexcept : _cursor(round_down(now)) {}

timer_wheel::~timer_wheel() {
  assert(!_advancing && "a completion destroyed the timer_wheel that is calling it");
  while (take() != nullptr) {
  }
}

void timer_wheel::add(timer_entry& entry, time_point deadline) noexcept {
  assert(!entry.pending() && "add of a timer_entry that is already pending; rearm is the call that moves it");
  rearm(entry, deadline);
}

bool timer_wheel::cancel(timer_entry& entry) noexcept {
  if (!entry.pending()) return false;
  unlink(entry);
  --_size;
  return true;
}

void timer_wheel::rearm(timer_entry& entry, time_point deadline) noexcept {
  cancel(entry);
  entry._deadline = deadline;
  place(entry, overdue);
  ++_size;
}

std::size_t timer_wheel::advance(time_point now, std::size_t most) noexcept {
  assert(!_advancing && "advance was called from inside a completion");
  if (_advancing) return 0;
  _advancing = true;
  collect(round_down(now));
  // The cursor stands at `now` before the first completion runs: what completions add goes to other lists than the
  // batch (I6), and what they cancel is simply no longer in it.
  std::size_t fired = 0;
  while (used(firing) && fired < most) {
    auto& entry = static_cast<timer_entry&>(*_slots[firing].next);
    cancel(entry);
    ++fired;
    entry._complete(entry);  // from here on the entry may be gone
  }
  _advancing = false;
  return fired;
}

std::optional<time_point> timer_wheel::next_deadline() const noexcept {
  if (empty()) return std::nullopt;
  if (!used(firing) && !used(overdue)) return to_time(_slots[earliest_slot()].earliest);
  tick earliest = _cursor;
  if (used(firing)) earliest = std::min(earliest, _slots[firing].earliest);
  if (used(overdue)) earliest = std::min(earliest, _slots[overdue].earliest);
  return to_time(earliest);
}

timer_entry* timer_wheel::take() noexcept {
  if (empty()) return nullptr;
  const std::size_t index = used(firing) ? firing : used(overdue) ? overdue : earliest_slot();
  auto& entry = static_cast<timer_entry&>(*_slots[index].next);
  cancel(entry);
  return &entry;
}

// The slot ahead of all others (I2): it may be unused only if it is `far`.
std::size_t timer_wheel::earliest_slot() const noexcept {
  for (std::size_t level = 0; level < levels; ++level)
    if (_occupied[level] != 0)
      return level * slots_per_level + static_cast<std::size_t>(std::countr_zero(_occupied[level]));
  return far;
}

void timer_wheel::mark(std::size_t index) noexcept {
  _occupied[index / slots_per_level] |= std::uint64_t{1} << (index % slots_per_level);
}

void timer_wheel::unmark(std::size_t index) noexcept {
  _occupied[index / slots_per_level] &= ~(std::uint64_t{1} << (index % slots_per_level));
}

// Hangs an unlinked entry where I1 says, or into `list_if_reached` if the cursor is already there.
void timer_wheel::place(timer_entry& entry, std::size_t list_if_reached) noexcept {
  const tick when = round_up(entry._deadline);
  std::size_t index = list_if_reached;
  if (when > _cursor) {
    const auto level = static_cast<unsigned>(std::bit_width(when ^ _cursor) - 1) / digit_bits;
    index = level < levels ? level * slots_per_level + (when >> (level * digit_bits)) % slots_per_level : far;
  }
  slot& list = _slots[index];
  if (!used(index) || when < list.earliest) list.earliest = when;
  mark(index);
  entry.next = &list;
  entry.prev = list.prev;
  list.prev->next = &entry;
  list.prev = &entry;
}

void timer_wheel::unlink(timer_entry& entry) noexcept {
  detail::timer_link* const next = entry.next;
  detail::timer_link* const prev = entry.prev;
  next->prev = prev;
  prev->next = next;
  entry.next = entry.prev = nullptr;
  // Neighbours on both sides are one: it is the head of a list that is now empty. So an entry need not know its slot.
  if (next == prev) {
    const auto index = static_cast<std::size_t>(static_cast<slot*>(next) - _slots.data());
    assert(index < _slots.size() && "cancel of a timer_entry that is pending in another wheel");
    unmark(index);
  }
}

// Appends one list to another, in order.
void timer_wheel::move_all(std::size_t from, std::size_t to) noexcept {
  if (!used(from)) return;
  slot& source = _slots[from];
  slot& target = _slots[to];
  target.earliest = used(to) ? std::min(target.earliest, source.earliest) : source.earliest;
  mark(to);
  source.next->prev = target.prev;
  source.prev->next = &target;
  target.prev->next = source.next;
  target.prev = source.prev;
  source.next = source.prev = &source;
  unmark(from);
}

// Places the entries of a slot anew, in order, after the cursor has entered it. Those of `far` may come back to `far`.
void timer_wheel::cascade(std::size_t index) noexcept {
  slot& list = _slots[index];
  detail::timer_link* link = list.next;
  list.prev->next = nullptr;
  list.next = list.prev = &list;
  unmark(index);
  while (link != nullptr) {
    auto& entry = static_cast<timer_entry&>(*link);
    link = link->next;
    place(entry, firing);
  }
}

// Moves the cursor to `target`, and everything that is due by then into `firing`, in order.
void timer_wheel::collect(tick target) noexcept {
  move_all(overdue, firing);
  for (;;) {
    const std::size_t index = earliest_slot();
    const std::size_t level = index / slots_per_level;  // `far` counts as the level above
    const tick earliest = _slots[index].earliest;
    if (!used(index) || (earliest >> (level * digit_bits)) > (target >> (level * digit_bits))) break;
    // Straight to the earliest entry, not to where the slot begins: nobody is in between (I4), and entries that sink to
    // where they belong at once cascade less often.
    _cursor = std::min(earliest, target);
    if (level == 0)
      move_all(index, firing);
    else
      cascade(index);
  }
  _cursor = std::max(_cursor, target);
}

}  // namespace faio::ioengine
