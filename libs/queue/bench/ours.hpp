// ours -- faio's queues behind the interface that the benches use for them and for the peers alike.
//
//   push(v)  pop() -> optional        one element; for queues with an owner: the owner's ends
//   push_batch(span)  pop_batch(span) -> count
//   steal_half(from, to, about)       what a thief does in one visit: moves half of `from` to its own queue `to`, of the
//                                     same type, but for one element that it returns. `about` is how much half is, for
//                                     queues that do not know it themselves.
// A queue has those of them that its users would call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <faio/queue/deque.hpp>
#include <faio/queue/global_queue.hpp>
#include <faio/queue/local_queue.hpp>
#include <optional>
#include <span>

namespace faio::queue::bench {

using element = std::uintptr_t;
inline constexpr std::size_t ring_capacity = 256;

/// An overflow that takes what it is given and counts it.
struct spill {
  void push_batch(std::span<element> batch) noexcept { count += batch.size(); }
  std::size_t count = 0;
};

struct our_local_queue {
  void push(element value) { queue.push_back(value, spilled); }
  std::optional<element> pop() { return queue.pop(); }

  local_queue<element, ring_capacity> queue;
  spill spilled;
};

inline std::optional<element> steal_half(our_local_queue& from, our_local_queue& to, std::size_t) {
  return from.queue.be_stolen_by(to.queue);
}

struct our_deque {
  void push(element value) { queue.push(value); }
  std::optional<element> pop() { return queue.pop(); }

  deque<element> queue;
};

inline std::optional<element> steal_half(our_deque& from, our_deque& to, std::size_t) {
  return from.queue.steal_batch(to.queue);
}

struct our_global_queue {
  void push(element value) { queue.push(value); }
  std::optional<element> pop() { return queue.try_pop(); }
  void push_batch(std::span<const element> values) { queue.push_batch(values); }
  std::size_t pop_batch(std::span<element> out) { return queue.try_pop_batch(out); }

  global_queue<element> queue;
};

}  // namespace faio::queue::bench
