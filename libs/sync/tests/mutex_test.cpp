// mutex_test -- guards, order of arrival and overtaking, threads and tasks on one lock, stopping.
#include "faio/sync/mutex.hpp"

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <thread>

#include "faio/context/timeout.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

task<> lock_and_note(mutex& m, std::vector<int>& order, int who) {
  auto guard = co_await m.lock();
  order.push_back(who);
}

/// Keeps the only worker of a runtime busy, so that what is woken does not run yet.
class busy_worker {
 public:
  explicit busy_worker(runtime_context& one_worker) {
    one_worker.post([both = _latches] {
      both->held.count_down();
      both->go_on.wait();
    });
    _latches->held.wait();
  }
  busy_worker(const busy_worker&) = delete;
  busy_worker& operator=(const busy_worker&) = delete;
  ~busy_worker() { _latches->go_on.count_down(); }

 private:
  struct latches {
    std::latch held{1};
    std::latch go_on{1};
  };
  std::shared_ptr<latches> _latches = std::make_shared<latches>();
};

TEST(MutexTest, GivesAGuardThatUnlocksWhenItGoesAway) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  ctx.block_on([&]() -> task<> {
    {
      auto guard = co_await m.lock();
      EXPECT_TRUE(guard);
      EXPECT_FALSE(m.try_lock());
    }
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
}

TEST(MutexTest, TryLockOnAHeldLockIsFalse) {
  mutex m;
  ASSERT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock());
  EXPECT_FALSE(std::async(std::launch::async, [&] { return m.try_lock(); }).get());
  m.unlock();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(MutexTest, AGuardCanBeMovedUnlockedEarlyAndReleased) {
  mutex m;
  auto first = m.blocking_lock();
  mutex::guard second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): a guard that was moved from is empty
  EXPECT_TRUE(second);
  second.unlock();
  second.unlock();
  EXPECT_FALSE(second);
  second = m.blocking_lock();
  EXPECT_EQ(second.release(), &m);
  EXPECT_FALSE(m.try_lock());
  m.unlock();
}

TEST(MutexTest, LetsThoseWhoWaitInInTheOrderInWhichTheyCame) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  std::vector<int> order;
  ASSERT_TRUE(m.try_lock());
  std::vector<join_handle<void>> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(spawn_until_it_waits(ctx, lock_and_note(m, order, i)));
  EXPECT_TRUE(order.empty());
  m.unlock();
  for (auto& each : waiting) each.get();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(order.at(static_cast<std::size_t>(i)), i);
}

TEST(MutexTest, WhoeverRunsMayOvertakeThoseWhoWait) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  std::vector<int> order;
  ASSERT_TRUE(m.try_lock());
  auto waiting = spawn_until_it_waits(ctx, lock_and_note(m, order, 0));
  {
    const busy_worker not_yet(ctx);
    m.unlock();  // the waiting one is called
    ASSERT_TRUE(m.try_lock());
    EXPECT_TRUE(order.empty());
    m.unlock();  // it is called already: nobody is told
  }
  waiting.get();
  EXPECT_EQ(order, std::vector{0});
}

task<> come_in(mutex& lock, bool& in) {
  auto mine = co_await lock.lock();
  in = true;
}

TEST(MutexTest, OneThatWaitsIsOvertakenABoundedNumberOfTimes) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  bool came_in = false;
  int overtakings = 0;
  ctx.block_on([&]() -> task<> {
    auto guard = co_await m.lock();
    auto waiting = spawn(come_in(m, came_in));
    co_await yield();  // it waits
    guard.unlock();    // it is called
    for (; !came_in && overtakings < 100; guard.unlock()) {
      guard = co_await m.lock();
      if (came_in) continue;
      ++overtakings;
      co_await yield();  // it comes, in vain
    }
    co_await std::move(waiting);
  });
  EXPECT_GT(overtakings, 0);
  EXPECT_LE(overtakings, 3);
}

/// The same with many, who all want it all the time: each gets it as often as it asks.
TEST(MutexTest, NobodyStarvesAmongThoseWhoHoldItAcrossAWait) {
  runtime_context ctx{{.workers = 2}};
  mutex m;
  std::atomic<bool> enough{false};
  ctx.block_on([&]() -> task<> {
    task_group hammers;
    for (int t = 0; t < 4; ++t) {
      hammers.spawn([](mutex& lock, std::atomic<bool>& done) -> task<> {
        while (!done.load()) {
          auto guard = co_await lock.lock();
          co_await yield();
        }
      }(m, enough));
    }
    for (int i = 0; i < 100; ++i) {
      auto guard = co_await m.lock();
      guard.unlock();
      co_await yield();
    }
    enough = true;
    co_await hammers.join();
  });
}

/// It gives way once in some dozens of operations, between two of them: who runs meanwhile always finds the lock free.
TEST(MutexTest, ALoopDoesNotHoldTheLockWhileItGivesWay) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  bool ended = false;
  int looks = 0;
  int found_held = 0;
  ctx.block_on([&]() -> task<> {
    auto looking = spawn([](mutex& lock, bool& until, int& looked, int& held) -> task<> {
      while (!until) {
        ++looked;
        if (lock.try_lock()) {
          lock.unlock();
        } else {
          ++held;
        }
        co_await yield();
      }
    }(m, ended, looks, found_held));
    for (int i = 0; i < 100'000; ++i) {
      const auto guard = co_await m.lock();
    }
    ended = true;
    co_await std::move(looking);
  });
  EXPECT_GT(looks, 1) << "the loop never gave way";
  EXPECT_EQ(found_held, 0);
}

/// It does so at the lock: long before its worker would put it behind others, who may be stolen, those who wait are let in.
TEST(MutexTest, ALoopThatGivesWayGoesBehindThoseWhoWait) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  bool came_in = false;
  int before_it_came = 0;
  ctx.block_on([&]() -> task<> {
    auto guard = co_await m.lock();
    auto waiting = spawn(come_in(m, came_in));
    co_await yield();  // it waits
    guard.unlock();
    for (int i = 0; i < 500; ++i) {
      guard = co_await m.lock();
      if (!came_in) ++before_it_came;
      guard.unlock();
    }
    EXPECT_TRUE(came_in);
    co_await std::move(waiting);
  });
  EXPECT_GT(before_it_came, 0);
}

TEST(MutexTest, CanBeUnlockedOnAnotherWorker) {
  runtime_context ctx{{.workers = 4}};
  mutex m;
  int counter = 0;
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < 8; ++t) {
      group.spawn([](mutex& lock, int& count) -> task<> {
        for (int i = 0; i < 500; ++i) {
          auto guard = co_await lock.lock();
          const int seen = count;
          co_await yield();  // goes on wherever there is time
          count = seen + 1;
        }
      }(m, counter));
    }
    co_await group.join();
  });
  EXPECT_EQ(counter, 8 * 500);
}

TEST(MutexTest, ThreadsAndTasksTakeTurns) {
  runtime_context ctx{{.workers = 2}};
  mutex m;
  int counter = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto guard = m.blocking_lock();
        ++counter;
      }
    });
  }
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < 4; ++t) {
      group.spawn([](mutex& lock, int& count) -> task<> {
        for (int i = 0; i < 2000; ++i) {
          const auto guard = co_await lock.lock();
          ++count;
        }
      }(m, counter));
    }
    co_await group.join();
  });
  threads.clear();
  EXPECT_EQ(counter, 6 * 2000);
}

TEST(MutexTest, AThreadGetsItFromTasksThatHoldItNearlyAllTheTime) {
  runtime_context ctx{{.workers = 2}};
  mutex m;
  std::atomic<bool> enough{false};
  std::latch begun(3);
  std::jthread thread([&] {
    begun.wait();
    for (int i = 0; i < 1000; ++i) {
      const auto guard = m.blocking_lock();
    }
    enough = true;
  });
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < 3; ++t) {
      group.spawn([](mutex& lock, std::latch& here, std::atomic<bool>& done) -> task<> {
        here.count_down();
        while (!done.load()) {
          auto guard = co_await lock.lock();
          co_await yield();
        }
      }(m, begun, enough));
    }
    co_await group.join();
  });
}

TEST(MutexTest, BlockingOnAWorkerIsAnErrorInsteadOfAHang) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  ASSERT_TRUE(m.try_lock());
  ctx.block_on([&] { EXPECT_THROW((void)m.blocking_lock(), std::system_error); });
  m.unlock();
}

TEST(MutexTest, AStopRequestGivesAnEmptyGuardThatSaysWhy) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  ASSERT_TRUE(m.try_lock());
  auto waiting = spawn_until_it_waits(ctx, [](mutex& lock) -> task<std::error_code> {
    auto guard = co_await lock.lock();
    EXPECT_FALSE(guard);
    co_return guard.error();
  }(m));
  waiting.request_stop();
  EXPECT_EQ(waiting.get(), std::errc::operation_canceled);
  m.unlock();
  EXPECT_TRUE(m.try_lock());  // the one who gave up has it not
  m.unlock();
}

task<std::error_code> lock_and_say_why_not(mutex& m) {
  auto guard = co_await m.lock();
  co_return guard.error();
}

TEST(MutexTest, OneThatIsCalledAndStoppedEndsWhenItComesInVain) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  std::vector<int> order;
  ASSERT_TRUE(m.try_lock());
  auto waiting = spawn_until_it_waits(ctx, lock_and_say_why_not(m));
  auto behind = spawn_until_it_waits(ctx, lock_and_note(m, order, 1));
  {
    const busy_worker not_yet(ctx);
    m.unlock();                 // it is called
    ASSERT_TRUE(m.try_lock());  // and overtaken
    waiting.request_stop();
  }
  EXPECT_EQ(waiting.get(), std::errc::operation_canceled);
  EXPECT_FALSE(behind.done());
  m.unlock();
  behind.get();
  EXPECT_EQ(order, std::vector{1});
}

TEST(MutexTest, OneThatIsCalledAndStoppedHasItWhenItIsFree) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  std::vector<int> order;
  ASSERT_TRUE(m.try_lock());
  auto waiting = spawn_until_it_waits(ctx, lock_and_say_why_not(m));
  auto behind = spawn_until_it_waits(ctx, lock_and_note(m, order, 1));
  {
    const busy_worker not_yet(ctx);
    m.unlock();
    waiting.request_stop();
  }
  EXPECT_EQ(waiting.get(), std::error_code());
  behind.get();
  EXPECT_EQ(order, std::vector{1});
}

TEST(MutexTest, OneThatWasHandedTheLockAndStoppedHasIt) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  ASSERT_TRUE(m.try_lock());
  auto waiting = spawn_until_it_waits(ctx, lock_and_say_why_not(m));
  let_it_come_in_vain(ctx, m);
  {
    const busy_worker not_yet(ctx);
    m.unlock();
    EXPECT_FALSE(m.try_lock()) << "it is the waiting one's, whether it runs or not";
    waiting.request_stop();
  }
  EXPECT_EQ(waiting.get(), std::error_code());
  EXPECT_TRUE(m.try_lock());
}

/// What can be had at once is had, also by one that comes by the loop before it tries.
TEST(MutexTest, OneThatIsToStopStillGetsALockThatIsFree) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  int got = 0;
  auto looping = spawn_until_it_waits(ctx, [](mutex& lock, int& in) -> task<> {
    co_await sleep_for(24h);  // until it is stopped
    for (int i = 0; i < 10'000; ++i) {
      auto guard = co_await lock.lock();
      if (guard) ++in;
    }
  }(m, got));
  looping.request_stop();
  looping.get();
  EXPECT_EQ(got, 10'000);
}

TEST(MutexTest, OneWhoGivesUpDoesNotHoldUpThoseBehindIt) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  std::vector<int> order;
  ASSERT_TRUE(m.try_lock());
  auto first = spawn_until_it_waits(ctx, [](mutex& lock) -> task<> { EXPECT_FALSE(co_await lock.lock()); }(m));
  auto second = spawn_until_it_waits(ctx, lock_and_note(m, order, 2));
  first.request_stop();
  first.get();
  m.unlock();
  second.get();
  EXPECT_EQ(order, std::vector{2});
}

TEST(MutexTest, LockUnstoppablyIgnoresAStopRequest) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  ASSERT_TRUE(m.try_lock());
  auto waiting = spawn_until_it_waits(
      ctx, [](mutex& lock) -> task<bool> { co_return static_cast<bool>(co_await lock.lock_unstoppably()); }(m));
  waiting.request_stop();
  ctx.block_on([]() -> task<> { co_await yield(); });
  EXPECT_FALSE(waiting.done());
  m.unlock();
  EXPECT_TRUE(waiting.get());
}

TEST(MutexTest, ATimeoutGivesTimedOutAndLeavesTheLineAsItWas) {
  runtime_context ctx{{.workers = 2}};
  mutex m;
  ASSERT_TRUE(m.try_lock());
  const auto gave = ctx.block_on([&]() -> task<std::error_code> {
    auto guard = co_await timeout(1ms, m.lock());
    co_return guard ? std::error_code() : guard.error();
  });
  EXPECT_EQ(gave, std::errc::timed_out);
  m.unlock();
  ctx.block_on([&]() -> task<> {
    auto guard = co_await timeout(10s, m.lock());
    EXPECT_TRUE(guard.has_value() && guard->owns_lock());
  });
}

TEST(MutexTest, AStopRequestUnderATimeoutIsAnErrorNotAnEmptyGuard) {
  runtime_context ctx{{.workers = 1}};
  mutex m;
  ASSERT_TRUE(m.try_lock());
  auto waiting = spawn_until_it_waits(ctx, [](mutex& lock) -> task<std::error_code> {
    auto guard = co_await timeout(10s, lock.lock());
    co_return guard ? std::error_code() : guard.error();
  }(m));
  ctx.block_on([]() -> task<> {
    for (int i = 0; i < 10; ++i) co_await yield();
  });
  waiting.request_stop();
  EXPECT_EQ(waiting.get(), std::errc::operation_canceled);
  m.unlock();
}

/// The last user frees what the lock is in, as soon as it has it: whoever unlocked does not touch it any more.
TEST(MutexTest, WhoeverHasLockedItMayDestroyIt) {
  runtime_context ctx{{.workers = 2}};
  struct account {
    mutex lock;
    int users = 2;
  };
  for (int round = 0; round < 2000; ++round) {
    auto* const shared = new account;
    const auto leave = [](account* of) -> task<> {
      auto guard = co_await of->lock.lock();
      const bool last = --of->users == 0;
      guard.unlock();
      if (last) delete of;
    };
    ctx.wait_all(leave(shared), leave(shared));
  }
}

}  // namespace
}  // namespace faio::sync
