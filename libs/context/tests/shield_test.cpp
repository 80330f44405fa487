// shield_test -- a task that does not hear its awaiter's stop requests, and all that is beneath it neither.
#include "faio/context/shield.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>

#include "faio/context/context.hpp"
#include "runtimes.hpp"

namespace faio {
namespace {

using namespace std::chrono_literals;

task<bool> sleeps_undisturbed() {
  const auto slept = co_await sleep_for(5ms);
  co_return slept.has_value();
}

class ShieldTest : public testing::Test {
 protected:
  runtime_context ctx{{.workers = 2}};
};

TEST_F(ShieldTest, GivesTheValueAndTheException) {
  EXPECT_EQ(ctx.block_on([]() -> task<int> { co_return co_await shield([]() -> task<int> { co_return 7; }()); }), 7);
  EXPECT_THROW(ctx.block_on([]() -> task<void> {
    co_await shield([]() -> task<void> {
      throw std::runtime_error("from inside");
      co_return;
    }());
  }),
               std::runtime_error);
}

TEST_F(ShieldTest, DoesNotHearTheStopOfWhoeverAwaitsIt) {
  auto handle = ctx.spawn([]() -> task<std::pair<bool, bool>> {
    const auto mine = co_await current_stop_token();
    while (!mine.stop_requested()) co_await yield();
    const bool inside = co_await shield(sleeps_undisturbed());
    const auto outside = co_await sleep_for(1h);
    co_return std::pair(inside, outside.has_value());
  });
  handle.request_stop();
  const auto [inside, outside] = handle.get();
  EXPECT_TRUE(inside);
  EXPECT_FALSE(outside);
}

TEST_F(ShieldTest, DoesNotHearOneThatComesLater) {
  std::atomic<bool> began = false;
  auto handle = ctx.spawn([&]() -> task<bool> {
    co_return co_await shield([](std::atomic<bool>& started) -> task<bool> {
      const auto mine = co_await current_stop_token();
      started = true;
      const auto slept = co_await sleep_for(20ms);
      co_return slept && !mine.stop_requested();
    }(began));
  });
  while (!began) std::this_thread::yield();
  handle.request_stop();
  EXPECT_TRUE(handle.get());
}

TEST_F(ShieldTest, WhatIsSpawnedBeneathIsShieldedAndWaitedFor) {
  bool child_slept = false;
  auto handle = ctx.spawn([&]() -> task<void> {
    const auto mine = co_await current_stop_token();
    while (!mine.stop_requested()) co_await yield();
    co_await shield([](bool& slept) -> task<void> {
      spawn([&slept]() -> task<void> { slept = (co_await sleep_for(5ms)).has_value(); });
      co_return;
    }(child_slept));
    EXPECT_TRUE(child_slept);
  });
  handle.request_stop();
  handle.get();
  EXPECT_TRUE(child_slept);
}

TEST_F(ShieldTest, ATimeLimitInsideStillWorks) {
  auto handle = ctx.spawn([]() -> task<std::error_code> {
    const auto got = co_await shield([]() -> task<result<void>> { co_return co_await timeout(5ms, sleep_for(1h)); }());
    co_return got ? std::error_code() : got.error();
  });
  handle.request_stop();
  EXPECT_EQ(handle.get(), std::errc::timed_out);
}

TEST_F(ShieldTest, TheEndOfTheRuntimeDestroysOneThatDoesNotEnd) {
  const auto kept = std::make_shared<int>(1);
  auto handle = ctx.spawn([kept]() -> task<void> {
    auto inside = [](std::shared_ptr<int>) -> task<void> { co_await sleep_for(1h); }(kept);
    co_await shield(std::move(inside));
  });
  EXPECT_TRUE(ctx.stop(20ms).finished || ctx.stop(60s).finished);  // a loaded machine may need more than the first
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(ShieldTest, OneThatIsNeverAwaitedIsDestroyed) {
  const auto kept = std::make_shared<int>(1);
  {
    auto never = shield([](std::shared_ptr<int>) -> task<void> { co_return; }(kept));
    EXPECT_EQ(kept.use_count(), 2);
  }
  EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace faio
