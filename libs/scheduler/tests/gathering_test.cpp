// gathering_test -- when connections gather on fewer workers, and when they spread again.
#include "faio/scheduler/gathering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <thread>

#include "faio/scheduler/processor_time.hpp"
#include "faio/scheduler/shared_state.hpp"

namespace {

using namespace std::chrono_literals;
using faio::scheduler::gathering;
using enum gathering::advice;

/// Looks every 20 ms, as workers do.
class looker {
 public:
  explicit looker(std::size_t workers) : _workers(workers), _homes(workers) {}

  /// Each home ran and waited for so much of `time`. The first advice that is not to stay, which is followed.
  gathering::advice see(std::chrono::milliseconds time, double ran, double waited, double most = 0) {
    for (const auto until = _now + time; _now < until; _now += 20ms) {
      gathering::view lately;
      for (std::size_t i = 0; i < _homes; ++i) lately.add({.ran = ran, .waited = waited});
      lately.most = std::max(lately.most, most);
      const auto advice = _rule.judge(_now, lately, _workers);
      if (advice == stay) continue;
      _homes = advice == all ? _workers : _homes - 1;
      return advice;
    }
    return stay;
  }
  gathering::advice hold_up() {
    _homes = _workers;
    return _rule.spread(_now);
  }
  [[nodiscard]] std::size_t homes() const { return _homes; }

 private:
  gathering _rule;
  std::size_t _workers;
  std::size_t _homes;
  gathering::time_point _now{1h};
};

constexpr double free_way = 0.01;
constexpr double crowd = 0.2;

TEST(Gathering, TwoThatWaitForProcessorsBecomeOne) {
  looker at(2);
  EXPECT_EQ(at.see(1s, 0.45, crowd), fewer);
  EXPECT_EQ(at.homes(), 1U);
  EXPECT_EQ(at.see(5s, 0.87, free_way), stay) << "it helped";
}

TEST(Gathering, ThoseThatNeedNotWaitStay) {
  looker at(2);
  EXPECT_EQ(at.see(10s, 0.45, free_way), stay);
}

TEST(Gathering, AMomentIsNoReason) {
  looker at(2);
  (void)at.see(1s, 0.45, free_way);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(at.see(20ms, 0.45, crowd), stay);
    EXPECT_EQ(at.see(200ms, 0.45, free_way), stay);
  }
}

TEST(Gathering, ALittleIsNotWorthIt) {
  looker at(2);
  EXPECT_EQ(at.see(10s, 0.2, crowd), stay) << "each has time enough";
}

TEST(Gathering, WhatOneCannotDoStaysWithTwo) {
  looker at(2);
  EXPECT_EQ(at.see(10s, 0.65, crowd), stay);
}

TEST(Gathering, WhoComputesStaysAlone) {
  looker at(2);
  EXPECT_EQ(at.see(10s, 0.5, crowd, 0.9), stay);
}

TEST(Gathering, ManyBecomeAsFewAsSuffice) {
  looker at(4);
  EXPECT_EQ(at.see(1s, 0.4, crowd), fewer);
  EXPECT_EQ(at.see(1s, 0.5, crowd), fewer);
  EXPECT_EQ(at.see(5s, 0.8, free_way), stay);
  EXPECT_EQ(at.homes(), 2U);
}

TEST(Gathering, OneThatHasNoPauseIsHelped) {
  looker at(2);
  ASSERT_EQ(at.see(1s, 0.45, crowd), fewer);
  EXPECT_EQ(at.see(1s, 1.0, free_way), all);
}

TEST(Gathering, WhatDidNotHelpIsUndone) {
  looker at(2);
  ASSERT_EQ(at.see(1s, 0.45, crowd), fewer);
  EXPECT_EQ(at.see(1s, 0.5, 0.5), all);
}

TEST(Gathering, WhatWasForcedIsTriedAgainLaterEachTime) {
  looker at(2);
  ASSERT_EQ(at.see(1s, 0.45, crowd), fewer);
  ASSERT_EQ(at.hold_up(), all);
  EXPECT_EQ(at.see(2 * gathering::first_back_off - 20ms, 0.45, crowd), stay);
  ASSERT_EQ(at.see(1s, 0.45, crowd), fewer);
  ASSERT_EQ(at.hold_up(), all);
  EXPECT_EQ(at.see(4 * gathering::first_back_off - 20ms, 0.45, crowd), stay);
  ASSERT_EQ(at.see(1s, 0.45, crowd), fewer);
  ASSERT_EQ(at.see(60s, 0.3, free_way), stay);
  ASSERT_EQ(at.hold_up(), all);
  EXPECT_EQ(at.see(1s, 0.45, crowd), fewer) << "it had gone well for long";
}

TEST(Gathering, NowAndThenItLooksWhetherTheCrowdHasGone) {
  looker at(2);
  ASSERT_EQ(at.see(1s, 0.45, crowd), fewer);
  EXPECT_EQ(at.see(gathering::first_stay + 1s, 0.87, free_way), all);
  EXPECT_EQ(at.see(1s, 0.45, crowd), fewer) << "at once: nothing went wrong";
  EXPECT_EQ(at.see(gathering::first_stay + 1s, 0.87, free_way), stay) << "the next look is later";
  EXPECT_EQ(at.see(gathering::first_stay, 0.87, free_way), all);
}

TEST(Gathering, WithLittleToDoThereIsNothingToLookFor) {
  looker at(2);
  ASSERT_EQ(at.see(1s, 0.45, crowd), fewer);
  EXPECT_EQ(at.see(60s, 0.3, free_way), stay);
}

TEST(Gathering, AThreadKnowsHowLongItRan) {
  const faio::scheduler::processor_time mine;
  const auto before = mine.read();
  if (!before) GTEST_SKIP() << "this kernel does not count it";
  // Until the kernel's next account, which it makes when the thread is switched or the clock ticks.
  auto now = *before;
  while (now.ran <= before->ran) now = mine.read().value();
  EXPECT_GE(now.waited, before->waited);
}

TEST(Gathering, OneWorkerLessIsAHomeUntilOneHoldsOthersUp) {
  faio::scheduler::shared_state runtime({.workers = 3});
  // One that begins looks at its load, and with a resident at the homes too.
  const auto asleep = [](const auto& each) { return each.state == faio::scheduler::worker_state::asleep; };
  while (!std::ranges::all_of(runtime.metrics().workers, asleep)) std::this_thread::yield();
  EXPECT_FALSE(runtime.gathered());
  const auto* const emptiest = runtime.emptiest_home();
  runtime.gather();
  EXPECT_TRUE(runtime.gathered());
  EXPECT_NE(runtime.emptiest_home(), emptiest) << "of all that have none, the first";
  runtime.gather();
  const auto* const last = runtime.emptiest_home();
  EXPECT_TRUE(last->is_home());
  std::size_t homes = 0;
  for (const auto& each : runtime.metrics().workers) homes += each.is_home ? 1 : 0;
  EXPECT_EQ(homes, 1U);
  runtime.residents->add(last->station());
  EXPECT_EQ(runtime.emptiest_home(), last) << "the only one";
  runtime.residents->remove(last->station());
  runtime.choose_homes(true);
  EXPECT_FALSE(runtime.gathered());
  EXPECT_EQ(runtime.emptiest_home(), emptiest);
}

TEST(Gathering, WhenTheLastHomeHasLeftAnyoneIs) {
  faio::scheduler::shared_state runtime({.workers = 2});
  runtime.gather();
  ASSERT_TRUE(runtime.detach(runtime.emptiest_home()->id()).has_value());
  const auto* const other = runtime.emptiest_home();
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(other->is_home()) << "before it looks again";
  runtime.choose_homes(false);
  EXPECT_TRUE(other->is_home());
  EXPECT_FALSE(runtime.gathered());
}

}  // namespace
