// deque -- unbounded work-stealing deque: the owner pushes and pops one end, any thread takes from the other.
//
//      top                     bottom
//       v                        v
//   ....[ oldest ..... newest    ].....     slots are used modulo the buffer's capacity
//       thieves take              the owner pushes and pops
//
// I1  top <= bottom + 1; the elements are [top, bottom). Both are 64 bits wide: they do not wrap.
// I2  Only the owner writes bottom, slots and _buffer; top only grows, by compare-and-swap.
// I3  Index i is taken once: by the owner alone when i > top, else by the winner of the compare-and-swap of top i -> i+1.
// I4  A buffer is never changed after it was replaced: a thief that still holds it reads there what the new one has.
// I5  A replaced buffer is freed only when no thief is inside that could hold it.
//
// The owner's pop and a steal both store and then load, so all four accesses are seq_cst:
//     pop:    bottom = b   [C], then reads top
//     steal:  reads top, which earlier steals have moved, then reads bottom   [D]
// If pop reads a top below b, then a thief that reads top == b, which a later compare-and-swap wrote, comes after that read
// in the one order of seq_cst operations, and its read of bottom later still: it sees b, and leaves index b alone.
// The orders sit on the operations, not on fences: TSan understands them, and an exchange costs less than mfence.
//
// A Policy with thieves_pay has [C] without the exchange, half of what a pop costs, and instead a heavy_barrier() between the two
// reads of a steal: every thread passes a full barrier during it (libs/statemachine/asymmetric_barrier.hpp). If the owner passes its own
// after bottom = b, the thief reads that b and leaves index b alone; if before, the owner's read of top, which follows, sees the
// top == b that the thief had read. A batch then pays for each element: its next top is as new as its own compare-and-swap. The scheduler
// does so: pops are its hottest step, steals are microseconds anyway.
//
// Buffers: a thief announces itself, then reads _buffer; the owner replaces _buffer, then looks for announcements [E]. Again
// a store and then a load on both sides, again seq_cst. Steals are rare and write top's line anyway: the count costs little.
//
// Rejected: bottom and top as halves of one word, a pop being one fetch_sub. The owner's pops do not advance top, so a
// word recurs, and a thief whose compare-and-swap succeeds may hold a slot's old value: it must read the slot after the
// compare-and-swap, when the owner may already reuse it.
// Rejected: keeping every replaced buffer until the end. It doubles the memory of a deque that grew once, for good.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "faio/queue/atomics.hpp"
#include "faio/queue/element.hpp"
#include "faio/queue/role.hpp"

namespace faio::queue {

template <class T, class Policy = std_atomics>
class deque {
  static_assert(element<T>, "faio::queue::deque<T>: T must be trivially copyable and no larger than a pointer");
  // A thief reads a slot that the owner may be writing: each is one access of the machine, not a call of libatomic.
  static_assert(std::atomic<T>::is_always_lock_free,
                "faio::queue::deque<T>: T must be of a size that is always lock-free, 1, 2, 4 or 8 bytes");

 public:
  using value_type = T;

  deque() : deque(64) {}
  /// Room for `capacity` elements, rounded up to a power of two, before it grows for the first time.
  explicit deque(std::size_t capacity)
      : _own(Policy::template make<buffer>(std::bit_ceil(std::max<std::size_t>(capacity, 2)))), _buffer(_own) {}
  /// Nobody may be stealing any more.
  ~deque() {
    free_retired();
    Policy::destroy(_own);
  }
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;

  /// Owner only. Grows when full; the only step that allocates.
  void push(T value);
  /// Owner only. value(0) to value(count - 1), of which the last will be popped first. Thieves see all of them or none. Grows before it asks for the first.
  template <class Values>
  void push_all(std::size_t count, Values value);

  /// Owner only. The newest element.
  std::optional<T> pop() {
    T value{};
    return pop_into(value) ? std::optional<T>(value) : std::nullopt;
  }
  /// The same without the optional, which g++ returns from a call through memory: 8 ns (bench/owner_bench.cpp). False: there was none.
  bool pop_into(T& out);

  /// Any thread. The oldest element; empty when it saw none.
  std::optional<T> steal();

  /// The owner of `dst`, another thread than our owner. Takes up to half of the elements, rounded up, one
  /// compare-and-swap each (the owner takes from the other end without one, so a range cannot be claimed at once);
  /// returns the oldest, pushes the rest to `dst`. Takes fewer when there is no memory for `dst` to grow: nothing is lost.
  std::optional<T> steal_batch(deque& dst);

  /// Any thread. A moment's view; exact for the owner as long as nobody steals.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }

  /// Owner only.
  std::size_t capacity() const noexcept {
    _role.check("deque::capacity");
    return static_cast<std::size_t>(_own->mask) + 1;
  }

  /// The owner, or whoever is ordered after its last call: the next thread that plays the owner becomes it.
  void release_owner() noexcept { _role.release(); }

  // ---- end of the public interface ----

 private:
  using index = std::int64_t;
  static constexpr bool thieves_pay = requires { requires Policy::thieves_pay; };

  struct buffer {
    explicit buffer(std::size_t capacity)
        : mask(static_cast<index>(capacity) - 1), slots(std::make_unique<slot_type[]>(capacity)) {}
    using slot_type = typename Policy::template atomic<T>;
    slot_type& slot(index at) noexcept { return slots[static_cast<std::size_t>(at & mask)]; }

    const index mask;
    const std::unique_ptr<slot_type[]> slots;
    buffer* older = nullptr;  // the owner's list of replaced buffers
  };

  /// Announces a thief for as long as it may hold a buffer.
  class visit {
   public:
    explicit visit(deque& host) noexcept : _host(host) {
      // [E] seq_cst: before the read of _buffer, against the owner's replacing it and looking here.
      _host._thieves.fetch_add(1, std::memory_order_seq_cst);
    }
    ~visit() {
      // [F] release, pairs with the owner's look: our reads of the buffer are over before it is freed.
      _host._thieves.fetch_sub(1, std::memory_order_release);
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

   private:
    deque& _host;
  };

  bool take_last(T& out, index top);
  bool steal_as_visitor(T& out, index& seen);
  void make_room(index last);
  bool has_room();
  void grow(index top, index bottom);
  void free_retired() noexcept;

  // The thieves' line.
  alignas(line_size) typename Policy::template atomic<index> _top{0};
  typename Policy::template atomic<std::uint32_t> _thieves{0};
  // Written by the owner, read by thieves.
  alignas(line_size) typename Policy::template atomic<index> _bottom{0};
  // The owner's alone: its buffer, replaced ones, and a top that it has seen and that spares it the thieves' line.
  buffer* _own;
  buffer* _retired = nullptr;
  index _top_seen = 0;
  mutable role<Policy> _role;
  typename Policy::template atomic<buffer*> _buffer;
};

template <class T, class Policy>
inline void deque<T, Policy>::push(T value) {
  _role.check("deque::push");
  const index bottom = _bottom.load(std::memory_order_relaxed);  // relaxed: only we write it
  if (bottom - _top_seen > _own->mask) make_room(bottom);
  // relaxed: published by [B]. Atomic, because a thief that will lose its compare-and-swap may be reading it.
  _own->slot(bottom).store(value, std::memory_order_relaxed);
  // [B] release, pairs with the thief's read of bottom: the slot and the buffer are visible before the index that
  // covers them.
  _bottom.store(bottom + 1, std::memory_order_release);
}

template <class T, class Policy>
template <class Values>
inline void deque<T, Policy>::push_all(std::size_t count, Values value) {
  _role.check("deque::push_all");
  const index bottom = _bottom.load(std::memory_order_relaxed);  // relaxed: only we write it
  const index end = bottom + static_cast<index>(count);
  if (end - _top_seen > _own->mask + 1) [[unlikely]]
    make_room(end - 1);
  buffer& own = *_own;
  // relaxed, as in push(): one [B] publishes them all, and spares a store and its load for each.
  for (std::size_t i = 0; i < count; ++i)
    own.slot(bottom + static_cast<index>(i)).store(value(i), std::memory_order_relaxed);
  _bottom.store(end, std::memory_order_release);  // [B]
}

template <class T, class Policy>
inline bool deque<T, Policy>::pop_into(T& out) {
  _role.check("deque::pop");
  const index bottom = _bottom.load(std::memory_order_relaxed) - 1;  // relaxed: only we write it
  index top = 0;
  // [C] seq_cst store-then-load, against [D]; see the top of this file.
  if constexpr (thieves_pay) {
    // release: a thief that reads it reads the slots beneath, as from [B].
    _bottom.store(bottom, std::memory_order_release);
    Policy::light_barrier();
    top = _top.load(std::memory_order_relaxed);  // relaxed: the barrier orders it
  } else {
    // An exchange costs more than a look. relaxed: top only grows, so what looks empty is, and what looks like the last one is that or gone.
    top = _top.load(std::memory_order_relaxed);
    if (top > bottom) return false;
    // The last one: whoever moves top has it (I3), and bottom is right either way. So the owner takes it as a thief would, without [C].
    if (top == bottom) return take_last(out, top);
    _bottom.exchange(bottom, std::memory_order_seq_cst);
    top = _top.load(std::memory_order_seq_cst);
  }
  if (top < bottom) [[likely]] {
    out = _own->slot(bottom).load(std::memory_order_relaxed);  // relaxed: our own write
    return true;
  }
  // It is the last one, or there is none.
  const bool won = top == bottom && take_last(out, top);
  // relaxed: it makes nothing visible; a thief that reads it finds top == bottom, or fails with an older top.
  _bottom.store(bottom + 1, std::memory_order_relaxed);
  return won;
}

/// Owner only. The element at `top`, which thieves want too. True: won.
template <class T, class Policy>
inline bool deque<T, Policy>::take_last(T& out, index top) {
  out = _own->slot(top).load(std::memory_order_relaxed);  // relaxed: our own write
  // relaxed: it decides who has it and hands nothing over; that it is one step is enough.
  return _top.compare_exchange_strong(top, top + 1, std::memory_order_relaxed);
}

template <class T, class Policy>
std::optional<T> deque<T, Policy>::steal() {
  // A look from outside first: most attempts find nothing, and should not write top's line.
  if (empty()) return std::nullopt;
  const visit inside(*this);
  T value{};
  index seen = 0;
  return steal_as_visitor(value, seen) ? std::optional<T>(value) : std::nullopt;
}

template <class T, class Policy>
std::optional<T> deque<T, Policy>::steal_batch(deque& dst) {
  dst._role.check("deque::steal_batch, for its destination,");
  if (empty()) return std::nullopt;
  const visit inside(*this);
  T oldest{};
  index seen = 0;
  if (!steal_as_visitor(oldest, seen)) return std::nullopt;
  for (index more = seen - seen / 2 - 1; more > 0 && dst.has_room(); --more) {
    T next{};
    if (!steal_as_visitor(next, seen)) break;
    dst.push(next);
  }
  return oldest;
}

/// Any thread, inside a visit. `seen` is how many elements there were.
template <class T, class Policy>
bool deque<T, Policy>::steal_as_visitor(T& out, index& seen) {
  for (;;) {
    // [D] seq_cst, this one and the next: against [C].
    index top = _top.load(std::memory_order_seq_cst);
    if constexpr (thieves_pay) Policy::heavy_barrier();
    const index bottom = _bottom.load(std::memory_order_seq_cst);
    seen = bottom - top;
    if (seen <= 0) return false;
    // [E] seq_cst: after our announcement, against the owner's replacing it.
    buffer* const from = _buffer.load(std::memory_order_seq_cst);
    // relaxed: the slot came with [B] through bottom; a value that the owner overwrote meanwhile fails the next step.
    out = from->slot(top).load(std::memory_order_relaxed);
    // [G] release, pairs with push(): the slot is read before it is used again. The order of [C] and [D] is in the loads of
    // top on either side of this step. failure relaxed: we start anew.
    if (_top.compare_exchange_strong(top, top + 1, std::memory_order_release, std::memory_order_relaxed)) return true;
  }
}

/// Owner only, when what it has seen of top leaves no room for a push to index `last`.
template <class T, class Policy>
inline void deque<T, Policy>::make_room(index last) {
  // acquire, pairs with [G]: that thief has read the slot before we write it again.
  _top_seen = _top.load(std::memory_order_acquire);
  // relaxed: only we write it.
  while (last - _top_seen > _own->mask) grow(_top_seen, _bottom.load(std::memory_order_relaxed));
}

/// Owner only. Whether a push will find room, after growing if need be; false when there is no memory for that.
template <class T, class Policy>
bool deque<T, Policy>::has_room() {
  const index bottom = _bottom.load(std::memory_order_relaxed);  // relaxed: only we write it
  try {
    if (bottom - _top_seen > _own->mask) make_room(bottom);
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // grow() changes nothing before it has its memory
  }
}

template <class T, class Policy>
void deque<T, Policy>::grow(index top, index bottom) {
  buffer* const bigger = Policy::template make<buffer>(2 * capacity());
  // relaxed: our own writes, published by the next line.
  for (index i = top; i < bottom; ++i) {
    bigger->slot(i).store(_own->slot(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  _own->older = _retired;
  _retired = _own;
  _own = bigger;
  // [E] seq_cst store-then-load: a thief that we do not see inside will see the new buffer.
  _buffer.store(bigger, std::memory_order_seq_cst);
  // acquires [F]: the thieves that were inside have read what they wanted.
  if (_thieves.load(std::memory_order_seq_cst) == 0) free_retired();
}

template <class T, class Policy>
void deque<T, Policy>::free_retired() noexcept {
  while (_retired != nullptr) {
    buffer* const next = _retired->older;
    Policy::destroy(_retired);
    _retired = next;
  }
}

template <class T, class Policy>
std::size_t deque<T, Policy>::size() const noexcept {
  // relaxed, both: only the numbers are used. Who knows of a push reads a bottom that counts it; top may be of any age.
  const index top = _top.load(std::memory_order_relaxed);
  const index bottom = _bottom.load(std::memory_order_relaxed);
  return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
}

}  // namespace faio::queue
