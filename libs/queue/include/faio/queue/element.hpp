// element -- what may be put into a queue, and how elements that a queue has no room for leave it.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace faio::queue {

/// Small enough to be copied like a pointer, without code that could run or fail while a thief copies it.
template <class T>
concept element = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T> && sizeof(T) <= sizeof(void*);

/// Takes elements that found no room: a global_queue, or anything with push_batch(std::span<T>). When that call returns
/// false the elements stay where they were; a call that returns nothing takes them always. It runs in the middle of a push and must not use the
/// queue that it is called from, but for size() and empty(): elements would be lost, or come out twice. A debug build stops there.
/// (RoleDeathTest.StopsAnOverflowThatUsesTheQueueItIsCalledFrom)
template <class Overflow, class T>
concept overflow_for = requires(Overflow& overflow, std::span<T> batch) { overflow.push_batch(batch); };

/// An overflow that takes nothing: push_back() on a full queue then answers false.
struct no_overflow_t {
  template <class T>
  bool push_batch(std::span<T>) const noexcept {
    return false;
  }
};
inline constexpr no_overflow_t no_overflow;

namespace detail {

/// Offers `batch` to `overflow`; false when it was refused.
template <class T, class Overflow>
bool hand_over(Overflow& overflow, std::span<T> batch) {
  if constexpr (std::is_void_v<decltype(overflow.push_batch(batch))>) {
    overflow.push_batch(batch);
    return true;
  } else {
    return static_cast<bool>(overflow.push_batch(batch));
  }
}

/// The same for elements that are not ours to be written to.
template <class T, class Overflow>
bool hand_over_copy(Overflow& overflow, std::span<const T> batch) {
  if constexpr (overflow_for<Overflow, const T>) {
    return hand_over<const T>(overflow, batch);
  } else {
    // Neither std::vector nor std::unique_ptr: for their headers every user of a queue would pay (tools/compile_cost).
    struct copies {
      explicit copies(std::span<const T> of) : first(new T[of.size()]) {
        for (std::size_t i = 0; i < of.size(); ++i) first[i] = of[i];
      }
      copies(const copies&) = delete;
      copies& operator=(const copies&) = delete;
      ~copies() { delete[] first; }
      T* first;
    };
    const copies copy(batch);
    return hand_over<T>(overflow, {copy.first, batch.size()});
  }
}

}  // namespace detail
}  // namespace faio::queue
