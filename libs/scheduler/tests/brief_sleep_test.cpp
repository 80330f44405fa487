// brief_sleep -- a worker that its own I/O has just woken sleeps with a time limit: it comes by anyway, and nobody wakes it for what can wait so long.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "faio/scheduler/worker.hpp"
#include "scheduler_fixture.hpp"
#include "waiting_operation.hpp"

namespace faio::scheduler::testing {
namespace {

class BriefSleepTest : public scheduler_fixture {
 protected:
  /// All sleep: 1 briefly, the others for as long as it takes, and time stands still.
  void begin(std::size_t workers, test_item* then = nullptr) {
    _next = std::make_unique<waiting_operation>(then);
    _rt = std::make_unique<runtime>(with({.workers = workers, .clock = &_clock}));
    ASSERT_TRUE(asleep(rt(), workers));
    on_worker(rt(), 1, [&] {
      _next->submit_here();
      _once.submit_here();
    });
    ASSERT_TRUE(asleep(rt(), workers));
    _once.happen();
    ASSERT_TRUE(becomes_true([&] { return watchers() == 1; }));
    ASSERT_TRUE(asleep(rt(), workers));
  }
  /// What worker 1 waits for.
  void happen() { _next->happen(); }

  runtime& rt() { return *_rt; }
  std::uint32_t watchers() { return rt().shared().io.watchers; }

  /// What both wait for has happened already: they complete together, on worker 0.
  void complete_there(test_item& first, test_item& second) {
    _there = {std::make_unique<waiting_operation>(&first), std::make_unique<waiting_operation>(&second)};
    for (const auto& each : _there) each->happen();
    rt().post_to(0, [&] {
      for (const auto& each : _there) each->submit_here();
    });
  }

  frozen_clock _clock;

 private:
  waiting_operation _once;
  std::unique_ptr<waiting_operation> _next;
  std::array<std::unique_ptr<waiting_operation>, 2> _there;
  std::unique_ptr<runtime> _rt;
};

TEST_P(BriefSleepTest, CompletionsWakeNobodyWhoComesByAnyway) {
  ASSERT_NO_FATAL_FAILURE(begin(2));
  std::latch done(2);
  const auto quick = [&] {
    EXPECT_EQ(this_worker::id(), 0U);
    done.count_down();
  };
  test_item first(quick), second(quick);
  const auto before = rt().metrics().workers[1];
  complete_there(first, second);
  done.wait();
  ASSERT_TRUE(asleep(rt(), 2));
  EXPECT_EQ(rt().metrics().workers[1].wakes, before.wakes);
  EXPECT_EQ(rt().metrics().workers[1].searches, before.searches);
}

TEST_P(BriefSleepTest, WhatWaitsBehindALongTaskIsTakenWhenItHasComeBy) {
  ASSERT_NO_FATAL_FAILURE(begin(2));
  std::atomic<bool> ran = false;
  std::atomic<bool> failed = false;
  std::latch done(2);
  test_item is_long([&] {
    // It stands still until the other one has run, wherever that may be.
    if (!becomes_true([&] {
          _clock.move_by(1ms);
          return ran.load();
        })) {
      failed = true;
    }
    done.count_down();
  });
  test_item waits([&] {
    EXPECT_EQ(this_worker::id(), 1U);
    ran = true;
    done.count_down();
  });
  complete_there(is_long, waits);
  done.wait();
  EXPECT_FALSE(failed);
}

TEST_P(BriefSleepTest, AWorkerThatNothingCameForSleepsForAsLongAsItTakes) {
  ASSERT_NO_FATAL_FAILURE(begin(2));
  const auto before = rt().metrics().workers[1].parks;
  _clock.move_by(1s);
  ASSERT_TRUE(becomes_true([&] { return rt().metrics().workers[1].parks == before + 1; }));
  ASSERT_TRUE(asleep(rt(), 2));
  EXPECT_EQ(watchers(), 0U);
}

TEST_P(BriefSleepTest, WhoWatchedAndGetsLongWorkOfItsOwnHandsTheWatchOn) {
  gate child_ran;
  bool failed[2] = {};
  std::latch done(3);
  test_item child([&] {
    EXPECT_EQ(this_worker::id(), 2U);
    child_ran.open();
    done.count_down();
  });
  test_item of_the_watcher([&] {
    failed[1] = !child_ran.pass();
    done.count_down();
  });
  ASSERT_NO_FATAL_FAILURE(begin(3, &of_the_watcher));
  gate filled;
  rt().post_to(0, [&] {
    current_worker()->push_next(child);  // worker 1 watches, so nobody is told
    filled.open();
    failed[0] = !child_ran.pass();
    done.count_down();
  });
  ASSERT_TRUE(filled.pass());
  happen();  // and now it has something else to do
  EXPECT_TRUE(becomes_true([&] {
    _clock.move_by(1ms);
    return child_ran.is_open();
  }));
  done.wait();
  EXPECT_FALSE(failed[0] || failed[1]);
}

TEST_P(BriefSleepTest, APostWakesItAsEver) {
  ASSERT_NO_FATAL_FAILURE(begin(2));
  occupied other(rt(), 0);
  on_a_worker(rt(), [] { EXPECT_EQ(this_worker::id(), 1U); });
}

/// Not brief: the other one sleeps for as long as it takes, and is woken.
TEST_P(BriefSleepTest, OfTwoThatCompleteTogetherOneIsTakenWhileTheOtherRuns) {
  runtime rt(with({.workers = 2, .io_interval = 1}));
  std::atomic<int> begun = 0;
  std::atomic<bool> failed = false;
  std::latch done(2);
  const auto waits_for_both = [&] {
    ++begun;
    if (!becomes_true([&] { return begun == 2; }, 10s)) failed = true;
    done.count_down();
  };
  test_item first(waits_for_both), second(waits_for_both);
  waiting_operation one(&first), other(&second);
  on_worker(rt, 0, [&] {
    one.submit_here();
    other.submit_here();
  });
  ASSERT_TRUE(asleep(rt, 2));
  rt.post_to(0, [&] {
    one.happen();
    other.happen();
  });
  done.wait();
  EXPECT_FALSE(failed);
}

FAIO_FOR_IO_KINDS(BriefSleepTest);

}  // namespace
}  // namespace faio::scheduler::testing
