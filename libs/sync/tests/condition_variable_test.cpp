// condition_variable_test -- notified in order, the lock held again afterwards, also when stopped.
#include "faio/sync/condition_variable.hpp"

#include <deque>
#include <stdexcept>

#include "faio/context/timeout.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

struct room {
  mutex lock;
  condition_variable changed;
  bool ready = false;
  std::vector<int> order;
};

task<> wait_and_note(room& in, int who) {
  auto guard = co_await in.lock.lock();
  EXPECT_TRUE(co_await in.changed.wait(guard));
  EXPECT_TRUE(guard);
  EXPECT_FALSE(in.lock.try_lock());
  in.order.push_back(who);
}

TEST(ConditionVariableTest, NotifyOneWakesTheLongestWaiting) {
  runtime_context ctx{{.workers = 1}};
  room in;
  auto first = spawn_until_it_waits(ctx, wait_and_note(in, 1));
  auto second = spawn_until_it_waits(ctx, wait_and_note(in, 2));
  in.changed.notify_one();
  first.get();
  EXPECT_EQ(in.order, std::vector{1});
  in.changed.notify_one();
  second.get();
  EXPECT_EQ(in.order, (std::vector{1, 2}));
}

TEST(ConditionVariableTest, NotifyAllWakesAllInTheirOrder) {
  runtime_context ctx{{.workers = 1}};
  room in;
  std::vector<join_handle<void>> waiting;
  for (int i = 0; i < 10; ++i) waiting.push_back(spawn_until_it_waits(ctx, wait_and_note(in, i)));
  in.changed.notify_all();
  for (auto& each : waiting) each.get();
  EXPECT_EQ(in.order.size(), 10U);
}

/// One who notifies and takes the lock again at once does not keep the notified ones out.
TEST(ConditionVariableTest, ThoseNotifiedComeInAlthoughTheLockIsTakenAgainAndAgain) {
  runtime_context ctx{{.workers = 1}};
  room in;
  std::vector<join_handle<void>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(spawn_until_it_waits(ctx, wait_and_note(in, i)));
  int rounds = 0;
  ctx.block_on([&]() -> task<> {
    for (bool all_in = false; !all_in; ++rounds) {
      auto guard = co_await in.lock.lock();
      all_in = in.order.size() == 5;
      in.changed.notify_all();
      co_await yield();  // those who were notified find it held
    }
  });
  for (auto& each : waiting) each.get();
  EXPECT_EQ(in.order.size(), 5U);
  EXPECT_LE(rounds, 1 + 5 * 4) << "each comes in after three times in vain, at the latest";
}

TEST(ConditionVariableTest, ANotifyWithNobodyWaitingIsForNobody) {
  runtime_context ctx{{.workers = 1}};
  room in;
  in.changed.notify_one();
  in.changed.notify_all();
  auto waiting = spawn_until_it_waits(ctx, wait_and_note(in, 1));
  EXPECT_FALSE(waiting.done());
  in.changed.notify_one();
  waiting.get();
}

TEST(ConditionVariableTest, WaitsUntilThePredicateHolds) {
  runtime_context ctx{{.workers = 1}};
  room in;
  auto waiting = spawn_until_it_waits(ctx, [](room& where) -> task<> {
    auto guard = co_await where.lock.lock();
    EXPECT_TRUE(co_await where.changed.wait(guard, [&] { return where.ready; }));
    EXPECT_TRUE(where.ready);
  }(in));
  in.changed.notify_one();
  ctx.block_on([]() -> task<> { co_await yield(); });
  EXPECT_FALSE(waiting.done());
  {
    const auto guard = in.lock.blocking_lock();
    in.ready = true;
  }
  in.changed.notify_one();
  waiting.get();
}

TEST(ConditionVariableTest, AStopRequestGivesOperationCanceledWithTheLockHeld) {
  runtime_context ctx{{.workers = 1}};
  room in;
  auto waiting = spawn_until_it_waits(ctx, [](room& where) -> task<> {
    auto guard = co_await where.lock.lock();
    const auto gave = co_await where.changed.wait(guard);
    EXPECT_TRUE(failed_with(gave, std::errc::operation_canceled));
    EXPECT_TRUE(guard);
    EXPECT_FALSE(where.lock.try_lock());
    // Stopped already: at once, and with the lock again.
    EXPECT_TRUE(failed_with(co_await where.changed.wait(guard), std::errc::operation_canceled));
    EXPECT_FALSE(where.lock.try_lock());
  }(in));
  ASSERT_TRUE(in.lock.try_lock());
  waiting.request_stop();
  ctx.block_on([]() -> task<> { co_await yield(); });
  EXPECT_FALSE(waiting.done());  // it waits for the lock, which is ours
  in.lock.unlock();
  waiting.get();
  EXPECT_TRUE(in.lock.try_lock());
  in.lock.unlock();
}

TEST(ConditionVariableTest, ATimeoutGivesTimedOutWithTheLockHeld) {
  runtime_context ctx{{.workers = 2}};
  room in;
  ctx.block_on([&]() -> task<> {
    auto guard = co_await in.lock.lock();
    const auto gave = co_await timeout(1ms, in.changed.wait(guard));
    EXPECT_TRUE(failed_with(gave, std::errc::timed_out));
    EXPECT_TRUE(guard);
  });
}

TEST(ConditionVariableTest, WaitingWithoutTheLockIsAnError) {
  runtime_context ctx{{.workers = 1}};
  room in;
  ctx.block_on([&]() -> task<> {
    mutex::guard none;
    bool thrown = false;
    try {
      (void)co_await in.changed.wait(none);
    } catch (const std::logic_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
  });
}

TEST(ConditionVariableTest, LosesNoNotifyBetweenProducersAndConsumers) {
  runtime_context ctx{{.workers = 2}};
  struct {
    mutex lock;
    condition_variable filled;
    std::deque<int> items;
    long sum = 0;
  } queue;
  static constexpr int each = 500;
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < 3; ++t) {
      group.spawn([](auto& to) -> task<> {
        for (int i = 1; i <= each; ++i) {
          {
            const auto guard = co_await to.lock.lock();
            to.items.push_back(i);
          }
          to.filled.notify_one();
        }
      }(queue));
      group.spawn([](auto& from) -> task<> {
        for (int i = 1; i <= each; ++i) {
          auto guard = co_await from.lock.lock();
          EXPECT_TRUE(co_await from.filled.wait(guard, [&] { return !from.items.empty(); }));
          from.sum += from.items.front();
          from.items.pop_front();
        }
      }(queue));
    }
    co_await group.join();
  });
  EXPECT_EQ(queue.sum, 3L * each * (each + 1) / 2);
}

}  // namespace
}  // namespace faio::sync
