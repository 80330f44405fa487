// stack_test -- the stack stays flat whatever the compiler makes of a transfer: built with -O0 and with -O2.
//
// Every worker's thread has the stack that a thread has by default; a chain that grew it would end in a segmentation fault.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

constexpr int awaits = 10'000'000;
constexpr int deep = 1'000'000;
// What costs more than an await: with a sanitizer, still several times what a stack of 8 MiB would hold.
constexpr int deep_forks = sanitized ? deep / 4 : deep;
constexpr int deep_spawns = sanitized ? deep / 4 : deep;
constexpr int deep_races = deep / 4;

task<int> one() { co_return 1; }
task<int> one_later() {
  co_await yield();
  co_return 1;
}

TEST(StackTest, MillionsOfAwaitsInALoop) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_EQ(ctx.block_on([]() -> task<int> {
    int sum = 0;
    for (int i = 0; i < awaits; ++i) sum += co_await one();
    co_return sum;
  }),
            awaits);
}

TEST(StackTest, AwaitsOfWhenAllInALoop) {
  runtime_context ctx{{.workers = 2}};
  EXPECT_EQ(ctx.block_on([]() -> task<int> {
    int sum = 0;
    for (int i = 0; i < deep_forks / 2; ++i) {
      auto [a, b] = co_await when_all(one(), one());
      auto [c] = co_await when_all(one());
      sum += a + b + c;
    }
    co_return sum;
  }),
            deep_forks / 2 * 3);
}

TEST(StackTest, AwaitsOfHandlesInALoop) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_EQ(ctx.block_on([]() -> task<int> {
    int sum = 0;
    for (int i = 0; i < awaits / 20; ++i) sum += co_await spawn(one());
    co_return sum;
  }),
            awaits / 20);
}

task<int> recurse(int left) {
  if (left == 0) co_return 0;
  co_return 1 + co_await recurse(left - 1);
}
TEST(StackTest, RecursionAMillionDeep) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_EQ(ctx.block_on(recurse(deep)), deep);
}

task<int> recurse_and_suspend(int left) {
  if (left == 0) co_return co_await one_later() - 1;
  const int below = co_await recurse_and_suspend(left - 1);
  if (left % 1000 == 0) co_await yield();
  co_return 1 + below;
}
TEST(StackTest, RecursionAMillionDeepThatSuspends) {
  runtime_context ctx{{.workers = 2}};
  EXPECT_EQ(ctx.block_on(recurse_and_suspend(deep)), deep);
}

task<int> recurse_and_throw(int left) {
  if (left == 0) throw std::runtime_error("the bottom");
  co_return 1 + co_await recurse_and_throw(left - 1);
}
/// A tenth with a sanitizer: ASan takes most of a minute for a million throws.
TEST(StackTest, AnExceptionUnwindsAMillionCoroutines) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_THROW((void)ctx.block_on(recurse_and_throw(sanitized ? deep / 10 : deep)), std::runtime_error);
}

task<int> recurse_when_all(int left) {
  if (left == 0) co_return 0;
  auto [below] = co_await when_all(recurse_when_all(left - 1));
  co_return 1 + below;
}
task<int> recurse_when_all_two(int left) {
  if (left == 0) co_return 0;
  auto [below, beside] = co_await when_all(recurse_when_all_two(left - 1), one());
  co_return beside + below;
}
task<int> recurse_when_all_vector(int left) {
  if (left == 0) co_return 0;
  std::vector<task<int>> tasks;
  tasks.push_back(recurse_when_all_vector(left - 1));
  co_return 1 + (co_await when_all(std::move(tasks))).front();
}
TEST(StackTest, RecursionThroughWhenAll) {
  for (const auto order : {discipline::fifo, discipline::lifo}) {
    runtime_context ctx{{.workers = 2, .discipline = order}};
    EXPECT_EQ(ctx.block_on(recurse_when_all(deep_forks)), deep_forks);
    EXPECT_EQ(ctx.block_on(recurse_when_all_two(deep_forks)), deep_forks);
    EXPECT_EQ(ctx.block_on(recurse_when_all_vector(deep_forks / 2)), deep_forks / 2);
  }
}

task<int> recurse_when_any(int left) {
  if (left == 0) co_return 0;
  auto first = co_await when_any(recurse_when_any(left - 1));
  co_return 1 + std::get<0>(first.value);
}
TEST(StackTest, RecursionThroughWhenAny) {
  runtime_context ctx{{.workers = 2}};
  EXPECT_EQ(ctx.block_on(recurse_when_any(deep_races)), deep_races);
}

task<int> recurse_spawn(int left) {
  if (left == 0) co_return 0;
  co_return 1 + co_await spawn(recurse_spawn(left - 1));
}
TEST(StackTest, RecursionThroughSpawn) {
  runtime_context ctx{{.workers = 2}};
  EXPECT_EQ(ctx.block_on(recurse_spawn(deep_spawns)), deep_spawns);
}

task<int> recurse_spawn_then_sleep(int left, std::atomic<int>& at_the_end) {
  if (left == 0) {
    count(at_the_end);
    co_return (co_await sleep_for(1h)) ? 1 : 0;
  }
  co_return 1 + co_await spawn(recurse_spawn_then_sleep(left - 1, at_the_end));
}
/// Each task has a scope of its own: a stop of the first passes through all of them.
TEST(StackTest, AStopReachesTheEndOfADeepChainOfSpawns) {
  runtime_context ctx{{.workers = 2}};
  std::atomic<int> at_the_end{0};
  auto handle = ctx.spawn(recurse_spawn_then_sleep(deep_spawns, at_the_end));
  wait_for(at_the_end, 1);
  handle.request_stop();
  EXPECT_EQ(handle.get(), deep_spawns);
}

task<int> recurse_when_any_then_sleep(int left, std::atomic<int>& at_the_end) {
  if (left == 0) {
    count(at_the_end);
    co_return (co_await sleep_for(1h)) ? 1 : 0;
  }
  co_return 1 + std::get<0>((co_await when_any(recurse_when_any_then_sleep(left - 1, at_the_end))).value);
}
TEST(StackTest, AStopReachesTheEndOfADeepChainOfRaces) {
  runtime_context ctx{{.workers = 2}};
  std::atomic<int> at_the_end{0};
  auto handle = ctx.spawn(recurse_when_any_then_sleep(deep_races, at_the_end));
  wait_for(at_the_end, 1);
  handle.request_stop();
  EXPECT_EQ(handle.get(), deep_races);
}

// ---- Destroyed while they are suspended at their end.

task<void> never(std::atomic<int>& at_the_end) {
  count(at_the_end);
  for (;;) co_await sleep_for(1h);
}
task<void> chain(int left, std::atomic<int>& alive, std::atomic<int>& at_the_end) {
  const tracked keep(alive);
  if (left == 0) co_return co_await never(at_the_end);
  co_await chain(left - 1, alive, at_the_end);
}
task<void> chain_when_all(int left, std::atomic<int>& alive, std::atomic<int>& at_the_end) {
  const tracked keep(alive);
  if (left == 0) co_return co_await never(at_the_end);
  if (left % 2 == 0) {
    co_await when_all(chain_when_all(left - 1, alive, at_the_end));
  } else {
    std::vector<task<void>> tasks;
    tasks.push_back(chain_when_all(left - 1, alive, at_the_end));
    tasks.push_back([]() -> task<void> { co_return; }());
    co_await when_all(std::move(tasks));
  }
}
task<void> chain_when_any(int left, std::atomic<int>& alive, std::atomic<int>& at_the_end) {
  const tracked keep(alive);
  if (left == 0) co_return co_await never(at_the_end);
  (void)co_await when_any(chain_when_any(left - 1, alive, at_the_end));
}
task<void> chain_spawn(int left, std::atomic<int>& alive, std::atomic<int>& at_the_end) {
  const tracked keep(alive);
  if (left == 0) co_return co_await never(at_the_end);
  auto handle = spawn(chain_spawn(left - 1, alive, at_the_end));
  co_await std::move(handle);
}
template <class Chain>
void destroy_suspended(Chain chain_of, int depth) {
  std::atomic<int> alive{0};
  std::atomic<int> at_the_end{0};
  runtime_context ctx{{.workers = 2}};
  (void)ctx.spawn(chain_of(depth, alive, at_the_end));
  wait_for(at_the_end, 1);
  EXPECT_TRUE(ctx.stop(1ms).finished || ctx.stop(60s).finished);  // a loaded machine may need more than the first
  EXPECT_EQ(alive.load(), 0);
}
TEST(StackTest, StopDestroysAChainAMillionDeep) { destroy_suspended(&chain, deep); }
TEST(StackTest, StopDestroysADeepChainOfForks) { destroy_suspended(&chain_when_all, deep_forks); }
TEST(StackTest, StopDestroysAChainOfRaces) { destroy_suspended(&chain_when_any, deep_races); }
TEST(StackTest, StopDestroysAChainOfSpawns) { destroy_suspended(&chain_spawn, deep_spawns); }

/// A task that never really suspends leaves the others their turn.
TEST(StackTest, AnEndlessChainOfAwaitsStarvesNobody) {
  runtime_context ctx{{.workers = 1}};
  std::atomic<bool> over{false};
  auto endless = ctx.spawn([&]() -> task<std::int64_t> {
    std::int64_t sum = 0;
    while (!over) sum += co_await one();
    co_return sum;
  });
  ctx.block_on([&]() -> task<void> {
    co_await sleep_for(1ms);
    co_await blocking([] {});
    over = true;
  });
  EXPECT_GT(endless.get(), 0);
}

}  // namespace
}  // namespace faio::tests
