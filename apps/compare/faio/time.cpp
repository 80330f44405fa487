// time -- many sleeps: how late the latest is, and what a sleeping task weighs.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "workloads.hpp"

namespace compare {
namespace {

using faio::task;

task<> sleep_and_note(std::chrono::milliseconds length, double& late_ms) {
  const auto due = clock::now() + length;
  co_await faio::sleep_for(length);
  late_ms = std::chrono::duration<double, std::milli>(clock::now() - due).count();
}

task<> sleep_long(std::atomic<std::size_t>& begun) {
  begun.fetch_add(1, std::memory_order_relaxed);
  co_await faio::sleep_for(std::chrono::hours(1));
}

}  // namespace

void sleeps(options& wanted) {
  const std::size_t n = wanted.number("n", 100'000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  std::vector<double> late(n);
  auto answer = timed(n, [&] {
    ctx.block_on([&]() -> task<> {
      faio::task_group group;
      for (std::size_t i = 0; i < n; ++i) group.spawn(sleep_and_note(std::chrono::milliseconds(1 + i % 100), late[i]));
      co_await group.join();
    });
  });
  answer.add("latest_ms", *std::max_element(late.begin(), late.end()))
      .add("late_p99_ms", percentile(late, 0.99))
      .print();
}

/// The growth of the resident set from before the first spawn to when all sleep: frames, records, timers, all of it.
void sleepers(options& wanted) {
  const std::size_t n = wanted.number("n", 1'000'000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  std::atomic<std::size_t> begun = 0;
  const double before = resident_bytes();
  ctx.block_on([&]() -> task<> {
    faio::task_group group;
    for (std::size_t i = 0; i < n; ++i) group.spawn(sleep_long(begun));
    while (begun.load(std::memory_order_relaxed) != n) co_await faio::sleep_for(std::chrono::milliseconds(1));
    co_await faio::sleep_for(
        std::chrono::milliseconds(10));  // the last ones are on their way from the count to the timer
    report().add("bytes_each", (resident_bytes() - before) / static_cast<double>(n)).print();
    group.request_stop();
    co_await group.join();
  });
}

}  // namespace compare
