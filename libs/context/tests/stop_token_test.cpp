// stop_token_test -- stop tokens from parent to child, and the races of a stop with an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<void> sleeps_for_ever(std::atomic<int>& began, std::atomic<int>& stopped) {
  count(began);
  const auto slept = co_await sleep_for(1h);
  if (!slept) count(stopped);
}

using StopTokenEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(StopTokenEverywhere);

TEST_P(StopTokenEverywhere, AStopReachesChildrenAndGrandchildren) {
  runtime_context ctx{with(2)};
  std::atomic<int> began{0};
  std::atomic<int> stopped{0};
  auto handle = ctx.spawn([&]() -> task<void> {
    (void)spawn(sleeps_for_ever(began, stopped));  // detached
    auto kept = spawn([&]() -> task<void> {
      (void)spawn(sleeps_for_ever(began, stopped));
      auto inner = spawn(sleeps_for_ever(began, stopped));
      co_await when_all(sleeps_for_ever(began, stopped), sleeps_for_ever(began, stopped));
      co_await std::move(inner);
    });
    (void)co_await when_any(sleeps_for_ever(began, stopped), sleeps_for_ever(began, stopped));
    (void)co_await timeout(1h, sleeps_for_ever(began, stopped));
    task_group group;
    group.spawn(sleeps_for_ever(began, stopped));
    co_await group.join();
    co_await compute([&] { (void)spawn(sleeps_for_ever(began, stopped)); });
    co_await std::move(kept);
  });
  wait_for(began, 7);
  handle.request_stop();
  handle.get();
  ctx.block_on([]() -> task<void> { co_return; });
  wait_for(stopped, 10);
  EXPECT_EQ(began.load(), stopped.load());
}

TEST_P(StopTokenEverywhere, AStopDoesNotReachParentsAndSiblings) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    std::atomic<int> began{0};
    std::atomic<int> stopped{0};
    auto stopped_one = spawn(sleeps_for_ever(began, stopped));
    auto sibling = spawn([]() -> task<bool> { co_return (co_await sleep_for(5ms)).has_value(); });
    stopped_one.request_stop();
    co_await std::move(stopped_one);
    EXPECT_EQ(stopped.load(), 1);
    EXPECT_TRUE(co_await std::move(sibling));
    EXPECT_TRUE((co_await sleep_for(1ms)).has_value());
  });
}

TEST_P(StopTokenEverywhere, TheTokenSaysSoAndCallsBack) {
  runtime_context ctx{with(2)};
  gate began;
  std::atomic<int> called{0};
  auto handle = ctx.spawn([&]() -> task<void> {
    const std::stop_token token = co_await current_stop_token();
    EXPECT_TRUE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    const std::stop_callback callback(token, [&] { count(called); });
    began.open();
    while (!token.stop_requested()) co_await yield();
    EXPECT_TRUE((co_await current_stop_token()).stop_requested());
    auto child = spawn([]() -> task<bool> { co_return (co_await current_stop_token()).stop_requested(); });
    EXPECT_TRUE(co_await std::move(child)) << "born stopped";
  });
  began.wait();
  handle.request_stop();
  handle.get();
  EXPECT_EQ(called.load(), 1);
}

/// A stop request wakes the waits first and calls back afterwards; here a callback holds the rest of them up.
TEST_P(StopTokenEverywhere, ATokenIsNotBehindTheStopThatEndedAWait) {
  std::atomic<int> began{0};
  std::atomic<int> stopped{0};
  gate go;
  const auto holds_up = [&go] { go.wait(); };
  std::optional<std::stop_callback<decltype(holds_up)>> callbacks[2];
  runtime_context ctx{with(2)};
  const auto holder = [&](auto& callback) -> task<void> {
    callback.emplace(co_await current_stop_token(), holds_up);
    co_await sleeps_for_ever(began, stopped);
  };
  auto handle = ctx.spawn([&]() -> task<bool> {
    // One of them is asked before this task's own token is, in whichever order that goes.
    auto first = spawn(holder(callbacks[0]));
    while (began.load() < 1) co_await yield();
    (void)co_await current_stop_token();
    auto second = spawn(holder(callbacks[1]));
    co_await sleeps_for_ever(began, stopped);
    co_return (co_await current_stop_token()).stop_requested();
  });
  wait_for(began, 3);
  std::thread asks([&] { handle.request_stop(); });
  handle.wait_until_done();
  go.open();
  asks.join();
  EXPECT_TRUE(handle.get());
}

TEST_P(StopTokenEverywhere, AStopAfterTheEndDoesNoHarm) {
  runtime_context ctx{with(2)};
  auto handle = ctx.spawn([]() -> task<int> {
    (void)co_await current_stop_token();
    co_return 1;
  });
  handle.wait_until_done();
  handle.request_stop();
  EXPECT_EQ(handle.get(), 1);
}

/// Somebody else's task: the wait ends, the task does not.
TEST_P(StopTokenEverywhere, AStopEndsTheWaitForSomebodyElsesTask) {
  gate go;  // outlives the task that nobody waits for
  std::atomic<int> began{0};
  runtime_context ctx{with(2)};
  auto other = ctx.spawn([&]() -> task<int> {
    co_await go.pass();
    co_return 1;
  });
  auto waits = ctx.spawn([&, handle = std::move(other)]() mutable -> task<std::error_code> {
    count(began);
    try {
      (void)co_await std::move(handle);
    } catch (const std::system_error& error) {
      co_return error.code();
    }
    co_return std::error_code();
  });
  wait_for(began, 1);
  waits.request_stop();
  EXPECT_EQ(waits.get(), std::errc::operation_canceled);
  go.open();
}

TEST_P(StopTokenEverywhere, RacesOfTheEndOfATaskAndAStopForItsWaiter) {
  runtime_context ctx{with(4)};
  std::minstd_rand random(static_cast<unsigned>(seed()));
  constexpr int rounds = sanitized ? 300 : 2000;
  int ended = 0;
  int canceled = 0;
  for (int i = 0; i < rounds; ++i) {
    auto other = ctx.spawn([turns = random() % 8]() -> task<int> {
      for (std::size_t turn = 0; turn < turns; ++turn) co_await yield();
      co_return 1;
    });
    auto waits = ctx.spawn([handle = std::move(other)]() mutable -> task<int> {
      try {
        co_return co_await std::move(handle);
      } catch (const std::system_error&) {
        co_return 0;
      }
    });
    for (auto spin = random() % 200; spin > 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    waits.request_stop();
    ++(waits.get() == 1 ? ended : canceled);
  }
  EXPECT_EQ(ended + canceled, rounds);
}

/// The task ends while its handle asks it to stop, and its children with it.
TEST_P(StopTokenEverywhere, RacesOfAnEndAndAStop) {
  runtime_context ctx{with(4)};
  std::minstd_rand random(static_cast<unsigned>(seed()));
  constexpr int rounds = sanitized ? 500 : 3000;
  std::atomic<int> ended{0};
  for (int i = 0; i < rounds; ++i) {
    auto handle = ctx.spawn([&ended, turns = random() % 6]() -> task<void> {
      (void)spawn([&ended]() -> task<void> {
        (void)co_await sleep_for(10us);
        ended.fetch_add(1);
      });
      for (std::size_t turn = 0; turn < turns; ++turn) {
        if (turn % 2 == 0) {
          co_await yield();
        } else {
          (void)co_await current_stop_token();
        }
      }
      ended.fetch_add(1);
    });
    if (random() % 2 == 0) {
      ctx.post([other = std::make_shared<join_handle<void>>(std::move(handle))] { other->request_stop(); });
    } else {
      for (auto spin = random() % 200; spin > 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
      handle.request_stop();
      handle.get();
    }
  }
  EXPECT_TRUE(ctx.stop(generous).finished);
  EXPECT_EQ(ended.load(), 2 * rounds);
}

}  // namespace
}  // namespace faio::tests
