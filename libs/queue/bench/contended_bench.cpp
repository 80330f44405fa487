// contended_bench -- an owner that pushes 32 and pops 16 until 128 are behind, then pops them all, while a thief tries to take
// half, over and over.
//
// Isolates lines that move between two cores: the thief never pauses, which is harder than a scheduler's thieves are. Time is
// the wall's, from the start until each element has come out. Leaves out what elements do: here they are only counted.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "benches.hpp"
#include "ours.hpp"
#include "peers.hpp"
#include "race.hpp"

namespace faio::queue::bench {
namespace {

constexpr std::size_t burst = 32;
constexpr std::size_t backlog = 128;
constexpr std::size_t elements = std::size_t{1} << 20;

template <class Queue>
void owner_and_thief(benchmark::State& state) {
  std::size_t all_stolen = 0;
  time_races(state, elements, [&] {
    Queue queue;
    std::atomic<bool> done{false};
    std::size_t kept = 0;
    std::size_t stolen = 0;
    const auto owner = [&] {
      std::size_t behind = 0;  // at most; less what was stolen
      for (std::size_t i = 0; i < elements; i += burst) {
        for (std::size_t j = 0; j < burst; ++j) queue.push(i + j);
        for (std::size_t j = 0; j < burst / 2; ++j) kept += queue.pop() ? 1 : 0;
        behind += burst / 2;
        if (behind < backlog) continue;
        while (queue.pop()) ++kept;
        behind = 0;
      }
      while (queue.pop()) ++kept;
      done.store(true, std::memory_order_release);
    };
    const auto thief = [&] {
      Queue mine;
      while (!done.load(std::memory_order_acquire)) {
        if (!steal_half(queue, mine, burst)) continue;
        ++stolen;
        while (mine.pop()) ++stolen;
      }
    };
    const duration took = race(owner, thief);
    if constexpr (requires { queue.spilled; }) kept += queue.spilled.count;
    if (kept + stolen != elements) state.SkipWithError("elements were lost or came twice");
    all_stolen += stolen;
    return took;
  });
  state.counters["stolen %"] = 100 * static_cast<double>(all_stolen) /
                               static_cast<double>(state.iterations() * static_cast<std::int64_t>(elements));
}

template <class Queue>
void add(const std::string& name) {
  benchmark::RegisterBenchmark(("owner and thief/" + name).c_str(), owner_and_thief<Queue>)->UseManualTime();
}

}  // namespace

void register_contended() {
  add<our_local_queue>("local_queue");
  add<our_deque>("deque");
  add<mutex_deque>("mutex+deque");
#ifdef FAIO_BENCH_MOODYCAMEL
  add<moodycamel_queue>("moodycamel");
#endif
#ifdef FAIO_BENCH_TBB
  add<tbb_queue>("tbb");
  add<tbb_bounded_queue>("tbb bounded");
#endif
}

}  // namespace faio::queue::bench
