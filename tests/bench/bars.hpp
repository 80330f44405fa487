// bars -- runs a bench with interleaved repetitions, and sets its medians beside the bars that they are held to.
//
// Two figures are compared only when they come from one run with the repetitions of both shuffled: the same binary drifts
// by more than most differences between two runs. A bench that is held to a bar reports its elements by
// SetItemsProcessed(); every figure here is nanoseconds an element.
//
//     constexpr faio::bench::bar bars[] = {{"pop against a mutex", "pop/ours", "pop/mutex", 1.0 / 3}};
//     int main(int argc, char** argv) { ...register...; return faio::bench::run(argc, argv, bars); }
#pragma once

#include <limits>
#include <span>
#include <string_view>

namespace faio::bench {

/// Told, not judged.
inline constexpr double no_bar = std::numeric_limits<double>::infinity();

/// A line of the last table: the median of `measured`, as a multiple of the median of `against` where that is named, else
/// in nanoseconds.
struct bar {
  std::string_view what;
  std::string_view measured;
  std::string_view against;
  double at_most = no_bar;
};

/// The benches that were registered, 9 repetitions of each in random order unless the arguments say otherwise; then two
/// Markdown tables: the medians, and the bars. Returns 0 whatever the figures are: time decides no test.
int run(int argc, char** argv, std::span<const bar> bars);

}  // namespace faio::bench
