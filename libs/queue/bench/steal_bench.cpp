// steal_bench -- half of 128 elements from one queue to another, by one thread.
//
// Isolates the instructions of a steal: one claim and a copy for the ring, a compare-and-swap an element for the deque, two
// locks for the mutex. Leaves out the victim at work (contended_bench) and its cache lines' way between cores.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "benches.hpp"
#include "ours.hpp"
#include "peers.hpp"

namespace faio::queue::bench {
namespace {

constexpr std::size_t filled = 128;
/// Steals between two looks at the clock, so that the clock's own 25 ns vanish; few enough to stay in the second cache.
constexpr std::size_t pairs = 16;

template <class Queue>
void steal_half_of_128(benchmark::State& state) {
  std::array<Queue, pairs> victims;
  std::array<Queue, pairs> thieves;
  for (auto _ : state) {
    for (Queue& victim : victims) {
      for (element i = 1; i <= filled; ++i) victim.push(i);
    }
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < pairs; ++i) {
      if (const auto oldest = steal_half(victims[i], thieves[i], filled / 2)) benchmark::DoNotOptimize(auto(*oldest));
      benchmark::ClobberMemory();
    }
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    for (auto* queues : {&victims, &thieves}) {
      for (Queue& queue : *queues) {
        while (queue.pop()) {
        }
      }
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(pairs * filled / 2));
}

template <class Queue>
void add(const std::string& name) {
  benchmark::RegisterBenchmark(("steal half of 128/" + name).c_str(), steal_half_of_128<Queue>)->UseManualTime();
}

}  // namespace

void register_steal() {
  add<our_local_queue>("local_queue");
  add<our_deque>("deque");
  add<mutex_deque>("mutex+deque");
  add<plain_ring>("plain ring");
#ifdef FAIO_BENCH_MOODYCAMEL
  add<moodycamel_queue>("moodycamel");
#endif
#ifdef FAIO_BENCH_TBB
  add<tbb_queue>("tbb");
  add<tbb_bounded_queue>("tbb bounded");
#endif
}

}  // namespace faio::queue::bench
