// tasks -- what it costs to spawn, to yield, to be woken, and to do nothing.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "workloads.hpp"

namespace compare {
namespace {

using faio::task;

task<std::uint64_t> number(std::uint64_t n) { co_return n; }

task<> spawn_and_await(std::size_t n) {
  std::vector<faio::join_handle<std::uint64_t>> handles;
  handles.reserve(n);
  for (std::size_t i = 0; i < n; ++i) handles.push_back(faio::spawn(number(i)));
  std::uint64_t sum = 0;
  for (auto& each : handles) sum += co_await std::move(each);
  expect(sum == n * (n - 1) / 2, "spawn_await");
}

task<> yields(std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) co_await faio::yield();
}

/// Each spawns the next; block_on waits for all that was spawned beneath.
task<> link(std::size_t left, std::size_t& ran) {
  ++ran;
  if (left > 1) faio::spawn(link(left - 1, ran));
  co_return;
}

}  // namespace

void spawn_await(options& wanted) {
  const std::size_t n = wanted.number("n", 1'000'000);
  const std::size_t times = wanted.number("times", 1);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  timed(n * times, [&] {
    for (std::size_t i = 0; i < times; ++i) ctx.block_on(spawn_and_await(n));
  }).print();
}

void yield(options& wanted) {
  const std::size_t n = wanted.number("n", 1'000'000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  timed(n, [&] { ctx.block_on(yields(n)); }).print();
}

void chain(options& wanted) {
  const std::size_t n = wanted.number("n", 1'000'000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  std::size_t ran = 0;
  timed(n, [&] { ctx.block_on(link(n, ran)); }).print();
  expect(ran == n, "chain");
}

/// From a thread that is no worker; it keeps the handles and waits for each.
void inject(options& wanted) {
  const std::size_t n = wanted.number("n", 1'000'000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  timed(n, [&] {
    std::vector<faio::join_handle<std::uint64_t>> handles;
    handles.reserve(n);
    for (std::size_t i = 0; i < n; ++i) handles.push_back(ctx.spawn(number(i)));
    std::uint64_t sum = 0;
    for (auto& each : handles) sum += each.get();
    expect(sum == n * (n - 1) / 2, "inject");
  }).print();
}

/// A thread sets an event that a task waits for, when the runtime has had a millisecond to go to sleep.
void wake(options& wanted) {
  const std::size_t n = wanted.number("n", 2000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  faio::sync::event ready(faio::sync::reset::automatic);
  std::atomic<std::int64_t> woken_at = 0;
  auto waiting = ctx.spawn([&]() -> task<> {
    for (std::size_t i = 0; i < n; ++i) {
      co_await ready.wait();
      woken_at.store(clock::now().time_since_epoch().count(), std::memory_order_release);
      woken_at.notify_one();
    }
  });
  std::vector<double> micros;
  for (std::size_t i = 0; i < n; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    woken_at.store(0, std::memory_order_relaxed);
    const auto set_at = clock::now().time_since_epoch().count();
    ready.set();
    woken_at.wait(0, std::memory_order_acquire);
    micros.push_back(static_cast<double>(woken_at.load(std::memory_order_relaxed) - set_at) * 1e-3);
  }
  waiting.get();
  report().add("p50_us", percentile(micros, 0.5)).add("p99_us", percentile(micros, 0.99)).print();
}

/// A runtime with nothing to do but one sleep.
void idle(options& wanted) {
  const auto length = std::chrono::milliseconds(wanted.number("ms", 3000));
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  ctx.block_on([] {});
  const double before = cpu_seconds();
  ctx.block_on([=]() -> task<> { co_await faio::sleep_for(length); });
  report().add("cpu_seconds", cpu_seconds() - before).print();
}

}  // namespace compare
