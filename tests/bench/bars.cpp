// bars -- collects the repetitions of each bench and prints medians, spread and bars.
#include "bars.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace faio::bench {
namespace {

/// The middle one, or the mean of the two in the middle.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Why it gave no figure, or nullptr. Google Benchmark renamed the members in 1.8.
template <class Run>
const char* failure_of(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred ? run.error_message.c_str() : nullptr;
  } else {
    return run.skipped ? run.skip_message.c_str() : nullptr;
  }
}

struct series {
  std::vector<double> nanoseconds;
  std::map<std::string, std::vector<double>> counters;
};

class collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override {
    PrintBasicContext(&GetErrorStream(), context);
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const std::string& name = run.run_name.function_name;
      if (const char* const why = failure_of(run)) {
        std::printf("%s failed: %s\n", name.c_str(), why);
        continue;
      }
      _order[run.family_index] = name;
      series& of = _found[name];
      for (const auto& [key, counter] : run.counters) {
        if (key == "items_per_second") {
          of.nanoseconds.push_back(1e9 / counter.value);
        } else {
          of.counters[key].push_back(counter.value);
        }
      }
    }
  }

  void print_medians() const {
    std::printf("\n| ns an element | median | least | most | |\n| --- | ---: | ---: | ---: | --- |\n");
    for (const auto& [at, name] : _order) {
      const series& of = _found.at(name);
      if (of.nanoseconds.empty()) continue;
      const auto [least, most] = std::ranges::minmax(of.nanoseconds);
      std::printf("| %s | %.2f | %.2f | %.2f |", name.c_str(), median(of.nanoseconds), least, most);
      for (const auto& [key, values] : of.counters) std::printf(" %s %.1f", key.c_str(), median(values));
      std::printf(" |\n");
    }
  }

  void print_bars(std::span<const bar> bars) const {
    std::printf("\n| | measured | bar | |\n| --- | ---: | ---: | --- |\n");
    for (const bar& each : bars) {
      const double value = found(each.measured) / (each.against.empty() ? 1.0 : found(each.against));
      const char* const unit = each.against.empty() ? " ns" : "x";
      std::printf("| %.*s |", static_cast<int>(each.what.size()), each.what.data());
      if (std::isnan(value)) {
        std::printf(" | | not measured |\n");
      } else if (std::isinf(each.at_most)) {
        std::printf(" %.2f%s | | |\n", value, unit);
      } else {
        std::printf(" %.3f%s | %.3f%s | %s |\n", value, unit, each.at_most, unit,
                    value <= each.at_most ? "met" : "not met");
      }
    }
  }

 private:
  /// NaN for a bench that was filtered out, failed, or was not built.
  double found(std::string_view name) const {
    const auto at = _found.find(std::string(name));
    return at == _found.end() || at->second.nanoseconds.empty() ? std::nan("") : median(at->second.nanoseconds);
  }

  std::map<std::int64_t, std::string> _order;  // as registered: the runs come shuffled
  std::map<std::string, series> _found;
};

}  // namespace

int run(int argc, char** argv, std::span<const bar> bars) {
  // Before the caller's own, which therefore win.
  std::array<std::string, 3> defaults{"--benchmark_enable_random_interleaving=true", "--benchmark_repetitions=9",
                                      "--benchmark_min_time=0.03"};
  std::vector<char*> arguments{argv[0]};
  for (std::string& each : defaults) arguments.push_back(each.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);

  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
#ifndef NDEBUG
  std::puts("this is not an optimised build: its figures mean nothing");
#endif
  collector results;
  benchmark::RunSpecifiedBenchmarks(&results);
  results.print_medians();
  results.print_bars(bars);
  benchmark::Shutdown();
  return 0;
}

}  // namespace faio::bench
