// deque_test -- the growing deque: edges alone, then an owner against thieves across growths.
#include "faio/queue/deque.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "tally.hpp"

namespace faio::queue {
namespace {

using number = std::uintptr_t;
using testing::ElementsAre;

std::vector<number> drained(deque<number>& queue) {
  std::vector<number> all;
  while (auto value = queue.pop()) all.push_back(*value);
  return all;
}

TEST(Deque, IsEmptyAtFirst) {
  deque<number> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.steal(), std::nullopt);
}

TEST(Deque, PopsTheNewestAndStealsTheOldest) {
  deque<number> queue;
  for (number i = 1; i <= 4; ++i) queue.push(i);
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue.pop(), 4U);
  EXPECT_EQ(queue.steal(), 1U);
  EXPECT_EQ(queue.pop(), 3U);
  EXPECT_EQ(queue.steal(), 2U);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_EQ(queue.steal(), std::nullopt);
}

TEST(Deque, StaysUsableAfterItRanEmpty) {
  deque<number> queue(2);
  for (number i = 1; i <= 100; ++i) {
    queue.push(i);
    EXPECT_EQ(i % 2 == 0 ? queue.pop() : queue.steal(), i);
    EXPECT_EQ(queue.pop(), std::nullopt);
    EXPECT_TRUE(queue.empty());
  }
}

TEST(Deque, GrowsWhenFullAndKeepsTheOrder) {
  deque<number> queue(2);
  for (number i = 1; i <= 5; ++i) queue.push(i);
  EXPECT_EQ(queue.capacity(), 8U);
  EXPECT_EQ(queue.steal(), 1U);
  EXPECT_THAT(drained(queue), ElementsAre(5, 4, 3, 2));
}

TEST(Deque, PushesSeveralAtOnceInOrderAndGrowsForAllOfThem) {
  deque<number> queue(2);
  queue.push(1);
  queue.push_all(0, [](std::size_t) -> number { return 0; });
  queue.push_all(1, [](std::size_t) -> number { return 2; });
  EXPECT_EQ(queue.capacity(), 2U) << "it was full, and is";
  queue.push_all(9, [](std::size_t i) -> number { return 3 + i; });
  EXPECT_EQ(queue.capacity(), 16U);
  EXPECT_EQ(queue.steal(), 1U);
  EXPECT_THAT(drained(queue), ElementsAre(11, 10, 9, 8, 7, 6, 5, 4, 3, 2));
}

TEST(Deque, PushesSeveralAtOnceOrNone) {
  deque<number> queue(2);
  queue.push(1);
  EXPECT_THROW(queue.push_all(5, [](std::size_t i) -> number { return i < 3 ? i : throw std::bad_alloc(); }),
               std::bad_alloc);
  EXPECT_THAT(drained(queue), ElementsAre(1));
}

TEST(Deque, DoesNotGrowWhileThievesMakeRoom) {
  deque<number> queue(4);
  for (number i = 1; i <= 1000; ++i) {
    queue.push(i);
    if (i > 2) {
      EXPECT_EQ(queue.steal(), i - 2);
    }
  }
  EXPECT_EQ(queue.capacity(), 4U);
}

TEST(Deque, GivesHalfRoundedUpToABatchThief) {
  deque<number> victim, thief;
  for (number i = 1; i <= 5; ++i) victim.push(i);
  EXPECT_EQ(victim.steal_batch(thief), 1U);
  EXPECT_THAT(drained(thief), ElementsAre(3, 2));
  EXPECT_THAT(drained(victim), ElementsAre(5, 4));
}

TEST(Deque, GivesALoneElementToABatchThief) {
  deque<number> victim, thief;
  victim.push(1);
  EXPECT_EQ(victim.steal_batch(thief), 1U);
  EXPECT_TRUE(thief.empty());
  EXPECT_EQ(victim.steal_batch(thief), std::nullopt);
}

/// Has memory for so many more buffers.
struct scarce : std_atomics {
  template <class T, class... Args>
  static T* make(Args&&... args) {
    if (left == 0) throw std::bad_alloc();
    --left;
    return std_atomics::make<T>(std::forward<Args>(args)...);
  }
  static inline int left = 0;
};

TEST(Deque, LosesNothingWhenThereIsNoMemoryToGrow) {
  scarce::left = 2;
  deque<number, scarce> victim(16), thief(2);
  for (number i = 1; i <= 16; ++i) victim.push(i);
  EXPECT_THROW(victim.push(17), std::bad_alloc);
  EXPECT_EQ(victim.steal_batch(thief), 1U) << "with the two that the thief has room for";
  EXPECT_EQ(thief.pop(), 3U);
  EXPECT_EQ(thief.pop(), 2U);
  for (number i = 16; i >= 4; --i) EXPECT_EQ(victim.pop(), i);
  EXPECT_EQ(victim.pop(), std::nullopt);
}

void owner_against_thieves(bool in_batches) {
  deque<number> queue(2);
  tests::tally tally(tests::many);
  constexpr int thieves = 3;
  std::latch start(thieves + 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < thieves; ++i) {
    threads.emplace_back([&] {
      deque<number> mine;
      start.arrive_and_wait();
      while (!tally.complete()) {
        if (auto value = in_batches ? queue.steal_batch(mine) : queue.steal()) tally.count(*value);
        while (auto value = mine.pop()) tally.count(*value);
      }
    });
  }
  start.arrive_and_wait();
  // Bursts that grow and drain it again, so that the last element is fought over often.
  for (number i = 1, burst = 1; i <= tests::many; burst = burst % 61 + 1) {
    for (number pushed = 0; pushed < burst && i <= tests::many; ++pushed) queue.push(i++);
    for (number popped = 0; popped < burst; ++popped) {
      if (auto value = queue.pop()) tally.count(*value);
    }
  }
  while (!tally.complete()) {
    if (auto value = queue.pop()) tally.count(*value);
  }
  threads.clear();
  tally.expect_each_once();
}

TEST(Deque, GivesEachOfAMillionElementsToExactlyOneOfOwnerAndThreeThieves) { owner_against_thieves(false); }

TEST(Deque, GivesEachOfAMillionElementsToExactlyOneWhenThievesTakeBatches) { owner_against_thieves(true); }

TEST(Deque, GrowsUnderThievesWithoutLosingAny) {
  deque<number> queue(2);
  tests::tally tally(tests::many);
  std::latch start(3);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      while (!tally.complete()) {
        if (auto value = queue.steal()) tally.count(*value);
      }
    });
  }
  start.arrive_and_wait();
  for (number i = 1; i <= tests::many; ++i) queue.push(i);
  threads.clear();
  tally.expect_each_once();
}

}  // namespace
}  // namespace faio::queue
