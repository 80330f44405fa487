// task_group_test -- tasks that belong together: joined, stopped by the first exception, abandoned.
#include "faio/context/task_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

using TaskGroupEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(TaskGroupEverywhere);

TEST_P(TaskGroupEverywhere, JoinWaitsForAllAndForWhatTheySpawned) {
  runtime_context ctx{with(2)};
  std::atomic<int> ended{0};
  ctx.block_on([&]() -> task<void> {
    task_group group;
    for (int i = 0; i < 100; ++i) {
      group.spawn([&]() -> task<void> {
        (void)spawn([&]() -> task<void> {
          co_await sleep_for(1ms);
          count(ended);
        });
        co_await yield();
        count(ended);
      });
    }
    group.spawn([&](int by) { ended.fetch_add(by); }, 5);
    co_await group.join();
    EXPECT_EQ(ended.load(), 205);
  });
}

TEST_P(TaskGroupEverywhere, OfNothingIsJoinedAtOnce) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    task_group group;
    co_await group.join();
  });
}

TEST_P(TaskGroupEverywhere, TheFirstExceptionStopsTheRestAndIsThrownByJoin) {
  runtime_context ctx{with(2)};
  std::atomic<int> stopped{0};
  ctx.block_on([&]() -> task<void> {
    task_group group;
    for (int i = 0; i < 10; ++i) {
      group.spawn([&]() -> task<void> {
        const auto slept = co_await sleep_for(1h);
        if (!slept) count(stopped);
        throw std::runtime_error("because it was stopped");
      });
    }
    group.spawn([]() -> task<void> {
      co_await sleep_for(1ms);
      throw std::runtime_error("first");
    });
    try {
      co_await group.join();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "first");
    }
    EXPECT_EQ(stopped.load(), 10);
    EXPECT_FALSE((co_await current_stop_token()).stop_requested());
  });
  EXPECT_EQ(ctx.metrics().unhandled_exceptions, 0U);
}

TEST_P(TaskGroupEverywhere, RequestStopReachesAll) {
  runtime_context ctx{with(2)};
  std::atomic<int> stopped{0};
  ctx.block_on([&]() -> task<void> {
    task_group group;
    for (int i = 0; i < 10; ++i) {
      group.spawn([&]() -> task<void> {
        const auto slept = co_await sleep_for(1h);
        if (!slept) count(stopped);
      });
    }
    group.request_stop();
    co_await group.join();
    EXPECT_EQ(stopped.load(), 10);
  });
}

/// A crawler: what is found is spawned into the group that is being joined.
TEST_P(TaskGroupEverywhere, ItsTasksSpawnIntoItWhileItIsJoined) {
  runtime_context ctx{with(4)};
  std::atomic<int> visited{0};
  struct crawler {
    task_group& group;
    std::atomic<int>& visited;
    task<void> visit(int depth) const {
      co_await yield();
      count(visited);
      if (depth == 0) co_return;
      for (int i = 0; i < 4; ++i) group.spawn(visit(depth - 1));
    }
  };
  ctx.block_on([&]() -> task<void> {
    task_group group;
    const crawler crawls{group, visited};
    group.spawn(crawls.visit(4));
    co_await group.join();
    EXPECT_EQ(visited.load(), 1 + 4 + 16 + 64 + 256);
  });
}

TEST(TaskGroupTest, AnAbandonedOneIsStoppedAndGoesOnInTheBackground) {
  runtime_context ctx{{.workers = 2}};
  std::atomic<int> stopped{0};
  ctx.block_on([&]() -> task<void> {
    {
      task_group group;
      group.spawn([&]() -> task<void> {
        const auto slept = co_await sleep_for(1h);
        if (!slept) count(stopped);
      });
    }
    co_return;
  });
  EXPECT_EQ(stopped.load(), 1) << "block_on has waited for it";
}

TEST(TaskGroupTest, AnExceptionOfAnAbandonedOneIsReported) {
  std::mutex mutex;
  std::vector<std::string> told;
  std::uint_least32_t line = 0;
  runtime_context ctx{{.workers = 2, .on_unhandled = [&](std::exception_ptr what, std::source_location where) {
                         const std::lock_guard lock(mutex);
                         line = where.line();
                         try {
                           std::rethrow_exception(what);
                         } catch (const std::exception& error) {
                           told.emplace_back(error.what());
                         }
                       }}};
  std::uint_least32_t spawned_at = 0;
  ctx.block_on([&]() -> task<void> {
    task_group group;
    spawned_at = std::source_location::current().line() + 1;
    group.spawn([]() -> task<void> {
      co_await sleep_for(1h);
      throw std::runtime_error("nobody joins");
    });
    co_return;
  });
  EXPECT_THAT(told, testing::ElementsAre("nobody joins"));
  EXPECT_GE(line, spawned_at);
  EXPECT_LE(line, spawned_at + 3);
}

TEST(TaskGroupTest, IsJoinedOnce) {
  runtime_context ctx{{.workers = 2}};
  ctx.block_on([]() -> task<void> {
    task_group group;
    group.spawn([] {});
    co_await group.join();
    EXPECT_THROW(co_await group.join(), std::logic_error);
    EXPECT_THROW(group.spawn([] {}), std::logic_error);
    EXPECT_THROW(group.request_stop(), std::logic_error);
    task_group other;
    EXPECT_THROW(other.spawn(task<void>()), std::logic_error);
    co_await other.join();
  });
}

TEST(TaskGroupTest, IsMadeOnAThreadForAGivenRuntimeAndJoinedInATask) {
  runtime_context ctx{{.workers = 2}};
  std::atomic<int> ended{0};
  task_group group{ctx};
  for (int i = 0; i < 10; ++i) group.spawn([&] { count(ended); });
  ctx.block_on([&]() -> task<void> { co_await group.join(); });
  EXPECT_EQ(ended.load(), 10);
}

/// The joining task is stopped, the group is somebody else's.
TEST(TaskGroupTest, ATimeoutOfAJoinStopsTheGroup) {
  runtime_context ctx{{.workers = 2}};
  std::atomic<int> stopped{0};
  task_group group{ctx};
  group.spawn([&]() -> task<void> {
    const auto slept = co_await sleep_for(1h);
    if (!slept) count(stopped);
  });
  ctx.block_on([&]() -> task<void> {
    const auto joined = co_await timeout(1ms, group.join());
    EXPECT_EQ(joined.error(), std::errc::timed_out);
    EXPECT_EQ(stopped.load(), 1);
  });
}

TEST(TaskGroupTest, OfAnotherRuntimeCanBeJoined) {
  runtime_context here{{.workers = 2}};
  runtime_context there{{.workers = 2}};
  std::atomic<int> ended{0};
  here.block_on([&]() -> task<void> {
    for (int round = 0; round < 50; ++round) {
      task_group group{there};
      for (int i = 0; i < 4; ++i) group.spawn([&] { count(ended); });
      co_await group.join();
      co_await yield();
    }
  });
  EXPECT_EQ(ended.load(), 200);
}

}  // namespace
}  // namespace faio::tests
