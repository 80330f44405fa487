// context_bench -- what it costs to await, fork, spawn, yield and sleep; nanoseconds an operation.
//
// Isolates the coroutine layer: one runtime for each figure, made before the clock starts, with a block_on for some thousand operations. A plain
// function that is not inlined is beside the await of a task, so that the distance to no coroutine at all is seen.
// Leaves out: I/O, locks and messages (libs/sync/bench), the peers (tools/compare).
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bars.hpp"
#include "faio/context/context.hpp"

namespace {

using namespace faio;

constexpr int batch = 10'000;

/// Runs `make()`, a task that does `operations` of them, again and again.
template <class Make>
void run(benchmark::State& state, config how, std::int64_t operations, Make make) {
  runtime_context ctx{std::move(how)};
  for (auto _ : state) ctx.block_on(make());
  state.SetItemsProcessed(state.iterations() * operations);
}

[[gnu::noinline]] int number(int n) {
  benchmark::DoNotOptimize(n);
  return n;
}
task<int> number_later(int n) { co_return number(n); }

void calls(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i) benchmark::DoNotOptimize(number(i));
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void awaits(benchmark::State& state) {
  run(state, {.workers = 1}, batch, []() -> task<> {
    for (int i = 0; i < batch; ++i) benchmark::DoNotOptimize(co_await number_later(i));
  });
}

void yields(benchmark::State& state) {
  run(state, {.workers = 1}, batch, []() -> task<> {
    for (int i = 0; i < batch; ++i) co_await yield();
  });
}

void forks(benchmark::State& state, std::size_t workers) {
  run(state, {.workers = workers, .discipline = discipline::lifo}, batch, []() -> task<> {
    for (int i = 0; i < batch / 2; ++i) {
      const auto [a, b] = co_await when_all(number_later(i), number_later(i));
      benchmark::DoNotOptimize(a + b);
    }
  });
}

void spawns(benchmark::State& state, std::size_t workers) {
  run(state, {.workers = workers}, batch, []() -> task<> {
    std::vector<join_handle<int>> handles;
    handles.reserve(batch);
    for (int i = 0; i < batch; ++i) handles.push_back(spawn(number_later(i)));
    for (auto& each : handles) benchmark::DoNotOptimize(co_await std::move(each));
  });
}

void groups(benchmark::State& state, std::size_t workers) {
  run(state, {.workers = workers}, batch, []() -> task<> {
    task_group group;
    for (int i = 0; i < batch; ++i) group.spawn(number_later(i));
    co_await group.join();
  });
}

/// Of an hour, each of which is stopped: the wheel, the stop list and the way back.
void stopped_sleeps(benchmark::State& state, std::size_t workers) {
  run(state, {.workers = workers}, batch, []() -> task<> {
    task_group group;
    for (int i = 0; i < batch; ++i) {
      group.spawn([]() -> task<> { (void)co_await sleep_for(std::chrono::hours(1)); }());
    }
    group.request_stop();
    co_await group.join();
  });
}

/// From a thread outside and back: what wakes, not what runs.
void round_trips(benchmark::State& state, std::size_t workers) {
  runtime_context ctx{{.workers = workers}};
  for (auto _ : state) benchmark::DoNotOptimize(ctx.block_on(number_later(1)));
  state.SetItemsProcessed(state.iterations());
}

template <class... Args, class Function>
void add(const std::string& name, Function function, Args... args) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { function(state, args...); })->UseRealTime();
}

constexpr faio::bench::bar bars[] = {{"an await beside a call", "await", "call", faio::bench::no_bar}};

}  // namespace

int main(int argc, char** argv) {
  add("call", calls);
  add("await", awaits);
  add("yield", yields);
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    const std::string on = "/workers:" + std::to_string(workers);
    add("when_all of two, a child" + on, forks, workers);
    add("spawn and await" + on, spawns, workers);
    add("spawn into a group" + on, groups, workers);
    add("a sleep that is stopped" + on, stopped_sleeps, workers);
    add("block_on" + on, round_trips, workers);
  }
  return faio::bench::run(argc, argv, bars);
}
