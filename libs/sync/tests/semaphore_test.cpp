// semaphore_test -- so many and no more, in order; stopping takes nothing along.
#include "faio/sync/semaphore.hpp"

#include <atomic>
#include <thread>

#include "faio/context/timeout.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

task<> acquire_and_note(semaphore& s, std::uint64_t count, std::vector<int>& order, int who) {
  EXPECT_TRUE(co_await s.acquire(count));
  order.push_back(who);
}

TEST(SemaphoreTest, GivesSoManyPermitsAndNoMore) {
  semaphore s(3);
  EXPECT_TRUE(s.try_acquire(2));
  EXPECT_EQ(s.available(), 1U);
  EXPECT_FALSE(s.try_acquire(2));
  EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire());
  s.release(3);
  EXPECT_EQ(s.available(), 3U);
}

TEST(SemaphoreTest, NoMoreThanThatAreInsideAtOnce) {
  runtime_context ctx{{.workers = 3}};
  semaphore s(3);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < 12; ++t) {
      group.spawn([](semaphore& permits, std::atomic<int>& now, std::atomic<int>& peak) -> task<> {
        for (int i = 0; i < 200; ++i) {
          EXPECT_TRUE(co_await permits.acquire());
          const int here = now.fetch_add(1) + 1;
          int seen = peak.load();
          while (here > seen && !peak.compare_exchange_weak(seen, here)) {
          }
          co_await yield();
          now.fetch_sub(1);
          permits.release();
        }
      }(s, inside, most));
    }
    co_await group.join();
  });
  EXPECT_LE(most.load(), 3);
  EXPECT_EQ(s.available(), 3U);
}

TEST(SemaphoreTest, OneWhoWantsManyIsNotOvertaken) {
  runtime_context ctx{{.workers = 1}};
  semaphore s(0);
  std::vector<int> order;
  auto many = spawn_until_it_waits(ctx, acquire_and_note(s, 3, order, 3));
  auto one = spawn_until_it_waits(ctx, acquire_and_note(s, 1, order, 1));
  s.release(2);  // enough for the second, who is behind
  EXPECT_FALSE(s.try_acquire());
  ctx.block_on([]() -> task<> { co_await yield(); });
  EXPECT_TRUE(order.empty());
  s.release(2);
  many.get();
  one.get();
  EXPECT_EQ(order, (std::vector{3, 1}));
  EXPECT_EQ(s.available(), 0U);
}

TEST(SemaphoreTest, OneWhoGivesUpLeavesThePermitsToThoseBehindIt) {
  runtime_context ctx{{.workers = 1}};
  semaphore s(1);
  std::vector<int> order;
  auto many = spawn_until_it_waits(ctx, [](semaphore& permits) -> task<> {
    const auto gave = co_await permits.acquire(2);
    EXPECT_TRUE(failed_with(gave, std::errc::operation_canceled));
  }(s));
  auto one = spawn_until_it_waits(ctx, acquire_and_note(s, 1, order, 1));
  EXPECT_TRUE(order.empty());
  many.request_stop();
  many.get();
  one.get();
  EXPECT_EQ(s.available(), 0U);
}

TEST(SemaphoreTest, ATimeoutTakesNothing) {
  runtime_context ctx{{.workers = 2}};
  semaphore s(1);
  ctx.block_on([&]() -> task<> {
    const auto gave = co_await timeout(1ms, s.acquire(2));
    EXPECT_TRUE(failed_with(gave, std::errc::timed_out));
    EXPECT_TRUE(co_await timeout(10s, s.acquire()));
  });
  EXPECT_EQ(s.available(), 0U);
}

TEST(SemaphoreTest, AThreadReleasesWhatATaskAcquiresAndTheOtherWayRound) {
  runtime_context ctx{{.workers = 2}};
  semaphore ping(0);
  semaphore pong(0);
  std::jthread thread([&] {
    for (int i = 0; i < 1000; ++i) {
      ping.release();
      pong.blocking_acquire();
    }
  });
  ctx.block_on([&]() -> task<> {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(co_await ping.acquire());
      pong.release();
    }
  });
  thread.join();
  EXPECT_EQ(ping.available() + pong.available(), 0U);
}

TEST(SemaphoreTest, BlockingOnAWorkerIsAnErrorInsteadOfAHang) {
  runtime_context ctx{{.workers = 1}};
  semaphore s(0);
  ctx.block_on([&] { EXPECT_THROW(s.blocking_acquire(), std::system_error); });
}

}  // namespace
}  // namespace faio::sync
