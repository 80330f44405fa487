// owner_bench -- a push and a pop by the one thread that uses the queue.
//
// Isolates what being shared costs while nobody else comes: locked instructions, and the order they impose. Leaves out cache
// lines that move between cores (contended_bench) and the elements themselves.
//   pair     the queue is empty before and after: the last-element case of the deque
//   backlog  64 elements stay behind
//   burst    32 pushes, then 32 pops
#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>

#include "benches.hpp"
#include "ours.hpp"
#include "peers.hpp"

namespace faio::queue::bench {
namespace {

template <class Queue>
void push_and_pop(benchmark::State& state, std::size_t backlog, std::size_t burst) {
  Queue shared;
  auto&& queue = enter(shared);
  element next = 0;
  for (std::size_t i = 0; i < backlog; ++i) queue.push(++next);
  for (auto _ : state) {
    for (std::size_t i = 0; i < burst; ++i) {
      queue.push(++next);
      benchmark::ClobberMemory();  // in memory, as the members of a worker are, not in registers
    }
    for (std::size_t i = 0; i < burst; ++i) {
      if (const auto value = queue.pop()) benchmark::DoNotOptimize(auto(*value));
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(burst));
}

template <class Queue>
void add(const std::string& name) {
  benchmark::RegisterBenchmark(("owner pair/" + name).c_str(), push_and_pop<Queue>, 0, 1);
  benchmark::RegisterBenchmark(("owner backlog/" + name).c_str(), push_and_pop<Queue>, 64, 1);
  benchmark::RegisterBenchmark(("owner burst/" + name).c_str(), push_and_pop<Queue>, 0, 32);
}

}  // namespace

void register_owner() {
  add<our_local_queue>("local_queue");
  add<our_deque>("deque");
  add<our_global_queue>("global_queue");
  add<mutex_deque>("mutex+deque");
  add<plain_ring>("plain ring");
#ifdef FAIO_BENCH_MOODYCAMEL
  add<moodycamel_queue>("moodycamel");
  add<moodycamel_with_tokens>("moodycamel tokens");
#endif
#ifdef FAIO_BENCH_TBB
  add<tbb_queue>("tbb");
  add<tbb_bounded_queue>("tbb bounded");
#endif
}

}  // namespace faio::queue::bench
