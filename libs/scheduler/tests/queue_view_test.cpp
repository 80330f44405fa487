// queue_view_test -- when a thief leaves a short queue alone.
#include "faio/scheduler/queue_view.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using namespace std::chrono_literals;
using faio::scheduler::prospect;
using faio::scheduler::queue_view;

constexpr queue_view::time_point start{1h};

constexpr queue_view::progress ran(std::uint64_t turns, std::uint64_t sleeps = 0) { return {turns, sleeps}; }

TEST(QueueView, IsUnsureUntilItHasLookedTwice) {
  queue_view view;
  EXPECT_EQ(view.judge(start, ran(5), 1), prospect::unsure);
  EXPECT_EQ(view.judge(start + queue_view::least - 1ns, ran(5), 1), prospect::unsure);
  EXPECT_NE(view.judge(start + queue_view::least, ran(5), 1), prospect::unsure);
}

TEST(QueueView, BehindAnOwnerThatStandsStillEvenOneWaitsLong) {
  queue_view view;
  (void)view.judge(start, ran(5), 1);
  EXPECT_EQ(view.judge(start + queue_view::least, ran(5), 1), prospect::waits_long);
}

TEST(QueueView, AFewBehindAnOwnerThatGetsOnWaitBriefly) {
  queue_view view;
  (void)view.judge(start, ran(1000), 8);
  // 20 turns in 2 microseconds, so 8 in the queue wait for less than one.
  EXPECT_EQ(view.judge(start + 2us, ran(1020), 8), prospect::waits_briefly);
}

TEST(QueueView, HowLongIsTheLengthByTheTimeOfATurn) {
  queue_view view;
  (void)view.judge(start, ran(0), 8);
  // Two turns in four microseconds: two each.
  EXPECT_EQ(view.judge(start + 4us, ran(2), queue_view::worth_stealing / 2us), prospect::waits_briefly);
  EXPECT_EQ(view.judge(start + 4us, ran(2), queue_view::worth_stealing / 2us + 1), prospect::waits_long);
}

TEST(QueueView, WhatWasSeenLongAgoDoesNotCount) {
  queue_view view;
  (void)view.judge(start, ran(0), 1);
  const auto later = start + queue_view::longest + 1ns;
  EXPECT_EQ(view.judge(later, ran(1), 1), prospect::unsure) << "it may have slept, and has begun to run only now";
  EXPECT_EQ(view.judge(later + queue_view::least, ran(101), 1), prospect::waits_briefly) << "by what it did since";
}

TEST(QueueView, InACrowdOnlyAnOwnerThatStandsStillForLongIsHelped) {
  queue_view view;
  const auto later = start + queue_view::least_of_completions;
  EXPECT_FALSE(view.stands_still(start, ran(5)));
  EXPECT_FALSE(view.stands_still(later - 1ns, ran(5)));
  EXPECT_TRUE(view.stands_still(later, ran(5)));
  EXPECT_FALSE(view.stands_still(later, ran(6))) << "it gets on";
  EXPECT_FALSE(view.stands_still(later + queue_view::least_of_completions - 1ns, ran(6)));
  EXPECT_TRUE(view.stands_still(later + queue_view::least_of_completions, ran(6)));
}

TEST(QueueView, AnOwnerThatStandsStillIsSeenAfterAnyTime) {
  queue_view view;
  (void)view.judge(start, ran(5), 1);
  EXPECT_EQ(view.judge(start + queue_view::longest + 1ns, ran(5), 1), prospect::waits_long);
  EXPECT_EQ(view.judge(start + 1h, ran(5), 1), prospect::waits_long);
  queue_view of_completions;
  (void)of_completions.judge_completions(start, ran(5, 7));
  EXPECT_EQ(of_completions.judge_completions(start + 1h, ran(5, 7)), prospect::waits_long);
}

TEST(QueueView, CompletionsOfAnOwnerThatComesToSleepAreLeftAlone) {
  queue_view view;
  for (std::uint64_t look = 0; look < 100; ++look) {
    const auto when = start + look * queue_view::busy_for_long;
    ASSERT_EQ(view.judge_completions(when, ran(10 * look, look)), prospect::unsure) << look;
  }
}

TEST(QueueView, CompletionsOfAnOwnerThatHasNoTimeToSleepWaitLong) {
  queue_view view;
  (void)view.judge_completions(start, ran(0, 7));
  EXPECT_EQ(view.judge_completions(start + queue_view::busy_for_long - 1ns, ran(20, 7)), prospect::unsure);
  EXPECT_EQ(view.judge_completions(start + queue_view::busy_for_long, ran(40, 7)), prospect::waits_long);
}

TEST(QueueView, CompletionsBehindAnOwnerThatStandsStillWaitLong) {
  queue_view view;
  (void)view.judge_completions(start, ran(5, 7));
  EXPECT_EQ(view.judge_completions(start + queue_view::least_of_completions - 1ns, ran(5, 7)), prospect::unsure);
  EXPECT_EQ(view.judge_completions(start + queue_view::least_of_completions, ran(5, 7)), prospect::waits_long);
}

TEST(QueueView, WhoIsNoHomeHelpsOnlyWhoStandsStillForLong) {
  queue_view busy;
  (void)busy.judge_completions(start, ran(0, 7), false);
  EXPECT_EQ(busy.judge_completions(start + 2 * queue_view::busy_for_long, ran(40, 7), false), prospect::unsure);
  queue_view still;
  (void)still.judge_completions(start, ran(5, 7), false);
  EXPECT_EQ(still.judge_completions(start + queue_view::least_away - 1ns, ran(5, 7), false), prospect::unsure);
  EXPECT_EQ(still.judge_completions(start + queue_view::least_away, ran(5, 7), false), prospect::waits_long);
}

TEST(QueueView, CompletionsThatWereSeenLongAgoDoNotCount) {
  queue_view view;
  (void)view.judge_completions(start, ran(5, 7));
  EXPECT_EQ(view.judge_completions(start + queue_view::longest_of_completions + 1ns, ran(6, 7)), prospect::unsure);
}

TEST(QueueView, AnOwnerBetweenTwoBatchesIsBusyWhenItHasNotSleptForLong) {
  queue_view view;
  EXPECT_FALSE(view.is_busy_for_long(start, ran(5, 7)));
  EXPECT_FALSE(view.is_busy_for_long(start + queue_view::busy_for_long - 1ns, ran(20, 7)));
  EXPECT_TRUE(view.is_busy_for_long(start + queue_view::busy_for_long, ran(40, 7)));
  EXPECT_FALSE(view.is_busy_for_long(start + queue_view::busy_for_long, ran(40, 8))) << "it has slept";
  EXPECT_FALSE(view.is_busy_for_long(start + 2 * queue_view::busy_for_long, ran(40, 8)))
      << "it stands still, with nothing to steal";
  EXPECT_FALSE(view.is_busy_for_long(start + 1h, ran(41, 8))) << "the last look is too long ago";
}

TEST(QueueView, WhatIsSeenOfAnEmptyQueueCountsForTheNextBatch) {
  queue_view view;
  (void)view.is_busy_for_long(start, ran(5, 7));
  EXPECT_EQ(view.judge_completions(start + queue_view::busy_for_long, ran(40, 7)), prospect::waits_long);
}

}  // namespace
