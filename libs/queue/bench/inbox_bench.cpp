// inbox_bench -- two producers, and one reader that takes all there is.
//
// Isolates the queue: the reader yields when it finds nothing, producers when they are a window ahead. An inbox allocates a node a push, and that is in the figure.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <faio/queue/inbox.hpp>
#include <span>
#include <string>
#include <thread>

#include "benches.hpp"
#include "ours.hpp"
#include "peers.hpp"
#include "race.hpp"

namespace faio::queue::bench {
namespace {

constexpr std::size_t elements = std::size_t{1} << 19;
constexpr std::size_t batch_size = 64;
/// How often producers look whether they are more than a window ahead.
constexpr std::size_t stride = 4096;
constexpr std::size_t window = 8 * stride;

struct our_inbox {
  void push(element value) { queue.push(value); }

  inbox<element> queue;
};

/// All that is there, or the most that one call gives.
template <class Queue>
std::size_t drain(Queue& queue) {
  if constexpr (requires { queue.queue.drain(); }) {
    return queue.queue.drain([](element value) { benchmark::DoNotOptimize(value); });
  } else if constexpr (requires(std::span<element> out) { queue.pop_batch(out); }) {
    std::array<element, batch_size> out{};
    return queue.pop_batch(out);
  } else {
    return queue.pop() ? 1 : 0;
  }
}

template <class Queue>
void two_and_one(benchmark::State& state) {
  time_races(state, elements, [] {
    Queue queue;
    std::atomic<std::size_t> taken{0};
    const auto producer = [&] {
      for (std::size_t mine = 0; mine < elements / 2; ++mine) {
        if (mine % stride == 0) {
          while (2 * mine > taken.load(std::memory_order_relaxed) + window) std::this_thread::yield();
        }
        queue.push(mine);
      }
    };
    const auto reader = [&] {
      for (std::size_t mine = 0; mine < elements;) {
        const std::size_t count = drain(queue);
        mine += count;
        // relaxed, and by its only writer: a plain store to a line that producers seldom look at.
        taken.store(mine, std::memory_order_relaxed);
        if (count == 0) std::this_thread::yield();
      }
    };
    return race(producer, producer, reader);
  });
}

/// One thread: 32 pushes, then a drain.
template <class Queue>
void alone(benchmark::State& state) {
  constexpr std::size_t burst = 32;
  Queue queue;
  for (auto _ : state) {
    for (element i = 1; i <= burst; ++i) queue.push(i);
    while (drain(queue) > 0) {
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(burst));
}

template <class Queue>
void add(const std::string& name) {
  benchmark::RegisterBenchmark(("2+1 inbox/" + name).c_str(), two_and_one<Queue>)->UseManualTime();
  benchmark::RegisterBenchmark(("alone inbox/" + name).c_str(), alone<Queue>);
}

}  // namespace

void register_inbox() {
  add<our_inbox>("inbox");
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
