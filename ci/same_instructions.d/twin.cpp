// twin -- the pop() of local_queue written by hand with std::atomic and plain slots: no policy, no role, no template.
//
// Same fields at the same places and the same steps in the same words, so that the policy is the only difference. It follows
// libs/queue/include/faio/queue/local_queue.hpp by hand: when pop() changes there, ci/same_instructions says so, and it
// changes here. The reasons for the orders stand there.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

// Another number than 256 makes another queue: the control of the comparison.
#ifndef TWIN_CAPACITY
#define TWIN_CAPACITY 256
#endif

class twin_queue {
 public:
  [[gnu::used]] std::optional<void*> pop() {
    void* value{};
    return pop_into(value) ? std::optional<void*>(value) : std::nullopt;
  }

 private:
  using index = std::uint32_t;
  static constexpr std::uint64_t pack(index steal, index local_head) noexcept {
    return (std::uint64_t{steal} << 32) | local_head;
  }
  static constexpr index steal_of(std::uint64_t head) noexcept { return static_cast<index>(head >> 32); }
  static constexpr index local_head_of(std::uint64_t head) noexcept { return static_cast<index>(head); }
  const auto& slot(index at) noexcept { return _slots[at & (std::size_t{TWIN_CAPACITY} - 1)]; }

  bool pop_into(void*& out);

  alignas(128) std::atomic<std::uint64_t> _head;
  alignas(128) std::atomic<index> _tail;
  std::atomic<const void*> _holder;
  alignas(128) std::array<void*, TWIN_CAPACITY> _slots;
};

inline bool twin_queue::pop_into(void*& out) {
  const index tail = _tail.load(std::memory_order_relaxed);
  auto head = _head.load(std::memory_order_relaxed);
  for (;;) {
    const index steal = steal_of(head);
    const index local_head = local_head_of(head);
    if (local_head == tail) return false;
    const index next = local_head + 1;
    const auto advanced = steal == local_head ? pack(next, next) : pack(steal, next);
    if (_head.compare_exchange_weak(head, advanced, std::memory_order_release, std::memory_order_relaxed)) {
      out = slot(local_head);
      return true;
    }
  }
}
