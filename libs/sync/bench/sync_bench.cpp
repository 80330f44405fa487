// sync_bench -- what a lock, a message and a round trip cost between tasks; nanoseconds an operation.
//
// Isolates the primitives: one runtime for each figure, made before the clock starts, with a block_on for some thousand operations.
// Leaves out: I/O, several runtimes, work inside the lock.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bars.hpp"
#include "faio/context/context.hpp"
#include "faio/sync/sync.hpp"

namespace {

using namespace faio;
namespace s = faio::sync;

constexpr int batch = 10'000;

/// Runs `make(runtime)`, a task that makes `operations` of them, again and again.
template <class Make>
void run(benchmark::State& state, std::size_t workers, std::int64_t operations, Make make) {
  runtime_context ctx{{.workers = workers}};
  for (auto _ : state) ctx.block_on(make());
  state.SetItemsProcessed(state.iterations() * operations);
}

// ---- Locks.

task<> lock_unlock(s::mutex& m, int times, int yields) {
  for (int i = 0; i < times; ++i) {
    const auto guard = co_await m.lock();
    for (int y = 0; y < yields; ++y) co_await yield();
  }
}
void uncontended(benchmark::State& state) {
  s::mutex m;
  run(state, 1, batch, [&] { return lock_unlock(m, batch, 0); });
}
void contended(benchmark::State& state, std::size_t workers, int yields) {
  s::mutex m;
  run(state, workers, batch, [&]() -> task<> {
    task_group group;
    for (int t = 0; t < 8; ++t) group.spawn(lock_unlock(m, batch / 8, yields));
    co_await group.join();
  });
}

// ---- Messages.

task<> send(s::channel<int>& to, int times) {
  for (int i = 0; i < times; ++i) (void)co_await to.send(i);
}
task<> receive(s::channel<int>& from, int times) {
  for (int i = 0; i < times; ++i) benchmark::DoNotOptimize(co_await from.recv());
}
void messages(benchmark::State& state, std::size_t workers, std::size_t capacity, int producers) {
  s::channel<int> channel(capacity);
  run(state, workers, batch, [&, producers]() -> task<> {
    task_group group;
    group.spawn(receive(channel, batch));
    for (int p = 0; p < producers; ++p) group.spawn(send(channel, batch / producers));
    co_await group.join();
  });
}

// ---- Round trips.

void ping_pong(benchmark::State& state, std::size_t workers) {
  s::channel<int> there(1);
  s::channel<int> back(1);
  run(state, workers, batch, [&]() -> task<> {
    task_group group;
    group.spawn([](s::channel<int>& from, s::channel<int>& to) -> task<> {
      for (int i = 0; i < batch; ++i) (void)co_await to.send(*co_await from.recv());
    }(there, back));
    for (int i = 0; i < batch; ++i) {
      (void)co_await there.send(i);
      benchmark::DoNotOptimize(co_await back.recv());
    }
    co_await group.join();
  });
}
/// A request with its own place for the answer, as one would ask a task that keeps a state.
void ask(benchmark::State& state, std::size_t workers) {
  using question = s::oneshot<int>::sender_type;
  s::channel<question> questions(1);
  run(state, workers, batch, [&]() -> task<> {
    task_group group;
    group.spawn([](s::channel<question>& from) -> task<> {
      for (int i = 0; i < batch; ++i) (void)(co_await from.recv())->send(i);
    }(questions));
    for (int i = 0; i < batch; ++i) {
      s::oneshot<int> answer;
      (void)co_await questions.send(answer.sender());
      benchmark::DoNotOptimize(co_await answer.recv());
    }
    co_await group.join();
  });
}

template <class... Args, class Function>
void add(const std::string& name, Function function, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { function(state, args...); })->UseRealTime();
}

}  // namespace

int main(int argc, char** argv) {
  add("mutex/uncontended", uncontended);
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    const std::string on = "/workers:" + std::to_string(workers);
    add("mutex/8 tasks" + on, contended, workers, 0);
    add("mutex/8 tasks, a yield inside" + on, contended, workers, 1);
    add("channel/1 to 1, capacity 128" + on, messages, workers, std::size_t{128}, 1);
    add("channel/1 to 1, capacity 1" + on, messages, workers, std::size_t{1}, 1);
    add("channel/1 to 1, rendezvous" + on, messages, workers, std::size_t{0}, 1);
    add("channel/4 to 1, capacity 128" + on, messages, workers, std::size_t{128}, 4);
    add("round trip/two channels" + on, ping_pong, workers);
    add("round trip/oneshot" + on, ask, workers);
  }
  return faio::bench::run(argc, argv, {});
}
