// spawn_test -- handles, what becomes of exceptions, closures, priority.
#include "faio/context/spawn.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<int> add(int a, int b) {
  co_await yield();
  co_return a + b;
}
task<int> fails(std::string why) {
  co_await yield();
  throw std::runtime_error(why);
}

/// What on_unhandled was told.
class reports {
 public:
  auto handler() {
    return [this](std::exception_ptr what, std::source_location where) {
      const std::lock_guard lock(_mutex);
      try {
        std::rethrow_exception(std::move(what));
      } catch (const std::exception& error) {
        _texts.emplace_back(error.what());
      }
      _lines.push_back(where.line());
      _files.emplace_back(where.file_name());
    };
  }
  std::vector<std::string> texts() {
    const std::lock_guard lock(_mutex);
    return _texts;
  }
  std::vector<std::uint_least32_t> lines() {
    const std::lock_guard lock(_mutex);
    return _lines;
  }
  std::vector<std::string> files() {
    const std::lock_guard lock(_mutex);
    return _files;
  }

 private:
  std::mutex _mutex;
  std::vector<std::string> _texts;
  std::vector<std::uint_least32_t> _lines;
  std::vector<std::string> _files;
};

using SpawnEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(SpawnEverywhere);

TEST_P(SpawnEverywhere, TheHandleGivesTheValueToATask) {
  runtime_context ctx{with(2)};
  const int sum = ctx.block_on([]() -> task<int> {
    auto one = spawn(add(1, 2));
    auto other = spawn(add(3, 4));
    co_return co_await std::move(one) + co_await std::move(other);
  });
  EXPECT_EQ(sum, 10);
}

TEST_P(SpawnEverywhere, TheHandleGivesTheValueToAThread) {
  runtime_context ctx{with(2)};
  auto handle = ctx.spawn(add(1, 2));
  EXPECT_EQ(handle.get(), 3);
  EXPECT_FALSE(handle.valid());
  EXPECT_EQ(ctx.spawn([] { return std::make_unique<int>(4); }).get().operator*(), 4);
  int number = 0;
  EXPECT_EQ(&ctx.spawn([&]() -> int& { return number; }).get(), &number);
}

TEST_P(SpawnEverywhere, DoneSaysThatItHasEnded) {
  runtime_context ctx{with(1)};
  gate go;
  auto handle = ctx.spawn([&]() -> task<void> { co_await go.pass(); });
  EXPECT_FALSE(handle.done());
  go.open();
  handle.wait_until_done();
  EXPECT_TRUE(handle.done());
  EXPECT_TRUE(handle.valid());
  handle.get();
}

TEST_P(SpawnEverywhere, WaitGivesATupleInOrder) {
  runtime_context ctx{with(2)};
  auto [a, b, c] = wait(ctx.spawn(add(1, 2)), ctx.spawn([] {}), ctx.spawn([] { return std::string("x"); }));
  static_assert(std::is_same_v<decltype(b), std::monostate>);
  EXPECT_EQ(a, 3);
  EXPECT_EQ(c, "x");
}

TEST(SpawnTest, WaitThrowsTheFirstByPositionAfterAllHaveEnded) {
  reports told;
  runtime_context ctx{{.workers = 2, .on_unhandled = told.handler()}};
  gate go;
  std::atomic<bool> ended{false};
  auto slow = ctx.spawn([&]() -> task<void> {
    co_await go.pass();
    ended = true;
  });
  auto one = ctx.spawn(fails("first"));
  auto other = ctx.spawn(fails("second"));
  other.wait_until_done();
  std::jthread opens([&] { go.open(); });
  try {
    (void)wait(std::move(one), std::move(other), std::move(slow));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  EXPECT_TRUE(ended);
  (void)ctx.stop();
  EXPECT_THAT(told.texts(), testing::ElementsAre("second")) << "what nobody took is not lost";
}

TEST_P(SpawnEverywhere, AClosureLivesUntilItsCoroutineHasEnded) {
  runtime_context ctx{with(2)};
  // The temporary lambda is gone when spawn returns; its captures are in use for long after.
  auto handle = ctx.spawn([text = std::make_unique<std::string>(100, 'x')]() -> task<std::size_t> {
    for (int i = 0; i < 10; ++i) co_await yield();
    co_await sleep_for(1ms);
    co_return text->size();
  });
  EXPECT_EQ(handle.get(), 100U);
  EXPECT_EQ(ctx.block_on([text = std::string(200, 'y')]() -> task<std::size_t> {
    co_await sleep_for(1ms);
    co_return text.size();
  }),
            200U);
}

TEST_P(SpawnEverywhere, ArgumentsLiveUntilItsCoroutineHasEnded) {
  runtime_context ctx{with(2)};
  const auto takes = [](const std::string& text, std::unique_ptr<int> number) -> task<std::size_t> {
    co_await sleep_for(1ms);
    co_return text.size() + static_cast<std::size_t>(*number);
  };
  EXPECT_EQ(ctx.spawn(takes, std::string(50, 'x'), std::make_unique<int>(1)).get(), 51U);
  EXPECT_EQ(ctx.block_on(takes, std::string(50, 'x'), std::make_unique<int>(2)), 52U);
  EXPECT_EQ(ctx.spawn(priority::low, takes, std::string(50, 'x'), std::make_unique<int>(3)).get(), 53U);
  EXPECT_EQ(ctx.spawn([](int a, int b) { return a + b; }, 1, 2).get(), 3) << "a plain callable";
}

TEST(SpawnTest, AnExceptionNobodyTookIsReportedWithThePlaceOfTheSpawn) {
  reports told;
  runtime_context ctx{{.workers = 2, .on_unhandled = told.handler()}};
  const auto line = std::source_location::current().line() + 2;
  ctx.block_on([]() -> task<void> {
    (void)spawn(fails("lost"));
    co_return;
  });
  EXPECT_THAT(told.texts(), testing::ElementsAre("lost"));
  EXPECT_THAT(told.lines(), testing::ElementsAre(line));
  EXPECT_THAT(told.files(), testing::ElementsAre(testing::EndsWith("spawn_test.cpp")));
  EXPECT_EQ(ctx.metrics().unhandled_exceptions, 1U);
}

TEST(SpawnTest, AnExceptionOfAHandleDroppedAfterTheEndIsReported) {
  reports told;
  runtime_context ctx{{.workers = 2, .on_unhandled = told.handler()}};
  {
    auto handle = ctx.spawn(fails("late"));
    handle.wait_until_done();
    EXPECT_TRUE(told.texts().empty()) << "it could still be taken";
  }
  (void)ctx.stop();
  EXPECT_THAT(told.texts(), testing::ElementsAre("late"));
}

TEST(SpawnTest, AnExceptionThatWasTakenIsNotReported) {
  reports told;
  runtime_context ctx{{.workers = 2, .on_unhandled = told.handler()}};
  EXPECT_THROW((void)ctx.spawn(fails("taken")).get(), std::runtime_error);
  ctx.block_on([]() -> task<void> {
    auto handle = spawn(fails("taken"));
    EXPECT_THROW((void)co_await std::move(handle), std::runtime_error);
  });
  EXPECT_THROW((void)ctx.block_on(fails("taken")), std::runtime_error);
  (void)ctx.stop();
  EXPECT_TRUE(told.texts().empty());
  EXPECT_EQ(ctx.metrics().unhandled_exceptions, 0U);
}

TEST(SpawnTest, APostedCallableThatThrowsIsReported) {
  reports told;
  runtime_context ctx{{.workers = 1, .on_unhandled = told.handler()}};
  ctx.block_on([&]() -> task<void> {
    this_worker::post_local([] { throw std::runtime_error("posted"); });
    co_return;
  });
  EXPECT_THAT(told.texts(), testing::ElementsAre("posted"));
}

/// A handler that itself makes tasks: it runs when the failed task's scope is about to go.
TEST(SpawnTest, TheHandlerMaySpawnAndCauseAnotherReport) {
  std::atomic<int> told{0};
  std::atomic<int> ran{0};
  runtime_context* all = nullptr;
  runtime_context ctx{{.workers = 2, .on_unhandled = [&](std::exception_ptr) {
                         if (told.fetch_add(1) > 2) return;
                         (void)spawn([&] { count(ran); });
                         auto again = all->spawn(fails("again"));
                         (void)again;
                       }}};
  all = &ctx;
  (void)ctx.spawn(fails("first"));
  wait_for(ran, 3);
  (void)ctx.stop();
  EXPECT_EQ(told.load(), 4);
}

TEST(SpawnTest, LowPriorityGoesThroughTheGlobalQueue) {
  runtime_context ctx{{.workers = 1, .batch_posts = false}};
  std::vector<int> order;
  ctx.block_on([&]() -> task<void> {
    (void)spawn(priority::low, [&] { order.push_back(3); });
    EXPECT_EQ(ctx.metrics().global_queue_length, 1U);
    (void)spawn([&] { order.push_back(1); });
    (void)spawn([&] { order.push_back(2); });
    co_return;
  });
  EXPECT_EQ(order.size(), 3U);
  EXPECT_EQ(order.back(), 3) << "behind what the worker has for itself";
}

TEST(SpawnTest, FreeFunctionsUseTheProcessWideRuntimeElsewhere) {
  EXPECT_EQ(block_on(add(1, 2)), 3);
  EXPECT_EQ(block_on([](int a) { return a; }, 7), 7);
  EXPECT_EQ(spawn(add(2, 3)).get(), 5);
  EXPECT_EQ(wait_all(add(1, 1), add(2, 2)), std::make_tuple(2, 4));
  runtime_context ctx{{.workers = 1}};
  EXPECT_EQ(block_on(ctx, add(1, 2)), 3);
  EXPECT_EQ(block_on(ctx, [](int a) { return a; }, 7), 7);
  EXPECT_EQ(wait_all(ctx, add(1, 1), add(2, 2)), std::make_tuple(2, 4));
  ctx.block_on([&]() -> task<void> {
    const auto before = ctx.metrics().total().tasks_run;
    co_await spawn(add(1, 1));
    EXPECT_GT(ctx.metrics().total().tasks_run, before) << "inside a task: its own runtime";
  });
}

/// A chain in which each spawns the next and ends must not keep its links.
TEST(Scope, AChainDoesNotGrow) {
  runtime_context ctx{{.workers = 2}};
  constexpr int links = sanitized ? 20'000 : 200'000;
  std::atomic<int> left{links};
  std::atomic<std::size_t> most{0};
  struct chain {
    static task<void> link(std::atomic<int>& left, std::atomic<std::size_t>& most, runtime_context& ctx) {
      if (left.fetch_sub(1) <= 1) co_return;
      if (left.load() % 1000 == 0) most = std::max(most.load(), ctx.core().live.size());
      (void)spawn(link(left, most, ctx));
    }
  };
  ctx.block_on(chain::link(left, most, ctx));
  EXPECT_LE(left.load(), 0);
  EXPECT_LT(most.load(), 100U);
}

}  // namespace
}  // namespace faio::tests
