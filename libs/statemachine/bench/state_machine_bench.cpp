// state_machine_bench -- what a publisher pays to ask whether somebody must be woken, and what a sleeper pays instead.
//
// "publish" writes a task of one cache line and the index that covers it, about the least that a spawn is, and each of the
// publisher's steps follows it: a barrier costs what it makes the stores wait for. Isolates the step itself, alone or with another
// thread that does the same; leaves out the wake.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <faio/statemachine/state_machine.hpp>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>

#include "bars.hpp"

namespace faio::statemachine::bench {
namespace {

/// Another thread of this process while it lives: it runs `step` over and over.
template <class Step>
class busy_thread {
 public:
  explicit busy_thread(Step step)
      : _thread([step](const std::stop_token& stop) {
          while (!stop.stop_requested()) step();
        }) {}

 private:
  std::jthread _thread;
};

class sleeping_thread {
 public:
  sleeping_thread() : _thread([this] { _over.acquire(); }) {}
  ~sleeping_thread() { _over.release(); }
  sleeping_thread(const sleeping_thread&) = delete;
  sleeping_thread& operator=(const sleeping_thread&) = delete;

 private:
  std::binary_semaphore _over{0};
  std::jthread _thread;
};

/// Where tasks are published: the newest 64, each of a cache line.
class alignas(128) task_ring {
 public:
  void publish() noexcept {
    const std::uint64_t at = _tail.load(std::memory_order_relaxed);
    _tasks[at % _tasks.size()].fill(at);
    _tail.store(at + 1, std::memory_order_release);
  }

 private:
  std::array<std::array<std::uint64_t, 8>, 64> _tasks{};
  std::atomic<std::uint64_t> _tail{0};
};

/// `step` after publishing; where `contended`, another thread does both, with a ring of its own.
template <class Step>
void after_publishing(benchmark::State& state, bool contended, Step step) {
  task_ring mine, theirs;
  const auto run_on = [&step](task_ring& ring) {
    ring.publish();
    step();
    benchmark::ClobberMemory();
  };
  // Known elsewhere, or a compiler may find that nobody can tell whether anything is stored, or fenced.
  benchmark::DoNotOptimize(&mine);
  benchmark::DoNotOptimize(&theirs);
  const auto other = [&] { run_on(theirs); };
  std::optional<busy_thread<decltype(other)>> beside;
  if (contended) beside.emplace(other);
  for (auto _ : state) run_on(mine);
  state.SetItemsProcessed(state.iterations());
}

template <class Step>
void add_step(const std::string& name, Step step) {
  benchmark::RegisterBenchmark(("publish" + name).c_str(),
                               [step](benchmark::State& state) { after_publishing(state, false, step); });
  benchmark::RegisterBenchmark(("publish" + name + ", another thread too").c_str(),
                               [step](benchmark::State& state) { after_publishing(state, true, step); });
}

/// Four workers that run.
state_machine& all_run() {
  static state_machine machine(4);
  return machine;
}

/// Four workers, of whom one searches and one sleeps.
state_machine& one_searches() {
  static state_machine machine(4);
  static const bool searching = machine.set_searching() && machine.set_sleeping(3, false);
  benchmark::DoNotOptimize(auto(searching));
  return machine;
}

void register_publisher() {
  state_machine& running = all_run();
  state_machine& searched = one_searches();
  add_step("", [] {});
  add_step(" + worker_to_notify, nobody sleeps",
           [&running] { benchmark::DoNotOptimize(running.worker_to_notify().has_value()); });
  add_step(" + worker_to_notify, one searches",
           [&searched] { benchmark::DoNotOptimize(searched.worker_to_notify().has_value()); });
  add_step(" + full()", [] { asymmetric_barrier::full(); });
  add_step(" + seq_cst fence", [] { std::atomic_thread_fence(std::memory_order_seq_cst); });
  static std::atomic<std::uint64_t> published{0};
  add_step(" + shared counter", [] { published.fetch_add(1, std::memory_order_seq_cst); });
}

void heavy(benchmark::State& state) {
  for (auto _ : state) asymmetric_barrier::heavy();
  state.SetItemsProcessed(state.iterations());
}

/// Asleep and awake again by itself; where `searched` another worker searches, so that there is no second look and no barrier.
void sleep_and_wake(benchmark::State& state, bool searched) {
  state_machine machine(4);
  if (searched && !machine.set_searching()) state.SkipWithError("could not search");
  for (auto _ : state) {
    benchmark::DoNotOptimize(machine.set_sleeping(0, false).look_again);
    benchmark::DoNotOptimize(machine.cancel_sleeping(0));
  }
  state.SetItemsProcessed(state.iterations());
}

/// A search from beginning to end, with somebody else searching too.
void search(benchmark::State& state) {
  state_machine machine(4);
  if (!machine.set_searching()) state.SkipWithError("could not search");
  for (auto _ : state) {
    benchmark::DoNotOptimize(machine.set_searching());
    benchmark::DoNotOptimize(machine.cancel_searching());
  }
  state.SetItemsProcessed(state.iterations());
}

void register_sleeper() {
  // The kernel returns at once when there is no other thread, and interrupts no processor that runs something else.
  benchmark::RegisterBenchmark("heavy(), the only thread", heavy);
  benchmark::RegisterBenchmark("heavy(), another asleep", [](benchmark::State& state) {
    const sleeping_thread other;
    heavy(state);
  });
  benchmark::RegisterBenchmark("heavy(), another runs", [](benchmark::State& state) {
    const busy_thread other([] { benchmark::ClobberMemory(); });
    heavy(state);
  });
  benchmark::RegisterBenchmark("set_sleeping + cancel_sleeping, told to look again", [](benchmark::State& state) {
    const busy_thread other([] { benchmark::ClobberMemory(); });
    sleep_and_wake(state, false);
  });
  benchmark::RegisterBenchmark("set_sleeping + cancel_sleeping, one searches", [](benchmark::State& state) {
    const sleeping_thread other;
    sleep_and_wake(state, true);
  });
  benchmark::RegisterBenchmark("set_searching + cancel_searching", [](benchmark::State& state) {
    const sleeping_thread other;
    search(state);
  });
}

constexpr faio::bench::bar bars[] = {
    {"publish + worker_to_notify, nobody sleeps", "publish + worker_to_notify, nobody sleeps", "", 5.0},
    {"the same while another thread publishes", "publish + worker_to_notify, nobody sleeps, another thread too", "",
     5.0},
    {"publish + worker_to_notify, one searches", "publish + worker_to_notify, one searches", "", 5.0},
    {"nobody sleeps / with full() instead", "publish + worker_to_notify, nobody sleeps", "publish + full()"},
    {"nobody sleeps / with a seq_cst fence instead", "publish + worker_to_notify, nobody sleeps",
     "publish + seq_cst fence"},
    {"nobody sleeps / with a shared counter instead", "publish + worker_to_notify, nobody sleeps",
     "publish + shared counter"},
    {"the same while another thread publishes", "publish + worker_to_notify, nobody sleeps, another thread too",
     "publish + shared counter, another thread too"},
    {"heavy() while another runs / full()", "heavy(), another runs", "publish + full()"},
};

}  // namespace
}  // namespace faio::statemachine::bench

int main(int argc, char** argv) {
  faio::statemachine::bench::register_publisher();  // its machines ask for membarrier, as a user's do
  if (!faio::statemachine::asymmetric_barrier::by_membarrier()) {
    std::puts("state_machine_bench: membarrier is refused here, so light() and heavy() are full barriers");
  }
  faio::statemachine::bench::register_sleeper();
  return faio::bench::run(argc, argv, faio::statemachine::bench::bars);
}
