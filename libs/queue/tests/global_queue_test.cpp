// global_queue_test -- the queue of everybody: order, batches, closing, and closing under load.
#include "faio/queue/global_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "tally.hpp"

namespace faio::queue {
namespace {

using number = std::uintptr_t;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(GlobalQueue, IsEmptyAtFirst) {
  global_queue<number> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  EXPECT_THAT(queue.try_pop_batch(8), IsEmpty());
}

TEST(GlobalQueue, PopsInTheOrderOfThePushes) {
  global_queue<number> queue;
  std::vector<number> batch{2, 3, 4};
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push_batch(batch));
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue.try_pop(), 1U);
  EXPECT_THAT(queue.try_pop_batch(2), ElementsAre(2, 3));
  EXPECT_THAT(queue.try_pop_batch(9), ElementsAre(4));
  EXPECT_TRUE(queue.empty());
}

TEST(GlobalQueue, FillsASpanWithoutAllocating) {
  global_queue<number> queue;
  std::vector<number> batch(100);
  std::iota(batch.begin(), batch.end(), number{1});
  queue.push_batch(batch);
  number out[64];
  EXPECT_EQ(queue.try_pop_batch(std::span<number>(out)), 64U);
  EXPECT_EQ(out[63], 64U);
  EXPECT_EQ(queue.try_pop_batch(std::span<number>(out)), 36U);
  EXPECT_EQ(out[0], 65U);
}

TEST(GlobalQueue, KeepsTheOrderWhileItsRingWrapsAndGrows) {
  global_queue<number> queue;
  number in = 0;
  number out = 0;
  for (std::size_t round = 0; round < 300; ++round) {
    std::vector<number> batch(round % 97);
    for (auto& each : batch) each = ++in;
    queue.push_batch(batch);
    for (const number each : queue.try_pop_batch(round % 83)) ASSERT_EQ(each, ++out);
  }
  for (const number each : queue.try_pop_batch(in)) ASSERT_EQ(each, ++out);
  EXPECT_EQ(in, out);
}

TEST(GlobalQueue, WorksOnAfterABurstWhoseMemoryItGaveBack) {
  global_queue<number> queue;
  std::vector<number> burst(100'000, 7);
  queue.push_batch(burst);
  EXPECT_EQ(queue.try_pop_batch(burst.size()).size(), burst.size());
  for (const number each : {8U, 9U}) {  // after the first of them, which needed less, the burst's memory is given back
    queue.push(each);
    EXPECT_EQ(queue.try_pop(), each);
  }
}

TEST(GlobalQueue, RefusesPushesAfterCloseAndDrains) {
  global_queue<number> queue;
  queue.push(1);
  EXPECT_FALSE(queue.closed());
  queue.close();
  queue.close();
  EXPECT_TRUE(queue.closed());
  std::vector<number> batch{2, 3};
  EXPECT_FALSE(queue.push(2));
  EXPECT_FALSE(queue.push_batch(batch));
  EXPECT_THAT(batch, ElementsAre(2, 3));
  EXPECT_EQ(queue.try_pop(), 1U);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

/// Counts how often the lock is taken.
struct counting : std_atomics {
  struct mutex : std::mutex {
    void lock() {
      ++locks;
      std::mutex::lock();
    }
  };
  static inline int locks = 0;
};

TEST(GlobalQueue, TakesNoLockToFindItselfEmpty) {
  counting::locks = 0;
  global_queue<number, counting> queue;
  queue.push(1);
  queue.try_pop();
  ASSERT_EQ(counting::locks, 2) << "the lock is counted";
  number out[4];
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  EXPECT_THAT(queue.try_pop_batch(4), IsEmpty());
  EXPECT_EQ(queue.try_pop_batch(std::span<number>(out)), 0U);
  EXPECT_EQ(counting::locks, 2);
}

/// Two producers and two consumers, single elements and batches mixed.
TEST(GlobalQueue, GivesEachOfAMillionElementsToExactlyOneConsumer) {
  global_queue<number> queue;
  tests::tally tally(tests::many);
  std::latch start(4);
  std::vector<std::jthread> threads;
  for (number producer = 0; producer < 2; ++producer) {
    threads.emplace_back([&, producer] {
      start.arrive_and_wait();
      std::vector<number> batch;
      for (number i = producer + 1; i <= tests::many; i += 2) {
        if (i % 5 == 0) {
          ASSERT_TRUE(queue.push(i));
          continue;
        }
        batch.push_back(i);
        if (batch.size() == 64 || i + 2 > tests::many) {
          ASSERT_TRUE(queue.push_batch(batch));
          batch.clear();
        }
      }
      if (!batch.empty()) {
        ASSERT_TRUE(queue.push_batch(batch));
      }
    });
    threads.emplace_back([&] {
      start.arrive_and_wait();
      while (!tally.complete()) {
        if (auto value = queue.try_pop()) tally.count(*value);
        for (const number value : queue.try_pop_batch(16)) tally.count(value);
      }
    });
  }
  threads.clear();
  tally.expect_each_once();
}

/// Closing under load: what was accepted comes out once, what was refused is still with its producer, nothing else
/// exists.
TEST(GlobalQueue, LeavesRefusedElementsWithTheCallerWhenClosedUnderLoad) {
  for (int round = 0; round < 20; ++round) {
    constexpr number each = 20'000;
    global_queue<number> queue;
    tests::tally tally(2 * each);
    std::latch start(4);
    std::atomic<int> producing{2};
    std::vector<std::jthread> threads;
    for (number producer = 0; producer < 2; ++producer) {
      threads.emplace_back([&, producer] {
        start.arrive_and_wait();
        std::vector<number> refused;
        for (number i = producer * each + 1; i <= (producer + 1) * each; ++i) {
          if (!queue.push(i)) refused.push_back(i);
        }
        for (const number value : refused) tally.count(value);
        producing.fetch_sub(1);
      });
    }
    threads.emplace_back([&] {
      start.arrive_and_wait();
      while (producing.load() > 0 || !queue.empty()) {
        if (auto value = queue.try_pop()) tally.count(*value);
      }
    });
    start.arrive_and_wait();
    while (queue.size() < 100 && producing.load() > 0) std::this_thread::yield();
    queue.close();
    threads.clear();
    tally.expect_each_once();
  }
}

}  // namespace
}  // namespace faio::queue
