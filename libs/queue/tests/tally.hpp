// tally -- counts how often each of n elements came out, from any thread: each must come out exactly once.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace faio::queue::tests {

/// The elements are 1 to n, as pointer-sized numbers.
class tally {
 public:
  explicit tally(std::size_t elements) : _seen(elements + 1) {}

  /// Any thread.
  void count(std::uintptr_t element) {
    ASSERT_LT(element, _seen.size());
    _seen[element].fetch_add(1, std::memory_order_relaxed);
    _total.fetch_add(1, std::memory_order_relaxed);
  }
  std::size_t total() const { return _total.load(std::memory_order_relaxed); }
  std::size_t expected() const { return _seen.size() - 1; }
  bool complete() const { return total() >= expected(); }

  /// When all threads have ended.
  void expect_each_once() const {
    std::size_t wrong = 0;
    for (std::size_t i = 1; i < _seen.size(); ++i) wrong += _seen[i].load(std::memory_order_relaxed) != 1 ? 1 : 0;
    EXPECT_EQ(wrong, 0U) << "elements that did not come out exactly once";
    EXPECT_EQ(total(), expected());
  }

 private:
  std::vector<std::atomic<std::uint8_t>> _seen;
  std::atomic<std::size_t> _total{0};
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t many = 200'000;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr std::size_t many = 200'000;
#else
inline constexpr std::size_t many = 1'000'000;
#endif
#else
inline constexpr std::size_t many = 1'000'000;
#endif

}  // namespace faio::queue::tests
