// group_counter -- how many things somebody must still wait for; exactly one of those who leave is told that it was the last.
//
//   made with 1 ── enter(), by one who is inside ──> n ── leave() ──> .. ── leave() -> true
//
// I1  Only somebody who is inside lets others in. So once all that is left is one's own, one is alone, and may leave without a
//     read-modify-write: nobody can come, and nobody else can go.
// I2  Whoever is told that it was the last sees all that the others did before they left.
//
// Modelled in tests/explorer/models/group_model.cpp, with a waiter that destroys the counter as soon as it is told.
#pragma once

#include <cstdint>

#include "faio/context/atomics.hpp"

namespace faio::context {

template <class Policy>
class basic_group_counter {
 public:
  basic_group_counter() = default;
  explicit basic_group_counter(std::uint32_t inside) noexcept : _inside(inside) {}
  basic_group_counter(const basic_group_counter&) = delete;
  basic_group_counter& operator=(const basic_group_counter&) = delete;

  /// Somebody inside.
  void enter(std::uint32_t count = 1) noexcept {
    // relaxed: it hands nothing over; that it comes before the leaving of whoever calls it is the order of one variable.
    _inside.fetch_add(count, std::memory_order_relaxed);
  }

  /// Somebody inside, once for each, or for several at once. True: it was the last; then nobody else touches the counter any more.
  [[nodiscard]] bool leave(std::uint32_t count = 1) noexcept {
    // acquire, pairs with [L]: alone (I1), and what the others did is visible (I2).
    if (_inside.load(std::memory_order_acquire) == count) return true;
    // [L] release: what we did is visible to the last. acquire: we may be that last.
    return _inside.fetch_sub(count, std::memory_order_acq_rel) == count;
  }

  // ---- end of the public interface ----

 private:
  typename Policy::template atomic<std::uint32_t> _inside{1};
};

using group_counter = basic_group_counter<std_atomics>;

}  // namespace faio::context
