// peers -- what one would take instead of faio's queues, behind the interface of ours.hpp.
//
// FAIO_BENCH_MOODYCAMEL and FAIO_BENCH_TBB are set where the build found them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>

#include "ours.hpp"

#ifdef FAIO_BENCH_MOODYCAMEL
#include <concurrentqueue.h>
#endif
#ifdef FAIO_BENCH_TBB
#include <tbb/concurrent_queue.h>
#endif

namespace faio::queue::bench {

class mutex_deque {
 public:
  void push(element value) {
    const std::lock_guard lock(_mutex);
    _deque.push_back(value);
  }
  std::optional<element> pop() {
    const std::lock_guard lock(_mutex);
    if (_deque.empty()) return std::nullopt;
    const element value = _deque.front();
    _deque.pop_front();
    return value;
  }
  void push_batch(std::span<const element> values) {
    const std::lock_guard lock(_mutex);
    _deque.insert(_deque.end(), values.begin(), values.end());
  }
  std::size_t pop_batch(std::span<element> out) {
    const std::lock_guard lock(_mutex);
    return take(std::min(out.size(), _deque.size()), out);
  }
  std::size_t take_half(std::span<element> out) {
    const std::lock_guard lock(_mutex);
    return take(std::min(out.size(), _deque.size() - _deque.size() / 2), out);
  }

 private:
  std::size_t take(std::size_t count, std::span<element> out) {
    const auto end = _deque.begin() + static_cast<std::ptrdiff_t>(count);
    std::copy(_deque.begin(), end, out.begin());
    _deque.erase(_deque.begin(), end);
    return count;
  }

  std::mutex _mutex;
  std::deque<element> _deque;
};

/// For one thread: the distance of the others to it is what they pay for being shared.
class plain_ring {
 public:
  void push(element value) {
    if (_tail - _head < ring_capacity) _slots[_tail++ % ring_capacity] = value;
  }
  std::optional<element> pop() {
    if (_head == _tail) return std::nullopt;
    return _slots[_head++ % ring_capacity];
  }
  std::size_t take_half(std::span<element> out) {
    const std::size_t count = std::min(out.size(), (_tail - _head + 1) / 2);
    for (std::size_t i = 0; i < count; ++i) out[i] = _slots[_head++ % ring_capacity];
    return count;
  }
  void push_batch(std::span<const element> values) {
    for (const element each : values) push(each);
  }

 private:
  std::size_t _head = 0;
  std::size_t _tail = 0;
  std::array<element, ring_capacity> _slots{};
};

#ifdef FAIO_BENCH_MOODYCAMEL
/// Called as its README begins: no tokens.
struct moodycamel_queue {
  void push(element value) { queue.enqueue(value); }
  std::optional<element> pop() {
    element value = 0;
    return queue.try_dequeue(value) ? std::optional(value) : std::nullopt;
  }
  void push_batch(std::span<const element> values) { queue.enqueue_bulk(values.data(), values.size()); }
  std::size_t pop_batch(std::span<element> out) { return queue.try_dequeue_bulk(out.data(), out.size()); }

  moodycamel::ConcurrentQueue<element> queue;
};

/// With a token for each thread and direction, its fastest way: threads use it through a session.
struct moodycamel_with_tokens {
  struct session {
    explicit session(moodycamel_with_tokens& host) : queue(host.queue), producer(host.queue), consumer(host.queue) {}
    void push(element value) { queue.enqueue(producer, value); }
    std::optional<element> pop() {
      element value = 0;
      return queue.try_dequeue(consumer, value) ? std::optional(value) : std::nullopt;
    }
    void push_batch(std::span<const element> values) { queue.enqueue_bulk(producer, values.data(), values.size()); }
    std::size_t pop_batch(std::span<element> out) { return queue.try_dequeue_bulk(consumer, out.data(), out.size()); }

    moodycamel::ConcurrentQueue<element>& queue;
    moodycamel::ProducerToken producer;
    moodycamel::ConsumerToken consumer;
  };
  moodycamel::ConcurrentQueue<element> queue;
};
#endif

#ifdef FAIO_BENCH_TBB
/// Neither of TBB's has calls for batches.
template <class Queue>
struct tbb_peer {
  void push(element value) { queue.push(value); }
  std::optional<element> pop() {
    element value = 0;
    return queue.try_pop(value) ? std::optional(value) : std::nullopt;
  }

  Queue queue;
};
using tbb_queue = tbb_peer<tbb::concurrent_queue<element>>;
using tbb_bounded_queue = tbb_peer<tbb::concurrent_bounded_queue<element>>;
#endif

/// The most that a thief carries in one visit.
inline constexpr std::size_t most_stolen = ring_capacity / 2;

template <class Queue>
std::optional<element> steal_half(Queue& from, Queue& to, std::size_t about) {
  if constexpr (requires { from.push_batch({}); }) {
    std::array<element, most_stolen> loot;
    std::size_t count = 0;
    if constexpr (requires { from.take_half(loot); }) {
      count = from.take_half(loot);
    } else {
      count = from.pop_batch(std::span(loot).first(about));
    }
    if (count == 0) return std::nullopt;
    to.push_batch(std::span(loot).first(count).subspan(1));
    return loot[0];
  } else {
    const std::optional<element> oldest = from.pop();
    if (!oldest) return std::nullopt;
    for (std::size_t i = 1; i < about; ++i) {
      const std::optional<element> next = from.pop();
      if (!next) break;
      to.push(*next);
    }
    return oldest;
  }
}

/// How a thread reaches a queue: the queue itself, or the session that it asks for.
template <class Queue>
decltype(auto) enter(Queue& queue) {
  if constexpr (requires { typename Queue::session; }) {
    return typename Queue::session(queue);
  } else {
    return (queue);
  }
}

}  // namespace faio::queue::bench
