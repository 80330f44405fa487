// dice -- random choices that depend on a seed alone, so that every task of a tree draws the same ones in each run.
#pragma once

#include <cstdint>

namespace steal_stress {

/// The steps of splitmix64.
class dice {
 public:
  explicit constexpr dice(std::uint64_t seed) noexcept : _state(seed) {}

  constexpr std::uint64_t roll() noexcept {
    std::uint64_t mixed = (_state += 0x9E3779B97F4A7C15ULL);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
  }
  /// From 0 to `end` - 1.
  constexpr std::uint64_t below(std::uint64_t end) noexcept { return roll() % end; }
  /// True once in `times`.
  constexpr bool once_in(std::uint64_t times) noexcept { return below(times) == 0; }

 private:
  std::uint64_t _state;
};

}  // namespace steal_stress
