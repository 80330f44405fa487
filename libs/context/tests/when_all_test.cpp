// when_all_test -- several at once, values in order, the first exception by position.
#include "faio/context/when_all.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<int> add(int a, int b) {
  co_await yield();
  co_return a + b;
}
task<int> now(int value) { co_return value; }
task<void> nothing() { co_await yield(); }
task<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }
task<int&> same(int& value) {
  co_await yield();
  co_return value;
}
task<int> fails(const char* why) {
  co_await yield();
  throw std::runtime_error(why);
}

using WhenAllEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(WhenAllEverywhere);

TEST_P(WhenAllEverywhere, GivesATupleInOrder) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    int number = 5;
    auto [a, b, c, d] = co_await when_all(add(1, 2), nothing(), boxed(3), same(number));
    static_assert(std::is_same_v<decltype(b), std::monostate>);
    EXPECT_EQ(a, 3);
    EXPECT_EQ(*c, 3);
    EXPECT_EQ(&d, &number);
  });
}

TEST_P(WhenAllEverywhere, GivesAVectorInOrder) {
  runtime_context ctx{with(4)};
  ctx.block_on([]() -> task<void> {
    constexpr int many = 10'000;
    std::vector<task<int>> tasks;
    for (int i = 0; i < many; ++i) tasks.push_back(i % 3 == 0 ? now(i) : add(i, 0));
    const std::vector<int> all = co_await when_all(std::move(tasks));
    EXPECT_EQ(all.size(), static_cast<std::size_t>(many));
    for (int i = 0; i < many; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);

    std::vector<task<void>> voids;
    for (int i = 0; i < 10; ++i) voids.push_back(nothing());
    co_await when_all(std::move(voids));
    std::vector<task<std::unique_ptr<int>>> boxes;
    for (int i = 0; i < 10; ++i) boxes.push_back(boxed(i));
    EXPECT_EQ(*(co_await when_all(std::move(boxes))).at(9), 9);
    int number = 0;
    std::vector<task<int&>> references;
    references.push_back(same(number));
    EXPECT_EQ(&(co_await when_all(std::move(references))).at(0).get(), &number);
  });
}

TEST_P(WhenAllEverywhere, PutsTheValuesIntoAnArrayOfTheCallers) {
  runtime_context ctx{with(4)};
  ctx.block_on([]() -> task<void> {
    std::array<task<int>, 8> tasks;
    std::array<int, 8> sums{};
    std::size_t n = 0;
    for (; n < 5; ++n) tasks[n] = n % 2 == 0 ? add(static_cast<int>(n), 1) : now(7);
    co_await when_all(std::span(tasks).first(n), std::span(sums));
    EXPECT_EQ(sums, (std::array<int, 8>{1, 7, 3, 7, 5, 0, 0, 0}));
    for (const auto& each : tasks) EXPECT_FALSE(each) << "they have run, or were never there";

    std::array<task<std::unique_ptr<int>>, 2> boxes{boxed(1), boxed(2)};
    std::array<std::unique_ptr<int>, 2> got;
    co_await when_all(std::span(boxes), got);
    EXPECT_EQ(*got[0] + *got[1], 3);
    co_await when_all(std::span(boxes).first(0), {});
  });
}

TEST_P(WhenAllEverywhere, TakesTheTasksOfAList) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    for (int n = 0; n <= 8; ++n) {
      task_list<int, 8> children;
      std::array<int, 8> sums;
      for (int i = 0; i < n; ++i) children.push_back(add(i, i));
      EXPECT_EQ(children.size(), static_cast<std::size_t>(n));
      co_await when_all(children.all(), std::span(sums));
      for (int i = 0; i < n; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)], 2 * i);
      for (const auto& each : children.all()) EXPECT_FALSE(each) << "it has run";
    }
  });
}

TEST(TaskListTest, RefusesMoreThanItHasRoomForAndDestroysWhatWasNotAwaited) {
  const auto held = std::make_shared<int>(1);
  const auto holds = [](std::shared_ptr<int> what) -> task<int> { co_return *what; };
  {
    task_list<int, 2> children;
    children.push_back(holds(held));
    children.push_back(holds(held));
    EXPECT_EQ(held.use_count(), 3);
    EXPECT_THROW(children.push_back(holds(held)), std::length_error);
    EXPECT_EQ(children.size(), 2U);
    EXPECT_EQ(held.use_count(), 3) << "the third is gone";
  }
  EXPECT_EQ(held.use_count(), 1);
}

/// The first exception by position is thrown; what came before and after it is destroyed, whatever it is.
TEST_P(WhenAllEverywhere, DestroysTheValuesThatNobodyTook) {
  runtime_context ctx{with(2)};
  const auto held = std::make_shared<int>(1);
  ctx.block_on([](std::shared_ptr<int> all_hold) -> task<void> {
    const auto copy = [](std::shared_ptr<int> what) -> task<std::shared_ptr<int>> {
      co_await yield();
      co_return what;
    };
    const auto none = []() -> task<std::shared_ptr<int>> {
      co_await yield();
      throw std::runtime_error("none");
    };
    for (int where = 0; where < 4; ++where) {
      std::vector<task<std::shared_ptr<int>>> children;
      for (int i = 0; i < 4; ++i) children.push_back(i >= where ? none() : copy(all_hold));
      children.push_back(copy(all_hold));
      bool threw = false;
      try {
        (void)co_await when_all(std::move(children));
      } catch (const std::runtime_error&) {
        threw = true;
      }
      EXPECT_TRUE(threw);
    }
  }(held));
  EXPECT_EQ(held.use_count(), 1);
}

/// In the middle: some were prepared already, none has begun.
TEST_P(WhenAllEverywhere, AnEmptyTaskAmongManyIsRefusedAndTheOthersCanStillRun) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    std::array<int, 5> sums{};
    for (std::size_t hole = 0; hole < 5; ++hole) {
      std::array<task<int>, 5> tasks;
      for (std::size_t i = 0; i < 5; ++i)
        if (i != hole) tasks[i] = add(static_cast<int>(i), 1);
      bool refused = false;
      try {
        co_await when_all(std::span(tasks), std::span(sums));
      } catch (const std::logic_error&) {
        refused = true;
      }
      EXPECT_TRUE(refused);
      tasks[hole] = now(0);
      co_await when_all(std::span(tasks), std::span(sums));
      for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(sums[i], i == hole ? 0 : static_cast<int>(i) + 1);
    }
  });
}

TEST_P(WhenAllEverywhere, AnArrayWithTooFewPlacesOrAnEmptyTaskIsRefused) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    std::array<task<int>, 2> tasks{add(1, 1), add(2, 2)};
    std::array<int, 1> few{};
    EXPECT_THROW((void)when_all(std::span(tasks), few), std::logic_error);
    std::array<int, 3> more{};
    tasks[1] = {};
    bool refused = false;
    try {
      co_await when_all(std::span(tasks), more);
    } catch (const std::logic_error&) {
      refused = true;
    }
    EXPECT_TRUE(refused);
    EXPECT_TRUE(tasks[0]) << "it was not started, and is the caller's";
    const int sum = co_await std::move(tasks[0]);
    EXPECT_EQ(sum, 2);

    std::array<task<int>, 2> failing{fails("first"), add(1, 2)};
    try {
      co_await when_all(std::span(failing), more);
      ADD_FAILURE() << "it did not throw";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
  });
}

TEST_P(WhenAllEverywhere, OfNoneAndOfOne) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    EXPECT_EQ(co_await when_all(), std::tuple<>());
    EXPECT_TRUE((co_await when_all(std::vector<task<int>>())).empty());
    EXPECT_EQ(co_await when_all(now(1)), std::make_tuple(1));
    EXPECT_EQ(co_await when_all(add(1, 1)), std::make_tuple(2));
  });
}

/// A thousand at once that all wait for the last: they really are at once.
TEST_P(WhenAllEverywhere, RunsAllAtOnce) {
  runtime_context ctx{with(2)};
  std::atomic<int> arrived{0};
  static constexpr int many = 1000;
  ctx.block_on([&]() -> task<void> {
    std::vector<task<void>> tasks;
    for (int i = 0; i < many; ++i) {
      tasks.push_back([](std::atomic<int>& here) -> task<void> {
        here.fetch_add(1);
        while (here.load() < many) co_await yield();
      }(arrived));
    }
    co_await when_all(std::move(tasks));
  });
  EXPECT_EQ(arrived.load(), many);
}

TEST_P(WhenAllEverywhere, ThrowsTheFirstByPositionAfterAllHaveEnded) {
  runtime_context ctx{with(2)};
  std::atomic<int> ended{0};
  const auto slow = [&]() -> task<void> {
    co_await sleep_for(5ms);
    count(ended);
  };
  const auto late = [](const char* why) -> task<int> {
    co_await sleep_for(3ms);
    throw std::runtime_error(why);
  };
  ctx.block_on([&]() -> task<void> {
    try {
      (void)co_await when_all(slow(), late("first"), fails("second"), slow());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_EQ(ended.load(), 2);
    std::vector<task<int>> tasks;
    tasks.push_back(now(1));
    tasks.push_back(late("third"));
    tasks.push_back(fails("fourth"));
    try {
      (void)co_await when_all(std::move(tasks));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "third");
    }
  });
}

TEST(WhenAllTest, AnEmptyTaskIsRefusedAndTheOthersAreNotLeaked) {
  runtime_context ctx{{.workers = 1}};
  std::atomic<int> alive{0};
  ctx.block_on([&]() -> task<void> {
    const auto holds = [](tracked) -> task<int> { co_return 1; };
    auto gone = now(1);
    (void)co_await std::move(gone);
    EXPECT_THROW((void)co_await when_all(holds(tracked(alive)), std::move(gone)), std::logic_error);
    std::vector<task<int>> tasks;
    tasks.push_back(holds(tracked(alive)));
    tasks.emplace_back();
    EXPECT_THROW((void)co_await when_all(std::move(tasks)), std::logic_error);
    {
      auto never_awaited = when_all(holds(tracked(alive)), holds(tracked(alive)));
    }
  });
  EXPECT_EQ(alive.load(), 0);
}

TEST(WhenAllTest, IsAwaitedOnceAndMayBeMovedBefore) {
  runtime_context ctx{{.workers = 1}};
  std::atomic<int> alive{0};
  ctx.block_on([&]() -> task<void> {
    const auto holds = [](tracked, int value) -> task<int> { co_return value; };
    auto both = when_all(holds(tracked(alive), 1), holds(tracked(alive), 2));
    auto moved = std::move(both);
    EXPECT_THROW((void)co_await both,
                 std::logic_error);  // NOLINT(bugprone-use-after-move): that it is refused is the point
    const auto [a, b] = co_await moved;
    EXPECT_EQ(a + b, 3);
    EXPECT_THROW((void)co_await moved, std::logic_error);
  });
  EXPECT_EQ(alive.load(), 0);
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await when_all(fib(n - 1), fib(n - 2));
  co_return a + b;
}
TEST_P(WhenAllEverywhere, NestsAsForkAndJoin) {
  runtime_context ctx{with(4)};
  EXPECT_EQ(ctx.block_on(fib(sanitized ? 16 : 22)), sanitized ? 987 : 17711);
}

/// Children that suspend, end at once, fork again or fail, on workers that steal from each other.
task<long> random_tree(std::uint64_t seed, int depth) {
  std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
  switch (random() % 4) {
    case 0:
      co_await yield();
      break;
    case 1:
      co_await sleep_for(std::chrono::microseconds(random() % 300));
      break;
    default:
      break;
  }
  if (depth == 0) co_return 1;
  long sum = 1;
  if (random() % 2 == 0) {
    auto [a, b, c] = co_await when_all(random_tree(seed * 3 + 1, depth - 1), random_tree(seed * 3 + 2, depth - 1),
                                       random_tree(seed * 3 + 3, depth - 1));
    sum += a + b + c;
  } else {
    std::vector<task<long>> tasks;
    for (std::uint64_t i = 1; i <= 3; ++i) tasks.push_back(random_tree(seed * 3 + i, depth - 1));
    for (const long each : co_await when_all(std::move(tasks))) sum += each;
  }
  if (random() % 16 == 0) {
    auto failed = [](long value) -> task<long> {
      co_await yield();
      throw value;
    };
    try {
      (void)co_await when_all(failed(sum), now(1));
    } catch (long same) {
      sum = same;
    }
  }
  co_return sum;
}
TEST_P(WhenAllEverywhere, CountsEveryTaskOfARandomTree) {
  runtime_context ctx{with(4)};
  const auto first = seed();
  for (std::uint64_t round = 0; round < (sanitized ? 3 : 10); ++round) {
    EXPECT_EQ(ctx.block_on(random_tree(first + round, 6)), (729 * 3 - 1) / 2);
  }
}

}  // namespace
}  // namespace faio::tests
