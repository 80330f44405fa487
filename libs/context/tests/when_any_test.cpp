// when_any_test -- the first wins, the others are stopped and waited for.
#include "faio/context/when_any.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<int> after(std::chrono::nanoseconds time, int value) {
  co_await sleep_for(time);
  co_return value;
}
task<int> now(int value) { co_return value; }

using WhenAnyEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(WhenAnyEverywhere);

TEST_P(WhenAnyEverywhere, GivesWhichWasFirstAndItsValue) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    auto first = co_await when_any(after(1h, 1), after(1ms, 2), after(1h, 3));
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(std::get<1>(first.value), 2);
    std::vector<task<int>> tasks;
    tasks.push_back(after(1h, 1));
    tasks.push_back(after(1h, 2));
    tasks.push_back(now(3));
    auto of_vector = co_await when_any(std::move(tasks));
    EXPECT_EQ(of_vector.index, 2U);
    EXPECT_EQ(of_vector.value, 3);
  });
}

TEST_P(WhenAnyEverywhere, TakesVoidReferencesAndWhatCanOnlyBeMoved) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    int number = 1;
    const auto nothing = []() -> task<void> { co_return; };
    const auto same = [](int& value) -> task<int&> { co_return value; };
    const auto boxed = [](int value) -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(value); };
    EXPECT_EQ((co_await when_any(nothing())).index, 0U);
    EXPECT_EQ(&std::get<0>((co_await when_any(same(number))).value).get(), &number);
    EXPECT_EQ(*std::get<0>((co_await when_any(boxed(4))).value), 4);
    std::vector<task<void>> voids;
    voids.push_back(nothing());
    EXPECT_EQ((co_await when_any(std::move(voids))).index, 0U);
    std::vector<task<int&>> references;
    references.push_back(same(number));
    EXPECT_EQ(&(co_await when_any(std::move(references))).value, &number);
  });
}

TEST_P(WhenAnyEverywhere, StopsTheLosersAndWaitsForThemAndTheirChildren) {
  runtime_context ctx{with(2)};
  std::atomic<int> stopped{0};
  const auto sleeps = [&]() -> task<void> {
    const auto slept = co_await sleep_for(1h);
    EXPECT_EQ(slept.error(), std::errc::operation_canceled);
    count(stopped);
  };
  const auto loses = [&]() -> task<void> {
    (void)spawn(sleeps());
    (void)spawn([&]() -> task<void> {
      (void)spawn(sleeps());
      co_await sleeps();
    });
    co_await sleeps();
  };
  ctx.block_on([&]() -> task<void> {
    auto first = co_await when_any(loses(), after(1ms, 1), loses());
    EXPECT_EQ(first.index, 1U);
    EXPECT_EQ(stopped.load(), 8) << "nothing of the losers is left running";
    EXPECT_FALSE((co_await current_stop_token()).stop_requested()) << "and the one that waited was not stopped";
    EXPECT_TRUE((co_await sleep_for(1ms)).has_value());
  });
}

TEST_P(WhenAnyEverywhere, ThrowsWhatTheWinnerThrewAndDropsWhatLosersThrow) {
  runtime_context ctx{with(2)};
  const auto fails = [](std::chrono::nanoseconds time, const char* why) -> task<int> {
    co_await sleep_for(time);
    throw std::runtime_error(why);
  };
  ctx.block_on([&]() -> task<void> {
    try {
      (void)co_await when_any(fails(1h, "loser"), fails(1ms, "winner"));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "winner");
    }
    auto first = co_await when_any(fails(1h, "loser"), now(2));
    EXPECT_EQ(std::get<1>(first.value), 2);
  });
  EXPECT_EQ(ctx.metrics().unhandled_exceptions, 0U);
}

TEST_P(WhenAnyEverywhere, Nests) {
  runtime_context ctx{with(2)};
  const auto inner = []() -> task<int> {
    auto first = co_await when_any(after(1h, 1), after(1h, 2));
    co_return first.index == 0 ? 10 : 20;
  };
  ctx.block_on([&]() -> task<void> {
    auto first = co_await when_any(inner(), inner(), after(2ms, 3));
    EXPECT_EQ(first.index, 2U);
  });
}

TEST_P(WhenAnyEverywhere, AStopFromAboveEndsIt) {
  runtime_context ctx{with(2)};
  std::atomic<int> began{0};
  auto handle = ctx.spawn([&]() -> task<std::size_t> {
    count(began);
    co_return (co_await when_any(after(1h, 1), after(1h, 2))).index;
  });
  wait_for(began, 1);
  EXPECT_TRUE(handle.request_stop());
  EXPECT_LT(handle.get(), 2U);
}

TEST(WhenAnyTest, OfNoneAndOfAnEmptyTaskAreRefusedAndTheOthersAreNotLeaked) {
  runtime_context ctx{{.workers = 1}};
  std::atomic<int> alive{0};
  ctx.block_on([&]() -> task<void> {
    const auto holds = [](tracked) -> task<int> { co_return 1; };
    EXPECT_THROW((void)co_await when_any(std::vector<task<int>>()), std::logic_error);
    EXPECT_THROW((void)co_await when_any(holds(tracked(alive)), task<int>()), std::logic_error);
    std::vector<task<int>> tasks;
    tasks.push_back(holds(tracked(alive)));
    tasks.emplace_back();
    EXPECT_THROW((void)co_await when_any(std::move(tasks)), std::logic_error);
    {
      auto never_awaited = when_any(holds(tracked(alive)), holds(tracked(alive)));
    }
  });
  EXPECT_EQ(alive.load(), 0);
}

/// Winners that end at the same time, on workers that steal: each race has one, and gives its value.
TEST_P(WhenAnyEverywhere, HasOneWinnerWhenAllEndAtOnce) {
  runtime_context ctx{with(4)};
  std::minstd_rand random(static_cast<unsigned>(seed()));
  ctx.block_on([&]() -> task<void> {
    for (int round = 0; round < (sanitized ? 200 : 1000); ++round) {
      std::vector<task<int>> tasks;
      const auto same = std::chrono::microseconds(random() % 200);
      for (int i = 0; i < 5; ++i) tasks.push_back(random() % 3 == 0 ? now(i) : after(same, i));
      const auto first = co_await when_any(std::move(tasks));
      EXPECT_EQ(static_cast<std::size_t>(first.value), first.index);
    }
  });
}

}  // namespace
}  // namespace faio::tests
