// latch_test -- opens once, when enough have come.
#include <memory>
#include <stdexcept>
#include <thread>

#include "faio/sync/event.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

TEST(LatchTest, OpensWhenItIsCountedDown) {
  runtime_context ctx{{.workers = 1}};
  latch l(3);
  auto waiting = spawn_until_it_waits(ctx, [](latch& at) -> task<> { EXPECT_TRUE(co_await at.wait()); }(l));
  l.count_down();
  l.count_down();
  EXPECT_FALSE(l.try_wait());
  EXPECT_FALSE(waiting.done());
  l.count_down();
  waiting.get();
  EXPECT_TRUE(l.try_wait());
  l.blocking_wait();
}

TEST(LatchTest, OfNothingIsOpen) {
  latch l(0);
  EXPECT_TRUE(l.try_wait());
}

TEST(LatchTest, CountsDownSeveralAtOnceButNotBelowZero) {
  latch l(5);
  l.count_down(0);
  l.count_down(4);
  EXPECT_THROW(l.count_down(2), std::invalid_argument);
  EXPECT_FALSE(l.try_wait());
  l.count_down();
  EXPECT_TRUE(l.try_wait());
}

TEST(LatchTest, ThreadsAndTasksMeet) {
  runtime_context ctx{{.workers = 2}};
  int before[6] = {};
  latch l(6);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      before[t] = 1;
      l.count_down();
      l.blocking_wait();
      for (const int each : before) EXPECT_EQ(each, 1);
    });
  }
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 3; t < 6; ++t) {
      group.spawn([](latch& at, int(&all)[6], int mine) -> task<> {
        all[mine] = 1;
        EXPECT_TRUE(co_await at.arrive_and_wait());
        for (const int each : all) EXPECT_EQ(each, 1);
      }(l, before, t));
    }
    co_await group.join();
  });
}

TEST(LatchTest, AStopRequestEndsTheWaitAndKeepsTheCount) {
  runtime_context ctx{{.workers = 1}};
  latch l(2);
  auto waiting = spawn_until_it_waits(ctx, [](latch& at) -> task<> {
    EXPECT_TRUE(failed_with(co_await at.arrive_and_wait(), std::errc::operation_canceled));
  }(l));
  waiting.request_stop();
  waiting.get();
  l.count_down();
  EXPECT_TRUE(l.try_wait());
}

TEST(LatchTest, WhoeverHasPassedMayDestroyIt) {
  runtime_context ctx{{.workers = 2}};
  for (int round = 0; round < 3000; ++round) {
    ctx.block_on([]() -> task<> {
      auto all = std::make_unique<latch>(2);
      for (int i = 0; i < 2; ++i) spawn([to = all.get()] { to->count_down(); });
      EXPECT_TRUE(co_await all->wait());
    });
  }
}

}  // namespace
}  // namespace faio::sync
