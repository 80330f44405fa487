// join_counter -- children of one fork, counted by weight so that those who follow each other on one worker count once.
//
//   every child begins with weight 1. A child that ends and finds a sibling still on its own worker gives its weight to it;
//   one that finds none takes its weight off the counter. The last one is whoever takes the rest.
//
// I1  The weights of the children that have not ended, and the counter, always add up: counter == sum of their weights.
// I2  A weight belongs to whoever runs the child: it is a plain number.
// So a fork of which nothing was stolen ends without one atomic step: its last child has the whole weight.
//
// Modelled in tests/explorer/models/group_model.cpp. Rejected: a count of children, one atomic decrement each (docs/adr/0006).
#pragma once

#include <cstdint>

#include "faio/context/atomics.hpp"

namespace faio::context {

template <class Policy>
class basic_join_counter {
 public:
  explicit basic_join_counter(std::uint32_t children) noexcept : _children(children), _left(children) {}
  basic_join_counter(const basic_join_counter&) = delete;
  basic_join_counter& operator=(const basic_join_counter&) = delete;

  /// A child that has ended, with its weight. True: it was the last, and sees what all others did.
  [[nodiscard]] bool arrive(std::uint32_t weight) noexcept {
    if (weight == _children) return true;
    // [J] release: what we did is visible to the last. acquire: we may be that last.
    return _left.fetch_sub(weight, std::memory_order_acq_rel) == weight;
  }
  /// True for a child that has everybody's weight: it was alone.
  [[nodiscard]] bool is_all(std::uint32_t weight) const noexcept { return weight == _children; }

  // ---- end of the public interface ----

 private:
  const std::uint32_t _children;
  typename Policy::template atomic<std::uint32_t> _left;
};

using join_counter = basic_join_counter<std_atomics>;

}  // namespace faio::context
