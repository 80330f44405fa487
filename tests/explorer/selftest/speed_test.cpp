// speed -- how many executions a second of processor time, printed for comparison and never asserted.
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <functional>

#include "litmus.hpp"

namespace faio::explorer {
namespace {

using namespace litmus;

// Processor time, not the report's seconds: the machine is shared.
void measure(const char* name, const options& how, const std::function<void(run&)>& what) {
  const std::clock_t start = std::clock();
  const report result = explore(how, what);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_TRUE(result.ok()) << result;
  std::printf("  %-28s %9llu executions  %9.0f a second  %5.1f million steps a second\n", name,
              static_cast<unsigned long long>(result.executions), static_cast<double>(result.executions) / seconds,
              static_cast<double>(result.steps) / seconds / 1e6);
}

TEST(Speed, IsPrinted) {
  const auto counter = [](unsigned threads, unsigned steps) {
    return [=](run& run) {
      static constexpr const char* names[] = {"one", "two", "three"};
      atomics::atomic<int> count{0};
      for (unsigned i = 0; i < threads; ++i)
        run.thread(names[i], [&, steps] {
          for (unsigned j = 0; j < steps; ++j) count.fetch_add(1, relaxed);
        });
      run.join();
    };
  };
  measure("two threads, 9 steps each", {.preemptions = unbounded}, counter(2, 9));
  measure("three threads, 4 steps each", {.preemptions = unbounded}, counter(3, 4));

  // Stale values, release views, and stores that several threads make to one location.
  const auto passing = [](run& run) {
    atomics::atomic<int> x{0};
    atomics::atomic<int> y{0};
    atomics::atomic<int> z{0};
    run.thread("one", [&] {
      x.store(1, release);
      y.store(1, release);
      z.store(x.load(acquire), release);
    });
    run.thread("two", [&] {
      y.store(2, release);
      z.store(2, release);
      x.store(y.load(acquire), release);
    });
    run.thread("three", [&] {
      z.store(3, release);
      y.store(z.load(acquire), release);
    });
    run.join();
  };
  measure("three threads, stale values", {.preemptions = 3}, passing);
  measure("the same at random", {.how = search::random, .executions = 100'000, .seed = 1}, passing);
}

}  // namespace
}  // namespace faio::explorer
