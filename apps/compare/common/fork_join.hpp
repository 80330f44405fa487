// fork_join -- what the fork-join programs of every C++ peer share: sizes, right answers and the rule of the queens.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace compare {

/// How many calls fib(n) makes: its operations.
inline std::size_t fib_calls(std::size_t n) {
  std::size_t a = 1;
  std::size_t b = 1;
  for (std::size_t i = 1; i < n; ++i) {
    const std::size_t next = a + b + 1;
    a = b;
    b = next;
  }
  return b;
}
inline std::size_t fib_value(std::size_t n) {
  std::size_t a = 0;
  std::size_t b = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}

/// Queens in the rows so far, as the columns that they take from the next row, a bit each. Cheap on purpose: what is measured is the
/// tree of tasks and not the test of a place.
struct taken {
  std::uint32_t columns = 0;
  std::uint32_t falling = 0;  // diagonals
  std::uint32_t rising = 0;

  [[nodiscard]] std::uint32_t free(std::size_t n) const { return ~(columns | falling | rising) & ((1U << n) - 1); }
  [[nodiscard]] bool full(std::size_t n) const { return columns == (1U << n) - 1; }
  /// `place`: one bit of free().
  [[nodiscard]] taken with(std::uint32_t place) const {
    return {columns | place, (falling | place) << 1, (rising | place) >> 1};
  }
};
/// Known counts, for 1 to 14 queens.
constexpr std::array<std::size_t, 15> solutions = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};

}  // namespace compare
