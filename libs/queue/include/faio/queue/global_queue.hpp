// global_queue -- unbounded FIFO that every thread may push to and pop from; asking whether it is empty takes no lock.
//
//   push, push_batch ──> [ mutex: ring, grows and shrinks ] ──> try_pop, try_pop_batch
//                              │ size, written under the lock
//                              └──> size(), empty(), and the first look of try_pop: one load
//
// I1  _ring and _closed are touched only under _mutex.
// I2  _size is written only under _mutex, and equals the ring's when the mutex is free.
// I3  Nothing enters after close(): a refused element was never in the ring.
//
// The look without a lock: a thread for which a push happened before (it was told of it) reads a size that counts this
// push or a later change, because _size has one order of changes; so "empty" is never a stale answer to somebody who
// knows better. For a thread that goes to sleep on "empty", the order against the pusher's look for sleepers is
// libs/statemachine's work.
//
// Rejected: a lock-free linked queue. Workers come here with batches (one lock for 64 elements is under 1 ns each, see
// bench/), the emptiness look is what runs hot, and memory that several threads unlink needs a reclamation scheme.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "faio/queue/atomics.hpp"
#include "faio/queue/element.hpp"
#include "faio/queue/std_mutex.hpp"

namespace faio::queue {

namespace detail {

/// A growing ring of plain elements, for one thread at a time. When it runs empty it gives back memory that it
/// did not need since it was last empty.
template <class T>
class ring {
 public:
  std::size_t size() const noexcept { return _size; }

  void append(std::span<const T> values) {
    if (_size + values.size() > _capacity) grow(_size + values.size());
    const std::size_t end = (_first + _size) & (_capacity - 1);
    const std::size_t straight = std::min(values.size(), _capacity - end);
    std::copy_n(values.data(), straight, _slots.get() + end);
    std::copy_n(values.data() + straight, values.size() - straight, _slots.get());
    _size += values.size();
  }

  /// One element: without the calls of memmove that a span of unknown length costs, under the lock.
  void append(T value) {
    if (_size == _capacity) grow(_size + 1);
    _slots[(_first + _size) & (_capacity - 1)] = value;
    ++_size;
  }
  std::size_t take(T& out) noexcept {
    if (_size == 0) return 0;
    out = _slots[_first];
    drop(1);
    return 1;
  }

  /// Moves the oldest elements to `out`, as many as it has room for; returns how many.
  std::size_t take(std::span<T> out) noexcept {
    const std::size_t count = std::min(out.size(), _size);
    const std::size_t straight = std::min(count, _capacity - _first);
    std::copy_n(_slots.get() + _first, straight, out.data());
    std::copy_n(_slots.get(), count - straight, out.data() + straight);
    drop(count);
    return count;
  }

 private:
  static constexpr std::size_t smallest = 64;
  /// 64 KiB of pointers: so much is kept in any case.
  static constexpr std::size_t kept_when_empty = 8192;

  /// The `count` oldest have been copied out.
  void drop(std::size_t count) noexcept {
    _most = std::max(_most, _size);
    _first = (_first + count) & (_capacity - 1);
    _size -= count;
    if (_size > 0) return;
    // After an episode that did not need it, not after each: bursts that come again would allocate again, which costs
    // four times what the elements do (bench/global_bench.cpp).
    if (_capacity > kept_when_empty && _most <= _capacity / 4) {
      _slots.reset();
      _capacity = 0;
      _first = 0;
    }
    _most = 0;
  }

  void grow(std::size_t needed) {
    const std::size_t capacity = std::bit_ceil(std::max(needed, smallest));
    auto slots = std::make_unique_for_overwrite<T[]>(capacity);
    const std::size_t straight = std::min(_size, _capacity - _first);
    std::copy_n(_slots.get() + _first, straight, slots.get());
    std::copy_n(_slots.get(), _size - straight, slots.get() + straight);
    _slots = std::move(slots);
    _capacity = capacity;
    _first = 0;
  }

  std::unique_ptr<T[]> _slots;
  std::size_t _capacity = 0;  // zero, or a power of two
  std::size_t _first = 0;
  std::size_t _size = 0;
  std::size_t _most = 0;  // that it held since it was last empty, up to the last take
};

}  // namespace detail

template <class T, class Policy = std_atomics>
class global_queue {
  static_assert(element<T>, "faio::queue::global_queue<T>: T must be trivially copyable and no larger than a pointer");

 public:
  using value_type = T;

  global_queue() = default;
  global_queue(const global_queue&) = delete;
  global_queue& operator=(const global_queue&) = delete;

  /// Any thread. False after close(): the element stays with the caller.
  bool push(T value) { return put(value); }

  /// Any thread. All of them in this order, or false after close() and none.
  bool push_batch(std::span<const T> values) { return put(values); }

  /// Any thread. The oldest element; no lock when there is none.
  std::optional<T> try_pop() {
    T value{};
    return get(value) == 1 ? std::optional<T>(value) : std::nullopt;
  }

  /// Any thread. Up to `out.size()` of the oldest elements into `out`; returns how many.
  std::size_t try_pop_batch(std::span<T> out) { return get(out); }
  /// Any thread. Up to `most` of the oldest elements.
  std::vector<T> try_pop_batch(std::size_t most);

  /// Any thread, any number of times. Pushes are refused from now on, pops drain what is left.
  void close();
  /// Any thread.
  bool closed() const;

  /// Any thread, no lock. A moment's view; never older than what the caller knows of.
  std::size_t size() const noexcept {
    // relaxed: a number that hands nothing over; the mutex does that. See above why it is not a stale one.
    return _size.load(std::memory_order_relaxed);
  }
  bool empty() const noexcept { return size() == 0; }

  // ---- end of the public interface ----

 private:
  /// One element or a span of them, which the ring's overloads tell apart.
  template <class Values>
  bool put(Values values);
  template <class Out>
  std::size_t get(Out&& out);

  alignas(line_size) typename Policy::template atomic<std::size_t> _size{0};
  alignas(line_size) mutable typename Policy::mutex _mutex;
  typename Policy::template plain<detail::ring<T>> _ring;
  typename Policy::template plain<bool> _closed{false};
};

template <class T, class Policy>
template <class Values>
bool global_queue<T, Policy>::put(Values values) {
  const std::lock_guard lock(_mutex);
  if (_closed.read()) return false;
  _ring.write().append(values);
  _size.store(_ring.read().size(), std::memory_order_relaxed);  // relaxed: as in size()
  return true;
}

template <class T, class Policy>
template <class Out>
std::size_t global_queue<T, Policy>::get(Out&& out) {
  if (empty()) return 0;
  const std::lock_guard lock(_mutex);
  const std::size_t count = _ring.write().take(out);
  _size.store(_ring.read().size(), std::memory_order_relaxed);  // relaxed: as in size()
  return count;
}

template <class T, class Policy>
std::vector<T> global_queue<T, Policy>::try_pop_batch(std::size_t most) {
  std::vector<T> out(std::min(most, size()));
  out.resize(try_pop_batch(std::span<T>(out)));
  return out;
}

template <class T, class Policy>
void global_queue<T, Policy>::close() {
  const std::lock_guard lock(_mutex);
  _closed.write() = true;
}

template <class T, class Policy>
bool global_queue<T, Policy>::closed() const {
  const std::lock_guard lock(_mutex);
  return _closed.read();
}

}  // namespace faio::queue
