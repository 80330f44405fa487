// join_state_test -- a task's two records: what ran goes at its end, what is left for the handle stays, and a stop request may meet either.
#include "faio/context/join_state.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "faio/scheduler/frame_allocator.hpp"
#include "runtimes.hpp"

namespace faio::tests {
namespace {

static_assert(sizeof(context::awaited_state<std::uint64_t>) <= 64, "a line of the cache");
static_assert(sizeof(context::live_task) <= 112);

task<std::uint64_t> number(std::uint64_t n) { co_return n; }

/// The task, and not only its coroutine, has ended.
template <class T>
void wait_until_gone(runtime_context& ctx, const join_handle<T>& handle) {
  handle.wait_until_done();
  while (ctx.core().live.size() != 0) std::this_thread::yield();
}

TEST(JoinState, WhatRanIsUsedAgainWhileTheHandleIsKept) {
  if (!scheduler::recycles_frames()) GTEST_SKIP() << "off under the address sanitizer";
  static constexpr std::uint64_t many = 100'000;
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<void> {
    std::vector<join_handle<std::uint64_t>> handles;
    handles.reserve(many);
    const std::size_t before = scheduler::frame_memory();
    for (std::uint64_t i = 0; i < many; ++i) {
      handles.push_back(spawn(number(i)));
      while (!handles.back().done()) co_await yield();
    }
    EXPECT_LT(scheduler::frame_memory() - before, many * 72);
    for (std::uint64_t i = 0; i < many; ++i) EXPECT_EQ(co_await std::move(handles[i]), i);
  });
}

TEST(JoinState, WhoIsFirstToAskATaskThatHasEndedIsToldSo) {
  runtime_context ctx{{.workers = 1}};
  auto handle = ctx.spawn(number(7));
  wait_until_gone(ctx, handle);
  EXPECT_TRUE(handle.request_stop());
  EXPECT_FALSE(handle.request_stop());
  EXPECT_EQ(handle.get(), 7U);
}

TEST(JoinState, WhoAsksATaskThatHasEndedOfAStopIsNotTheFirst) {
  runtime_context ctx{{.workers = 1}};
  auto handle = ctx.spawn([]() -> task<void> { co_await sleep_for(generous); });
  EXPECT_TRUE(handle.request_stop());
  wait_until_gone(ctx, handle);
  EXPECT_FALSE(handle.request_stop());
  handle.get();  // a sleep that is cut short is no error
}

TEST(JoinState, StopRequestsOfSeveralThreadsMeetTheEnd) {
  static constexpr int rounds = sanitized ? 500 : 5'000;
  runtime_context ctx{{.workers = 2}};
  std::atomic<int> firsts{0};
  for (int round = 0; round < rounds; ++round) {
    gate go;
    auto handle = ctx.spawn([&]() -> task<std::uint64_t> {
      co_await go.pass();
      co_return 7;
    });
    const auto ask = [&] {
      go.wait();
      if (handle.request_stop()) firsts.fetch_add(1);
    };
    std::thread one(ask);
    std::thread other(ask);
    go.open();
    handle.wait_until_done();
    one.join();
    other.join();
    EXPECT_EQ(handle.get(), 7U);
    EXPECT_EQ(firsts.exchange(0), 1);
  }
}

TEST(JoinState, AHandleOutlivesItsRuntime) {
  join_handle<std::uint64_t> handle;
  {
    runtime_context ctx{{.workers = 1}};
    handle = ctx.spawn(number(7));
    wait_until_gone(ctx, handle);
  }
  EXPECT_TRUE(handle.done());
  (void)handle.request_stop();
  EXPECT_EQ(handle.get(), 7U);
}

}  // namespace
}  // namespace faio::tests
