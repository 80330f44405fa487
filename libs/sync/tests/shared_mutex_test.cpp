// shared_mutex_test -- readers together, writers alone, neither starves.
#include <atomic>
#include <future>
#include <thread>

#include "faio/sync/event.hpp"
#include "faio/sync/mutex.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

TEST(SharedMutexTest, ReadersAreTogetherAndWritersAlone) {
  shared_mutex m;
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_FALSE(m.try_lock());
  m.unlock_shared();
  EXPECT_FALSE(m.try_lock());
  m.unlock_shared();
  EXPECT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock());
  EXPECT_FALSE(m.try_lock_shared());
  m.unlock();
}

TEST(SharedMutexTest, AllReadersHoldItAtOnce) {
  runtime_context ctx{{.workers = 2}};
  shared_mutex m;
  latch all(10);
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int i = 0; i < 10; ++i) {
      group.spawn([](shared_mutex& lock, latch& here) -> task<> {
        const auto guard = co_await lock.lock_shared();
        EXPECT_TRUE(co_await here.arrive_and_wait());  // comes only when all ten have the lock
      }(m, all));
    }
    co_await group.join();
  });
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

/// A writer that waits is before all readers that come after it, although the lock is held by readers only.
TEST(SharedMutexTest, AWaitingWriterIsNotOvertakenByReaders) {
  runtime_context ctx{{.workers = 1}};
  shared_mutex m;
  std::vector<std::string> order;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = spawn_until_it_waits(ctx, [](shared_mutex& lock, std::vector<std::string>& into) -> task<> {
    const auto guard = co_await lock.lock();
    into.emplace_back("writer");
  }(m, order));
  EXPECT_FALSE(m.try_lock_shared());
  auto reader = spawn_until_it_waits(ctx, [](shared_mutex& lock, std::vector<std::string>& into) -> task<> {
    const auto guard = co_await lock.lock_shared();
    into.emplace_back("reader");
  }(m, order));
  EXPECT_TRUE(order.empty());
  m.unlock_shared();
  writer.get();
  reader.get();
  EXPECT_EQ(order, (std::vector<std::string>{"writer", "reader"}));
}

TEST(SharedMutexTest, AWriterThatGivesUpLetsTheReadersBehindItIn) {
  runtime_context ctx{{.workers = 1}};
  shared_mutex m;
  ASSERT_TRUE(m.try_lock_shared());
  auto writer = spawn_until_it_waits(ctx, [](shared_mutex& lock) -> task<> { EXPECT_FALSE(co_await lock.lock()); }(m));
  auto reader =
      spawn_until_it_waits(ctx, [](shared_mutex& lock) -> task<> { EXPECT_TRUE(co_await lock.lock_shared()); }(m));
  EXPECT_FALSE(reader.done());
  writer.request_stop();
  writer.get();
  reader.get();
  m.unlock_shared();
}

TEST(SharedMutexTest, WritersAreAloneUnderLoadFromTasksAndThreads) {
  runtime_context ctx{{.workers = 2}};
  shared_mutex m;
  int value = 0;
  std::atomic<int> inside{0};
  std::jthread thread([&] {
    for (int i = 0; i < 500; ++i) {
      {
        const auto guard = m.blocking_lock();
        ++value;
      }
      const auto guard = m.blocking_lock_shared();
      (void)value;
    }
  });
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < 6; ++t) {
      group.spawn([](shared_mutex& lock, int& shared, std::atomic<int>& writers, bool writes) -> task<> {
        for (int i = 0; i < 500; ++i) {
          if (writes) {
            const auto guard = co_await lock.lock();
            EXPECT_EQ(writers.fetch_add(1), 0);
            ++shared;
            co_await yield();
            writers.fetch_sub(1);
          } else {
            const auto guard = co_await lock.lock_shared();
            EXPECT_EQ(writers.load(), 0);
          }
        }
      }(m, value, inside, t < 2));
    }
    co_await group.join();
  });
  thread.join();
  EXPECT_EQ(value, 3 * 500);
}

TEST(SharedMutexTest, BlockingOnAWorkerIsAnErrorInsteadOfAHang) {
  runtime_context ctx{{.workers = 1}};
  shared_mutex m;
  ASSERT_TRUE(m.try_lock());
  ctx.block_on([&] {
    EXPECT_THROW((void)m.blocking_lock(), std::system_error);
    EXPECT_THROW((void)m.blocking_lock_shared(), std::system_error);
  });
  m.unlock();
}

}  // namespace
}  // namespace faio::sync
