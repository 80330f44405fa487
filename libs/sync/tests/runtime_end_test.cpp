// runtime_end_test -- a runtime ends while its tasks wait: they are told, or taken out of the line; the primitive lives on.
#include <chrono>
#include <latch>
#include <memory>
#include <thread>

#include "faio/sync/sync.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

/// Spawns what waits, and stops the runtime: all of it must end by itself, being told, long before the grace does.
template <class... Waits>
void stop_while_they_wait(Waits... waits) {
  runtime_context ctx{{.workers = 2}};
  std::latch begun(sizeof...(waits));
  (ctx.spawn([&begun, wait = std::move(waits)]() mutable -> task<> {
    begun.count_down();
    co_await wait();
  }),
   ...);
  begun.wait();
  const auto report = ctx.stop(60s);
  EXPECT_TRUE(report.finished);
  EXPECT_TRUE(report.still_running.empty());
}

TEST(RuntimeEndTest, EveryWaitEndsWithOperationCanceled) {
  mutex held;
  ASSERT_TRUE(held.try_lock());
  shared_mutex read;
  ASSERT_TRUE(read.try_lock_shared());
  semaphore none(0);
  mutex lock;
  condition_variable changed;
  event manual;
  event automatic(reset::automatic);
  latch closed(1);
  barrier meeting(2);
  channel<int> empty(1);
  channel<int> rendezvous(0);
  oneshot<int> answer;
  broadcast<int> news(1);
  auto receiver = news.subscribe();
  constexpr auto canceled = std::errc::operation_canceled;

  stop_while_they_wait([&]() -> task<> { EXPECT_FALSE(co_await held.lock()); },
                       [&]() -> task<> { EXPECT_FALSE(co_await read.lock()); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await none.acquire(), canceled)); },
                       [&]() -> task<> {
                         auto guard = co_await lock.lock();
                         EXPECT_TRUE(failed_with(co_await changed.wait(guard), canceled));
                       },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await manual.wait(), canceled)); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await automatic.wait(), canceled)); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await closed.wait(), canceled)); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await meeting.arrive_and_wait(), canceled)); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await empty.recv(), canceled)); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await rendezvous.send(1), canceled)); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await answer.recv(), canceled)); },
                       [&]() -> task<> { EXPECT_TRUE(failed_with(co_await receiver.recv(), canceled)); });

  // All of them are as they were, and of use.
  held.unlock();
  EXPECT_TRUE(held.try_lock());
  read.unlock_shared();
  EXPECT_TRUE(read.try_lock());
  none.release();
  EXPECT_TRUE(none.try_acquire());
  automatic.set();
  EXPECT_TRUE(automatic.try_wait());
  EXPECT_TRUE(empty.try_send(1));
  EXPECT_EQ(empty.try_recv(), 1);
  EXPECT_TRUE(failed_with(rendezvous.try_recv(), errc::would_block));
  EXPECT_TRUE(news.send(1));
  EXPECT_EQ(receiver.try_recv(), 1);
}

/// A worker that never gets to them: their frames are destroyed where they wait.
TEST(RuntimeEndTest, FramesThatAreDestroyedWhileTheyWaitLeaveTheLine) {
  mutex held;
  ASSERT_TRUE(held.try_lock());
  {
    runtime_context ctx{{.workers = 1}};
    for (int i = 0; i < 3; ++i) {
      (void)spawn_until_it_waits(ctx,
                                 [](mutex& lock) -> task<> { EXPECT_TRUE(co_await lock.lock_unstoppably()); }(held));
    }
    EXPECT_TRUE(ctx.stop(1ms).finished);
  }
  held.unlock();
  EXPECT_TRUE(held.try_lock());
}

/// Holds the only worker, lets `grant` give its tasks what they wait for, and ends the runtime: their frames are destroyed without having
/// gone on.
template <class Grant>
void end_after(Grant grant, std::unique_ptr<runtime_context> one_worker) {
  std::latch held(1);
  std::latch go_on(1);
  one_worker->post([&] {
    held.count_down();
    go_on.wait();
  });
  held.wait();
  grant();
  EXPECT_FALSE(one_worker->stop(0ns).finished);
  go_on.count_down();
  one_worker.reset();
}

std::unique_ptr<runtime_context> make_one_worker() {
  return std::make_unique<runtime_context>(config{.workers = 1, .stop_grace = 1ms});
}

/// Spawns them one by one until they wait, then as end_after.
template <class Grant, class... Tasks>
void destroy_after(Grant grant, Tasks... tasks) {
  auto ctx = make_one_worker();
  ((void)spawn_until_it_waits(*ctx, std::move(tasks)), ...);
  end_after(std::move(grant), std::move(ctx));
}

task<> lock_and_never_go_on(mutex& m) {
  const auto guard = co_await m.lock_unstoppably();
  ADD_FAILURE() << "it should never go on";
}

TEST(RuntimeEndTest, WhatWasGrantedToAFrameThatNeverWentOnIsPassedOn) {
  mutex lock;
  ASSERT_TRUE(lock.try_lock());
  destroy_after([&] { lock.unlock(); }, lock_and_never_go_on(lock));
  EXPECT_TRUE(lock.try_lock());

  semaphore permits_for_many(0);
  destroy_after([&] { permits_for_many.release(3); },
                [](semaphore& s) -> task<> {
                  (void)co_await s.acquire(2);
                  ADD_FAILURE() << "it should never go on";
                }(permits_for_many));
  EXPECT_EQ(permits_for_many.available(), 3U);

  event automatic(reset::automatic);
  destroy_after([&] { automatic.set(); },
                [](event& e) -> task<> {
                  (void)co_await e.wait();
                  ADD_FAILURE() << "it should never go on";
                }(automatic));
  EXPECT_TRUE(automatic.try_wait());
}

TEST(RuntimeEndTest, OneThatWasCalledAndNeverRanCallsTheNext) {
  mutex lock;
  ASSERT_TRUE(lock.try_lock());
  runtime_context lives_on{{.workers = 1}};
  join_handle<bool> next;
  destroy_after(
      [&] {
        next = spawn_until_it_waits(lives_on,
                                    [](mutex& m) -> task<bool> { co_return (co_await m.lock()).has_value(); }(lock));
        lock.unlock();
      },
      lock_and_never_go_on(lock));
  EXPECT_TRUE(next.get());
  EXPECT_TRUE(lock.try_lock());
}

/// The same while somebody else has it: the next is called by that one, when it gives it back.
TEST(RuntimeEndTest, OneThatWasCalledAndOvertakenAndNeverRanIsForgotten) {
  mutex lock;
  ASSERT_TRUE(lock.try_lock());
  runtime_context lives_on{{.workers = 1}};
  join_handle<bool> next;
  destroy_after(
      [&] {
        next = spawn_until_it_waits(lives_on,
                                    [](mutex& m) -> task<bool> { co_return (co_await m.lock()).has_value(); }(lock));
        lock.unlock();
        ASSERT_TRUE(lock.try_lock());
      },
      lock_and_never_go_on(lock));
  EXPECT_FALSE(next.done());
  lock.unlock();
  EXPECT_TRUE(next.get());
}

TEST(RuntimeEndTest, ALockThatWasHandedToAFrameThatNeverWentOnIsPassedOn) {
  mutex lock;
  ASSERT_TRUE(lock.try_lock());
  auto ctx = make_one_worker();
  (void)spawn_until_it_waits(*ctx, lock_and_never_go_on(lock));
  let_it_come_in_vain(*ctx, lock);
  end_after(
      [&] {
        lock.unlock();
        EXPECT_FALSE(lock.try_lock()) << "it was handed over";
      },
      std::move(ctx));
  EXPECT_TRUE(lock.try_lock());
}

TEST(RuntimeEndTest, NothingIsLeftOfAnyWaitThatIsDestroyed) {
  channel<std::unique_ptr<int>> boxes(0);
  channel<std::unique_ptr<int>> full(0);
  broadcast<int> news(1);
  auto receiver = news.subscribe();
  barrier meeting(2);
  latch closed(1);
  mutex lock;
  condition_variable changed;
  destroy_after(
      [&] {
        EXPECT_TRUE(boxes.try_send(std::make_unique<int>(1)));
        changed.notify_one();
      },
      [](channel<std::unique_ptr<int>>& from) -> task<> { (void)co_await from.recv(); }(boxes),
      [](channel<std::unique_ptr<int>>& to) -> task<> { (void)co_await to.send(std::make_unique<int>(2)); }(full),
      [](broadcast<int>::receiver& from) -> task<> { (void)co_await from.recv(); }(receiver),
      [](barrier& at) -> task<> { (void)co_await at.arrive_and_wait(); }(meeting),
      [](latch& at) -> task<> { (void)co_await at.wait(); }(closed),
      [](mutex& m, condition_variable& on) -> task<> {
        auto guard = co_await m.lock();
        (void)co_await on.wait(guard);
      }(lock, changed),
      [](mutex& m, condition_variable& on) -> task<> {
        auto guard = co_await m.lock();
        (void)co_await on.wait(guard);
      }(lock, changed));
  EXPECT_TRUE(failed_with(boxes.try_send(nullptr), errc::would_block));
  EXPECT_TRUE(failed_with(full.try_recv(), errc::would_block));
  EXPECT_TRUE(news.send(1));
  closed.count_down();
  changed.notify_all();
  EXPECT_TRUE(lock.try_lock());
  meeting.arrive_and_drop();
  meeting.arrive_and_drop();  // the arrival of the one who is gone does not count
  EXPECT_THROW(meeting.arrive_and_drop(), std::logic_error);
}

TEST(RuntimeEndTest, AnAnswerToAFrameThatNeverWentOnIsGoneWithIt) {
  oneshot<std::shared_ptr<int>> answer;
  const auto value = std::make_shared<int>(1);
  destroy_after([&] { EXPECT_TRUE(answer.sender().send(value)); },
                [](oneshot<std::shared_ptr<int>>& from) -> task<> {
                  (void)co_await from.recv();
                  ADD_FAILURE() << "it should never go on";
                }(answer));
  EXPECT_TRUE(failed_with(answer.try_recv(), errc::closed));
}

/// An answer comes from outside at the very moment when the runtime destroys the one who asked.
TEST(RuntimeEndTest, AnAnswerFromOutsideAndTheEndMayMeet) {
  const std::uint64_t rounds = rounds_of_this_run(500);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::latch begun(1);
    oneshot<std::unique_ptr<int>> answer;
    auto sender = answer.sender();
    auto ctx = std::make_unique<runtime_context>(config{.workers = 1, .stop_grace = 0ns});
    (void)ctx->spawn([&]() -> task<> {
      begun.count_down();
      (void)co_await answer.recv();
    });
    begun.wait();
    std::jthread answers([&] { EXPECT_TRUE(sender.send(std::make_unique<int>(1))); });
    ctx.reset();
  }
}

/// A thread gives tasks what they wait for at the very moment when their runtime, without any grace, destroys them.
TEST(RuntimeEndTest, AGrantFromOutsideAndTheEndMayMeet) {
  const std::uint64_t rounds = rounds_of_this_run(500);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    constexpr int tasks = 4;
    semaphore permits(0);
    std::latch begun(tasks);
    auto ctx = std::make_unique<runtime_context>(config{.workers = 1, .stop_grace = 0ns});
    for (int i = 0; i < tasks; ++i) {
      (void)ctx->spawn([&]() -> task<> {
        begun.count_down();
        (void)co_await permits.acquire();
      });
    }
    begun.wait();
    std::jthread grants([&] {
      for (int i = 0; i < tasks; ++i) permits.release();
    });
    ctx.reset();
    grants.join();
    // Taken by those who went on, or still there: none was lost to a frame that was destroyed.
    int left = 0;
    while (permits.try_acquire()) ++left;
    EXPECT_LE(left, tasks);
    permits.release();
    EXPECT_TRUE(permits.try_acquire()) << "somebody who is gone is still in line";
  }
}

/// The same with a lock: those who wait are called, or destroyed, or both.
TEST(RuntimeEndTest, AnUnlockFromOutsideAndTheEndMayMeet) {
  const std::uint64_t rounds = rounds_of_this_run(500);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    constexpr int tasks = 4;
    mutex lock;
    ASSERT_TRUE(lock.try_lock());
    std::latch begun(tasks);
    auto ctx = std::make_unique<runtime_context>(config{.workers = 1, .stop_grace = 0ns});
    for (int i = 0; i < tasks; ++i) {
      (void)ctx->spawn([](mutex& m, std::latch& here, bool stops) -> task<> {
        here.count_down();
        const auto guard = co_await (stops ? m.lock() : m.lock_unstoppably());
      }(lock, begun, i % 2 == 0));
    }
    begun.wait();
    std::jthread unlocks([&] { lock.unlock(); });
    ctx.reset();
    unlocks.join();
    EXPECT_TRUE(lock.try_lock()) << "somebody who is gone has it";
    lock.unlock();
    EXPECT_TRUE(lock.try_lock()) << "somebody who is gone is still in line";
  }
}

}  // namespace
}  // namespace faio::sync
