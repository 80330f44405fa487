// race -- runs functions on threads of their own, released together, and times them from the release to the last end.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <latch>
#include <thread>
#include <vector>

namespace faio::queue::bench {

/// Seconds: by the clock on the wall, and of processors that this process used. Where other programs share the machine the
/// second is the steadier one; it counts spinning as work.
struct duration {
  double wall = 0;
  double processor = 0;
};

inline double processor_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class... Roles>
duration race(Roles... roles) {
  std::latch ready(sizeof...(Roles) + 1);
  std::chrono::steady_clock::time_point start;
  double start_processor = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(sizeof...(Roles));
    (threads.emplace_back([&ready, &roles] {
      ready.arrive_and_wait();
      roles();
    }),
     ...);
    start = std::chrono::steady_clock::now();
    start_processor = processor_seconds();
    ready.arrive_and_wait();
  }
  return {.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          .processor = processor_seconds() - start_processor};
}

/// Runs `once`, which gives a duration and moves `elements`, until the bench has enough of it.
template <class Once>
void time_races(benchmark::State& state, std::size_t elements, Once once) {
  double processor = 0;
  for (auto _ : state) {
    const duration took = once();
    state.SetIterationTime(took.wall);
    processor += took.processor;
  }
  const auto all = state.iterations() * static_cast<std::int64_t>(elements);
  state.counters["processor ns"] = 1e9 * processor / static_cast<double>(all);
  state.SetItemsProcessed(all);
}

}  // namespace faio::queue::bench
