// local_queue_test -- the ring of one worker: edges alone, then an owner against thieves.
#include "faio/queue/local_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <latch>
#include <limits>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "faio/queue/global_queue.hpp"
#include "tally.hpp"

namespace faio::queue {
namespace {

using number = std::uintptr_t;
using testing::ElementsAre;

/// An overflow that remembers each batch it was handed.
struct recording {
  void push_batch(std::span<number> batch) { batches.emplace_back(batch.begin(), batch.end()); }
  std::vector<std::vector<number>> batches;
};

template <class Queue>
std::vector<number> drained(Queue& queue) {
  std::vector<number> all;
  while (auto value = queue.pop()) all.push_back(*value);
  return all;
}

template <std::size_t Capacity>
void fill(local_queue<number, Capacity>& queue, number first, number last) {
  for (number i = first; i <= last; ++i) ASSERT_TRUE(queue.push_back(i, no_overflow));
}

TEST(LocalQueue, IsEmptyAtFirst) {
  local_queue<number, 4> queue;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.free_room(), 4U);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(LocalQueue, GivesNothingToAThiefWhenEmpty) {
  local_queue<number, 4> victim, thief;
  EXPECT_EQ(victim.be_stolen_by(thief), std::nullopt);
  EXPECT_TRUE(thief.empty());
}

TEST(LocalQueue, PopsInTheOrderOfThePushes) {
  local_queue<number, 8> queue;
  fill(queue, 1, 8);
  EXPECT_EQ(queue.size(), 8U);
  EXPECT_EQ(queue.free_room(), 0U);
  EXPECT_THAT(drained(queue), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(LocalQueue, GivesALoneTaskToAThief) {
  local_queue<int*, 4> victim, thief;
  int task = 0;
  victim.push_back(&task, no_overflow);
  EXPECT_EQ(victim.be_stolen_by(thief), &task);
  EXPECT_TRUE(victim.empty());
  EXPECT_TRUE(thief.empty());
}

TEST(LocalQueue, GivesHalfRoundedUpAndTheOldestToTheThief) {
  local_queue<number, 8> victim, thief;
  fill(victim, 1, 5);
  EXPECT_EQ(victim.be_stolen_by(thief), 1U);
  EXPECT_THAT(drained(thief), ElementsAre(2, 3));
  EXPECT_THAT(drained(victim), ElementsAre(4, 5));
}

TEST(LocalQueue, HandsHalfOfItselfAndTheNewElementToTheOverflowInOneBatch) {
  local_queue<number, 4> queue;
  recording overflow;
  for (number i = 1; i <= 5; ++i) EXPECT_TRUE(queue.push_back(i, overflow));
  EXPECT_THAT(overflow.batches, ElementsAre(ElementsAre(1, 2, 5)));
  EXPECT_THAT(drained(queue), ElementsAre(3, 4));
}

TEST(LocalQueue, KeepsEverythingInOrderWhenTheOverflowRefuses) {
  local_queue<number, 4> queue;
  fill(queue, 1, 4);
  global_queue<number> closed;
  closed.close();
  EXPECT_FALSE(queue.push_back(5, closed));
  EXPECT_TRUE(closed.empty());
  EXPECT_EQ(queue.size(), 4U);
  local_queue<number, 4> thief;
  EXPECT_EQ(queue.be_stolen_by(thief), 1U);
  EXPECT_THAT(drained(thief), ElementsAre(2));
  EXPECT_THAT(drained(queue), ElementsAre(3, 4));
}

TEST(LocalQueue, KeepsEverythingAndStaysOpenToThievesWhenTheOverflowThrows) {
  struct {
    void push_batch(std::span<number>) { throw std::bad_alloc(); }
  } out_of_memory;
  local_queue<number, 4> queue, thief;
  fill(queue, 1, 4);
  EXPECT_THROW(queue.push_back(5, out_of_memory), std::bad_alloc);
  EXPECT_EQ(queue.size(), 4U);
  EXPECT_EQ(queue.be_stolen_by(thief), 1U);
  EXPECT_THAT(drained(thief), ElementsAre(2));
  EXPECT_THAT(drained(queue), ElementsAre(3, 4));
}

TEST(LocalQueue, RefusesADestinationThatIsOverHalfFull) {
  local_queue<number, 8> victim, thief;
  fill(victim, 1, 8);
  fill(thief, 101, 105);
  EXPECT_EQ(victim.be_stolen_by(thief), std::nullopt);
  EXPECT_EQ(victim.size(), 8U);
  EXPECT_EQ(thief.pop(), 101U);
  EXPECT_EQ(victim.be_stolen_by(thief), 1U) << "half full is not over half full";
  EXPECT_THAT(drained(thief), ElementsAre(102, 103, 104, 105, 2, 3, 4));
}

TEST(LocalQueue, TakesOneMoreIfThereIsRoom) {
  local_queue<number, 4> queue;
  fill(queue, 1, 3);
  EXPECT_TRUE(queue.try_push_back(4));
  EXPECT_FALSE(queue.try_push_back(5));
  EXPECT_EQ(queue.pop(), 1U);
  EXPECT_TRUE(queue.try_push_back(5));
  EXPECT_THAT(drained(queue), ElementsAre(2, 3, 4, 5));
}

TEST(LocalQueue, TakesOfABatchWhatFitsAndSaysHowMany) {
  local_queue<number, 4> queue;
  fill(queue, 1, 1);
  std::vector<number> batch{2, 3, 4, 5, 6};
  EXPECT_EQ(queue.push_back_batch(batch), 3U);
  EXPECT_THAT(drained(queue), ElementsAre(1, 2, 3, 4));
}

TEST(LocalQueue, HandsTheRestOfABatchToTheOverflow) {
  local_queue<number, 4> queue;
  fill(queue, 1, 1);
  recording overflow;
  std::vector<number> batch{2, 3, 4, 5, 6};
  EXPECT_TRUE(queue.push_back_batch(batch, overflow));
  EXPECT_THAT(overflow.batches, ElementsAre(ElementsAre(5, 6)));
  EXPECT_THAT(drained(queue), ElementsAre(1, 2, 3, 4));
}

TEST(LocalQueue, TakesABatchThatMayNotBeWrittenTo) {
  local_queue<number, 4> queue;
  recording wants_to_write;
  global_queue<number> only_reads;
  const std::vector<number> batch{1, 2, 3};
  EXPECT_TRUE(queue.push_back_batch(batch, wants_to_write));
  EXPECT_TRUE(queue.push_back_batch(std::span<const number>(batch), wants_to_write));
  EXPECT_TRUE(queue.push_back_batch(std::array<number, 2>{4, 5}, only_reads));
  EXPECT_THAT(wants_to_write.batches, ElementsAre(ElementsAre(2, 3)));
  EXPECT_THAT(only_reads.try_pop_batch(9), ElementsAre(4, 5));
  EXPECT_THAT(drained(queue), ElementsAre(1, 2, 3, 1));
}

TEST(LocalQueue, TakesNothingOfABatchWhoseRestIsRefused) {
  local_queue<number, 4> queue;
  fill(queue, 1, 1);
  std::vector<number> batch{2, 3, 4, 5, 6};
  EXPECT_FALSE(queue.push_back_batch(batch, no_overflow));
  EXPECT_THAT(drained(queue), ElementsAre(1));
}

TEST(LocalQueue, TakesAnEmptyBatch) {
  local_queue<number, 4> queue;
  EXPECT_EQ(queue.push_back_batch(std::span<const number>()), 0U);
  EXPECT_TRUE(queue.push_back_batch(std::span<number>(), no_overflow));
  EXPECT_TRUE(queue.empty());
}

TEST(LocalQueue, SpillsOverAMillionPushesWithoutLosingAny) {
  local_queue<number, 256> queue;
  global_queue<number> overflow;
  tests::tally tally(tests::many);
  for (number i = 1; i <= tests::many; ++i) ASSERT_TRUE(queue.push_back(i, overflow));
  while (auto value = queue.pop()) tally.count(*value);
  while (auto value = overflow.try_pop()) tally.count(*value);
  tally.expect_each_once();
}

/// The indices wrap in the middle of each of these.
class LocalQueueNearTheEndOfItsIndices : public testing::TestWithParam<std::uint32_t> {};

TEST_P(LocalQueueNearTheEndOfItsIndices, PushesPopsSpillsAndIsStolenFromAsEver) {
  local_queue<number, 4> queue(GetParam());
  local_queue<number, 4> thief(GetParam() + 1);
  recording overflow;
  number next = 1;
  std::vector<number> out;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 5; ++i) queue.push_back(next++, overflow);
    ASSERT_EQ(queue.size(), 2U);
    out.push_back(*queue.be_stolen_by(thief));
    ASSERT_EQ(thief.pop(), std::nullopt);
    out.push_back(*queue.pop());
    ASSERT_TRUE(queue.empty());
  }
  for (const auto& batch : overflow.batches) out.insert(out.end(), batch.begin(), batch.end());
  std::sort(out.begin(), out.end());
  std::vector<number> all(next - 1);
  std::iota(all.begin(), all.end(), number{1});
  EXPECT_EQ(out, all);
}
INSTANTIATE_TEST_SUITE_P(LocalQueue, LocalQueueNearTheEndOfItsIndices,
                         testing::Values(std::numeric_limits<std::uint32_t>::max(),
                                         std::numeric_limits<std::uint32_t>::max() - 1,
                                         std::numeric_limits<std::uint32_t>::max() - 3,
                                         std::numeric_limits<std::uint32_t>::max() - 10));

/// An owner that pushes and pops, thieves that steal, everything counted once. The tiny ring spills all the time.
template <std::size_t Capacity>
void owner_against_thieves(int thieves, std::uint32_t first_index) {
  local_queue<number, Capacity> queue(first_index);
  global_queue<number> overflow;
  tests::tally tally(tests::many);
  std::latch start(thieves + 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < thieves; ++i) {
    threads.emplace_back([&] {
      local_queue<number, Capacity> mine;
      start.arrive_and_wait();
      while (!tally.complete()) {
        if (auto value = queue.be_stolen_by(mine)) tally.count(*value);
        while (auto value = mine.pop()) tally.count(*value);
        if (auto value = overflow.try_pop()) tally.count(*value);
      }
    });
  }
  start.arrive_and_wait();
  for (number i = 1; i <= tests::many; ++i) {
    queue.push_back(i, overflow);
    if (i % 3 == 0) {
      if (auto value = queue.pop()) tally.count(*value);
    }
  }
  while (!tally.complete()) {
    if (auto value = queue.pop()) tally.count(*value);
    if (auto value = overflow.try_pop()) tally.count(*value);
  }
  threads.clear();
  tally.expect_each_once();
}

TEST(LocalQueue, GivesEachOfAMillionElementsToExactlyOneOfOwnerAndThreeThieves) { owner_against_thieves<256>(3, 0); }

TEST(LocalQueue, GivesEachElementOnceWhenTheRingIsTinyAndItsIndicesWrap) {
  owner_against_thieves<4>(3, std::numeric_limits<std::uint32_t>::max() - 1000);
}

}  // namespace
}  // namespace faio::queue
