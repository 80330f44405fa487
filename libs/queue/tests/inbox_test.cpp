// inbox_test -- many writers, one reader: order, everything once, nothing leaked.
#include "faio/queue/inbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tally.hpp"

namespace faio::queue {
namespace {

using number = std::uintptr_t;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Inbox, IsEmptyAtFirst) {
  inbox<number> box;
  EXPECT_TRUE(box.empty());
  EXPECT_THAT(box.drain(), IsEmpty());
}

TEST(Inbox, DrainsInTheOrderOfThePushes) {
  inbox<number> box;
  for (number i = 1; i <= 4; ++i) box.push(i);
  EXPECT_FALSE(box.empty());
  EXPECT_THAT(box.drain(), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(box.empty());
}

TEST(Inbox, TellsThePusherWhenItWasEmpty) {
  inbox<number> box;
  EXPECT_TRUE(box.push(1));
  EXPECT_FALSE(box.push(2));
  box.drain();
  EXPECT_TRUE(box.push(3));
  box.drain();
}

TEST(Inbox, KeepsWhatIsPushedDuringADrainForTheNext) {
  inbox<number> box;
  box.push(1);
  EXPECT_EQ(box.drain([&](number value) {
    if (value < 3) box.push(value + 1);
  }),
            1U);
  EXPECT_THAT(box.drain(), ElementsAre(2));
}

TEST(Inbox, FreesTheRestWhenTheTakerThrows) {
  inbox<number> box;
  for (number i = 1; i <= 3; ++i) box.push(i);
  EXPECT_THROW(box.drain([](number) { throw std::runtime_error("taker"); }), std::runtime_error);
  EXPECT_TRUE(box.empty());
}

TEST(Inbox, FreesWhatIsLeftInItWhenItGoes) {
  inbox<number> box;  // the leak would be LeakSanitizer's to find
  box.push(1);
  box.push(2);
}

TEST(Inbox, KeepsTheOrderOfEachProducer) {
  inbox<number> box;
  constexpr number producers = 3;
  const number each = tests::many / producers;
  tests::tally tally(producers * each);
  std::latch start(producers + 1);
  std::vector<std::jthread> threads;
  for (number producer = 0; producer < producers; ++producer) {
    threads.emplace_back([&, producer] {
      start.arrive_and_wait();
      for (number i = 1; i <= each; ++i) box.push(producer * each + i);
    });
  }
  std::vector<number> last(producers, 0);
  start.arrive_and_wait();
  while (!tally.complete()) {
    box.drain([&](number value) {
      tally.count(value);
      const number producer = (value - 1) / each;
      ASSERT_LT(last[producer], value);
      last[producer] = value;
    });
  }
  threads.clear();
  tally.expect_each_once();
}

}  // namespace
}  // namespace faio::queue
