// histogram -- how long things took, to within 6 %: counts in buckets that grow with what they hold. Any thread notes, any thread reads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tour {

class histogram {
 public:
  static constexpr std::size_t fine = 16;  // buckets for each doubling
  static constexpr std::size_t buckets = 40 * fine;
  using counts = std::array<std::uint64_t, buckets>;

  void note(std::chrono::nanoseconds length) noexcept {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(length.count(), 1));
    _counts[bucket_of(value)].fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  }
  [[nodiscard]] counts read() const noexcept {
    counts all;
    for (std::size_t i = 0; i < buckets; ++i) all[i] = _counts[i].load(std::memory_order_relaxed);  // relaxed: a view
    return all;
  }

  [[nodiscard]] static std::uint64_t total(const counts& all) noexcept {
    std::uint64_t sum = 0;
    for (const auto each : all) sum += each;
    return sum;
  }
  /// What `share` of them took at most; zero if there is none.
  [[nodiscard]] static std::chrono::nanoseconds at_most(const counts& all, double share) noexcept {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total(all)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      seen += all[i];
      if (seen > wanted || (seen == wanted && seen != 0)) return std::chrono::nanoseconds(upper_end_of(i));
    }
    return std::chrono::nanoseconds::zero();
  }
  /// What came since.
  [[nodiscard]] static counts since(const counts& now, const counts& before) noexcept {
    counts difference;
    for (std::size_t i = 0; i < buckets; ++i) difference[i] = now[i] - before[i];
    return difference;
  }

 private:
  // Below `fine` each value has its own; above, a value is its highest bit and the four behind it.
  static std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < fine) return static_cast<std::size_t>(value);
    const auto cut = static_cast<std::size_t>(std::bit_width(value)) - std::bit_width(fine);
    return std::min((cut + 1) * fine + static_cast<std::size_t>(value >> cut) - fine, buckets - 1);
  }
  static std::int64_t upper_end_of(std::size_t bucket) noexcept {
    if (bucket < fine) return static_cast<std::int64_t>(bucket);
    const std::size_t cut = bucket / fine - 1;
    return static_cast<std::int64_t>((bucket % fine + fine + 1) << cut) - 1;
  }

  std::array<std::atomic<std::uint64_t>, buckets> _counts{};
};

}  // namespace tour
