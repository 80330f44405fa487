// global_bench -- two producers and two consumers on one queue, one by one and in batches of 64; and the look at an empty one.
//
// Isolates the queue: producers do nothing but push, consumers yield when they find nothing. Producers that are a window ahead
// yield too, or the figure would be that of fresh memory. Time is the wall's, from the start until the last element has come
// out. On two cores the four threads also measure the kernel's scheduler, so the same batches by one thread stand beside them.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "benches.hpp"
#include "ours.hpp"
#include "peers.hpp"
#include "race.hpp"

namespace faio::queue::bench {
namespace {

constexpr std::size_t batch_size = 64;
/// Tens of milliseconds of either, so that the start of four threads does not show.
constexpr std::size_t elements_one_by_one = std::size_t{1} << 20;
constexpr std::size_t elements_in_batches = std::size_t{1} << 23;
/// How often a thread looks at, or adds to, the count that all share; and how far producers may be ahead.
constexpr std::size_t stride = 4096;
constexpr std::size_t window = 8 * stride;

using batch = std::array<element, batch_size>;

batch numbers() {
  batch values{};
  std::iota(values.begin(), values.end(), element{1});
  return values;
}

/// What producers and consumers share, one for each way of calling: the loops of the one hold nothing of the other's.
template <class Queue, bool Batched>
class exchange {
 public:
  static constexpr std::size_t elements = Batched ? elements_in_batches : elements_one_by_one;

  void produce() {
    auto&& queue = enter(_queue);
    const batch values = numbers();
    for (std::size_t mine = 0; mine < elements / 2; mine += batch_size) {
      if (mine % stride == 0) {
        while (2 * mine > _taken.load(std::memory_order_relaxed) + window) std::this_thread::yield();
      }
      if constexpr (Batched) {
        queue.push_batch(values);
      } else {
        for (const element each : values) queue.push(each);
      }
    }
  }

  void consume() {
    auto&& queue = enter(_queue);
    batch out{};
    std::size_t mine = 0;
    do {
      std::size_t count = 0;
      if constexpr (Batched) {
        count = queue.pop_batch(out);
      } else {
        count = queue.pop() ? 1 : 0;
      }
      mine += count;
      if (count > 0 && mine < stride) continue;
      _taken.fetch_add(std::exchange(mine, 0), std::memory_order_relaxed);
      if (count == 0) std::this_thread::yield();
    } while (_taken.load(std::memory_order_relaxed) < elements);
  }

 private:
  Queue _queue;
  alignas(line_size) std::atomic<std::size_t> _taken{0};
};

template <class Queue, bool Batched>
void two_and_two(benchmark::State& state) {
  time_races(state, exchange<Queue, Batched>::elements, [] {
    exchange<Queue, Batched> shared;
    const auto producer = [&] { shared.produce(); };
    const auto consumer = [&] { shared.consume(); };
    return race(producer, producer, consumer, consumer);
  });
}

template <class Queue>
void batches_alone(benchmark::State& state) {
  Queue shared;
  auto&& queue = enter(shared);
  const batch values = numbers();
  batch out{};
  for (auto _ : state) {
    queue.push_batch(values);
    benchmark::DoNotOptimize(queue.pop_batch(out));
    benchmark::DoNotOptimize(out);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch_size));
}

template <class Queue>
void look_at_empty(benchmark::State& state) {
  Queue shared;
  auto&& queue = enter(shared);
  queue.push(1);
  while (queue.pop()) {
  }
  for (auto _ : state) {
    if (const auto value = queue.pop()) benchmark::DoNotOptimize(auto(*value));
  }
  state.SetItemsProcessed(state.iterations());
}

template <class Queue>
void add(const std::string& name) {
  benchmark::RegisterBenchmark(("2+2 one by one/" + name).c_str(), two_and_two<Queue, false>)->UseManualTime();
  benchmark::RegisterBenchmark(("pop of an empty queue/" + name).c_str(), look_at_empty<Queue>);
}

template <class Queue>
void add_batches(const std::string& name) {
  benchmark::RegisterBenchmark(("2+2 batches of 64/" + name).c_str(), two_and_two<Queue, true>)->UseManualTime();
  benchmark::RegisterBenchmark(("alone batches of 64/" + name).c_str(), batches_alone<Queue>);
}

}  // namespace

void register_global() {
  add<our_global_queue>("global_queue");
  add_batches<our_global_queue>("global_queue");
  add<mutex_deque>("mutex+deque");
  add_batches<mutex_deque>("mutex+deque");
#ifdef FAIO_BENCH_MOODYCAMEL
  add<moodycamel_queue>("moodycamel");
  add_batches<moodycamel_queue>("moodycamel");
  add<moodycamel_with_tokens>("moodycamel tokens");
  add_batches<moodycamel_with_tokens>("moodycamel tokens");
#endif
#ifdef FAIO_BENCH_TBB
  add<tbb_queue>("tbb");
  add<tbb_bounded_queue>("tbb bounded");
#endif
}

}  // namespace faio::queue::bench
