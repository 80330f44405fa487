// local_queue -- bounded FIFO of one worker: the owner pushes and pops, any other thread may take half of it.
//
//     steal      local_head          tail            head = steal:local_head, one 64-bit word; tail = 32 bits
//       v            v                 v
//   ....[ being      ][ waiting        ][ free ....  slots are used modulo Capacity
//       [ copied out ][                ]
//
// I1  steal <= local_head <= tail <= steal + Capacity, counted modulo 2^32.
// I2  [local_head, tail) hold elements that nobody has claimed.
// I3  [steal, local_head) is claimed by one taker that copies it; steal == local_head when there is none.
// I4  Only the owner writes slots, and only outside [steal, tail): so a slot is not reused under a taker.
// I5  Indices only grow, but for a refused hand-over, where the owner puts its own claim back (see push_to_full()).
//
// Roles: _tail and the slots are written by the owner only; _head by the owner and by the one taker of I3.
//
// A taker claims with one compare-and-swap (local_head forward, steal left behind), copies at leisure, and then lets
// steal catch up. Whoever sees steal != local_head takes nothing, so there is one taker at a time and its copying needs
// no further atomic. Half is rounded up: a lone element behind a long computation can be taken.
// (LocalQueue.GivesALoneTaskToAThief)
//
// Rejected: one head index, slots read before the compare-and-swap. Each stolen element then costs a contended
// compare-and-swap of its own, and slots must be atomic because a loser reads what the owner overwrites.
// Rejected: 16-bit indices in a 32-bit head. They wrap within a millisecond of pushing, and a taker that slept through
// a whole turn succeeds with a stale claim; with 32 bits it would have to sleep through 2^32 elements between two of
// its instructions. (mutant `local_queue_four_bit_indices` shows the failure with 4 bits.)
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "faio/queue/atomics.hpp"
#include "faio/queue/element.hpp"
#include "faio/queue/role.hpp"

namespace faio::queue {

template <class T, std::size_t Capacity, class Policy = std_atomics>
class local_queue {
  static_assert(element<T>, "faio::queue::local_queue<T>: T must be trivially copyable and no larger than a pointer");
  static_assert(std::has_single_bit(Capacity),
                "faio::queue::local_queue<T, Capacity>: Capacity must be a power of two");
  static_assert(Capacity >= 2 && Capacity <= 65536,
                "faio::queue::local_queue<T, Capacity>: Capacity must be 2 to 65536");

 public:
  using value_type = T;

  local_queue() noexcept : local_queue(0) {}
  /// Starts counting at `first_index`: for tests of the wrap, and harmless otherwise.
  explicit local_queue(std::uint32_t first_index) noexcept
      : _head(pack(first_index, first_index)), _tail(first_index) {}
  local_queue(const local_queue&) = delete;
  local_queue& operator=(const local_queue&) = delete;

  /// Owner only. Appends `value`; a full queue hands its older half and `value` to `overflow` in one batch.
  /// False when that was refused: the queue is as it was and `value` stays with the caller. So too when `overflow` throws.
  /// `overflow` must not use this queue: see overflow_for.
  template <class Overflow>
    requires overflow_for<Overflow, T>
  bool push_back(T value, Overflow&& overflow);

  /// Owner only. Appends `value` if there is room; false: the queue is full, and `value` stays with the caller.
  bool try_push_back(T value) {
    _role.check("local_queue::try_push_back");
    return put(_head.load(std::memory_order_acquire), value);  // acquire, pairs with [R], as in push_back()
  }

  /// Owner only. Appends all of `values`, as many as there is room for here and the rest to `overflow` in one batch.
  /// False when that was refused: nothing was taken. Allocates when there is a rest and `overflow` insists on a span that
  /// it may write to: then it gets a copy.
  template <class Overflow>
    requires overflow_for<Overflow, T>
  bool push_back_batch(std::span<const T> values, Overflow&& overflow);

  /// Owner only. Appends as many of `values` as there is room for, from the front; returns how many.
  std::size_t push_back_batch(std::span<const T> values);

  /// Owner only. The oldest element.
  std::optional<T> pop() {
    T value{};
    return pop_into(value) ? std::optional<T>(value) : std::nullopt;
  }

  /// The owner of `dst`, another thread than our owner. Moves half of this queue, rounded up, to `dst`; the oldest
  /// element is returned instead of queued. Empty when there is nothing, another taker is at work, or `dst` is more
  /// than half full.
  std::optional<T> be_stolen_by(local_queue& dst);

  /// Any thread. A moment's view; exact for the owner as long as nobody steals.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }

  /// Owner only. How many pushes will surely find room.
  std::size_t free_room() const noexcept;
  /// Any thread.
  static constexpr std::size_t capacity() noexcept { return Capacity; }

  /// The owner, or whoever is ordered after its last call: the next thread that plays the owner becomes it.
  void release_owner() noexcept { _role.release(); }

  // ---- end of the public interface ----

 private:
  using index = std::uint32_t;
  struct cursors {
    index steal;
    index local_head;
  };

  static constexpr std::uint64_t pack(index steal, index local_head) noexcept {
    return (std::uint64_t{steal} << 32) | local_head;
  }
  static constexpr index steal_of(std::uint64_t head) noexcept { return static_cast<index>(head >> 32); }
  static constexpr index local_head_of(std::uint64_t head) noexcept { return static_cast<index>(head); }
  static constexpr cursors unpack(std::uint64_t head) noexcept { return {steal_of(head), local_head_of(head)}; }
  static constexpr index forward(index from, std::size_t count) noexcept { return from + static_cast<index>(count); }
  static constexpr std::size_t distance(index from, index to) noexcept { return static_cast<index>(to - from); }
  // Not std::min: <algorithm> would be a quarter of what this header costs a user's compile (tools/compile_cost).
  static constexpr std::size_t smaller(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

  auto& slot(index at) noexcept { return _slots[at & (Capacity - 1)]; }

  /// Owner only. Room before `tail`, as of a head that is read with acquire.
  std::size_t room(index tail) const noexcept {
    // acquire, pairs with [R]: the taker has read its slots before we write them again (I4).
    const auto [steal, local_head] = unpack(_head.load(std::memory_order_acquire));
    return Capacity - distance(steal, tail);
  }

  bool put(std::uint64_t head, T value);
  /// What came of a push that found the queue full.
  enum class full { handed_over, refused, taker_came_first };
  template <class Overflow>
  [[gnu::noinline]] full push_to_full(std::uint64_t head, T value, Overflow& overflow);
  /// pop() without its optional, which g++ returns from a call through memory: 8 ns (bench/owner_bench.cpp).
  bool pop_into(T& out);

  alignas(line_size) typename Policy::template atomic<std::uint64_t> _head;
  alignas(line_size) typename Policy::template atomic<index> _tail;
  mutable role<Policy> _role;
  alignas(line_size) std::array<typename Policy::template plain<T>, Capacity> _slots;
};

template <class T, std::size_t Capacity, class Policy>
template <class Overflow>
  requires overflow_for<Overflow, T>
inline bool local_queue<T, Capacity, Policy>::push_back(T value, Overflow&& overflow) {
  _role.check("local_queue::push_back");
  for (;;) {
    // acquire, pairs with [R]: a taker has read its slots before we write them again (I4).
    const auto head = _head.load(std::memory_order_acquire);
    if (put(head, value)) return true;
    const full came = push_to_full(head, value, overflow);
    if (came != full::taker_came_first) return came == full::handed_over;
  }
}

/// Owner only. False: with this head there is no room.
template <class T, std::size_t Capacity, class Policy>
inline bool local_queue<T, Capacity, Policy>::put(std::uint64_t head, T value) {
  const index tail = _tail.load(std::memory_order_relaxed);  // relaxed: only we write it
  if (distance(steal_of(head), tail) >= Capacity) return false;
  slot(tail).write() = value;
  // [A] release, pairs with the taker's acquire of _tail: the slot is visible before the index that covers it.
  _tail.store(forward(tail, 1), std::memory_order_release);
  return true;
}

/// Owner only, on a queue that is full with `head`. Claims the older half as a taker would and offers it with `value` to
/// `overflow`; when that refuses or throws the claim is put back. Apart and by value, so that push_back() is small and keeps to registers.
template <class T, std::size_t Capacity, class Policy>
template <class Overflow>
auto local_queue<T, Capacity, Policy>::push_to_full(std::uint64_t head, T value, Overflow& overflow) -> full {
  const typename role<Policy>::inside_overflow mark(_role);
  const auto [steal, first] = unpack(head);
  // A taker is about to free half of the ring. Waiting for it would tie us to a thread that may be preempted.
  if (steal != first) return detail::hand_over<T>(overflow, {&value, 1}) ? full::handed_over : full::refused;
  constexpr index half = Capacity / 2;
  // relaxed: it claims slots that we wrote ourselves, and takers that see it leave at once (I3); who sees it in size() beside an older tail
  // says Capacity, which was true before the claim. When it fails, push_back() reads the head anew.
  if (!_head.compare_exchange_strong(head, pack(first, forward(first, half)), std::memory_order_relaxed)) {
    return full::taker_came_first;
  }
  // Ends our claim on every way out, also when the overflow throws: a claim that stays would keep takers out for ever.
  struct claim {
    local_queue& queue;
    index next;
    ~claim() {
      // release, pairs with the taker's acquire of _head: a taker that sees it also sees a tail no older (I1).
      // A plain store will do: while steal != local_head nobody but us writes _head (I3).
      queue._head.store(pack(next, next), std::memory_order_release);
    }
  } ours{*this, first};
  std::array<T, half + 1> batch;
  for (index i = 0; i < half; ++i) batch[i] = slot(forward(first, i)).read();
  batch[half] = value;
  if (!detail::hand_over<T>(overflow, batch)) return full::refused;
  ours.next = forward(first, half);
  return full::handed_over;
}

template <class T, std::size_t Capacity, class Policy>
template <class Overflow>
  requires overflow_for<Overflow, T>
bool local_queue<T, Capacity, Policy>::push_back_batch(std::span<const T> values, Overflow&& overflow) {
  _role.check("local_queue::push_back_batch");
  const std::size_t fits = smaller(values.size(), free_room());
  // The rest first: when it is refused, nothing has been taken. Room only grows meanwhile, since the overflow does not use us.
  if (fits < values.size()) {
    const typename role<Policy>::inside_overflow mark(_role);
    if (!detail::hand_over_copy<T>(overflow, values.subspan(fits))) return false;
  }
  push_back_batch(values.first(fits));
  return true;
}

template <class T, std::size_t Capacity, class Policy>
std::size_t local_queue<T, Capacity, Policy>::push_back_batch(std::span<const T> values) {
  _role.check("local_queue::push_back_batch");
  const index tail = _tail.load(std::memory_order_relaxed);  // relaxed: only we write it
  const std::size_t count = smaller(values.size(), room(tail));
  for (std::size_t i = 0; i < count; ++i) slot(forward(tail, i)).write() = values[i];
  // [A] release, as in push_back, once for the batch.
  _tail.store(forward(tail, count), std::memory_order_release);
  return count;
}

template <class T, std::size_t Capacity, class Policy>
inline bool local_queue<T, Capacity, Policy>::pop_into(T& out) {
  _role.check("local_queue::pop");
  const index tail = _tail.load(std::memory_order_relaxed);  // relaxed: only we write it
  // relaxed, here and on failure: only the numbers are used; the slots that we read are our own writes.
  auto head = _head.load(std::memory_order_relaxed);
  for (;;) {
    const index steal = steal_of(head);
    const index local_head = local_head_of(head);
    if (local_head == tail) return false;
    const index next = forward(local_head, 1);
    // While a taker copies, steal is its: it catches up with whatever local_head is then.
    const auto advanced = steal == local_head ? pack(next, next) : pack(steal, next);
    // [P] success release, pairs with the taker's acquire of _head: whoever sees this head sees a tail no older (I1).
    if (_head.compare_exchange_weak(head, advanced, std::memory_order_release, std::memory_order_relaxed)) {
      out = slot(local_head).read();
      return true;
    }
  }
}

template <class T, std::size_t Capacity, class Policy>
std::optional<T> local_queue<T, Capacity, Policy>::be_stolen_by(local_queue& dst) {
  dst._role.check("local_queue::be_stolen_by, for its destination,");
  const index dst_tail = dst._tail.load(std::memory_order_relaxed);  // relaxed: only we write it
  if (dst.room(dst_tail) < Capacity / 2) return std::nullopt;

  // acquire, pairs with [P] and [R]: makes the tail below no older than this head (I1).
  auto head = _head.load(std::memory_order_acquire);
  index first = 0;
  std::size_t count = 0;
  for (;;) {
    const auto [steal, local_head] = unpack(head);
    if (steal != local_head) return std::nullopt;
    // acquire, pairs with [A]: the slots below it are visible.
    const std::size_t waiting = distance(local_head, _tail.load(std::memory_order_acquire));
    count = waiting - waiting / 2;
    if (count == 0) return std::nullopt;
    first = local_head;
    // [T] success release, pairs with the acquire of _head in size(): who sees this head sees a tail no older (I1). No acquire: the slots came
    // with [A], and nobody may write them until [R]. failure acquire: head was reloaded.
    if (_head.compare_exchange_weak(head, pack(steal, forward(first, count)), std::memory_order_release,
                                    std::memory_order_acquire)) {
      break;
    }
  }

  const T oldest = slot(first).read();
  for (std::size_t i = 1; i < count; ++i) dst.slot(forward(dst_tail, i - 1)).write() = slot(forward(first, i)).read();

  // [R] success release, pairs with the owner's acquire of _head: our reads of the slots are over before it reuses
  // them. relaxed otherwise: only the owner's pops change head now, and the loop takes its newest local_head along.
  head = _head.load(std::memory_order_relaxed);
  for (;;) {
    const index local_head = unpack(head).local_head;
    if (_head.compare_exchange_weak(head, pack(local_head, local_head), std::memory_order_release,
                                    std::memory_order_relaxed)) {
      break;
    }
  }
  // [A] release, for those who steal from dst in turn.
  if (count > 1) dst._tail.store(forward(dst_tail, count - 1), std::memory_order_release);
  return oldest;
}

template <class T, std::size_t Capacity, class Policy>
std::size_t local_queue<T, Capacity, Policy>::size() const noexcept {
  // acquire, pairs with [P], [R] and [T]: the tail is no older than the head, so the difference is not negative.
  const auto [steal, local_head] = unpack(_head.load(std::memory_order_acquire));
  // relaxed: only its number is used.
  const index tail = _tail.load(std::memory_order_relaxed);
  // The head may be the older of the two by any amount; more than Capacity is never true.
  return smaller(distance(local_head, tail), Capacity);
}

template <class T, std::size_t Capacity, class Policy>
std::size_t local_queue<T, Capacity, Policy>::free_room() const noexcept {
  _role.check("local_queue::free_room");
  return room(_tail.load(std::memory_order_relaxed));  // relaxed: only we write it
}

}  // namespace faio::queue
