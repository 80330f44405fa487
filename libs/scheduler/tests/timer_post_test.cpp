// timer_post -- delayed posts: never early, spread by two choices, none lost when workers come and go.
#include <deque>

#include "faio/scheduler/worker.hpp"
#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class TimerPostTest : public scheduler_fixture {};

TEST_P(TimerPostTest, PostAfterIsNeverEarly) {
  runtime rt(with({.workers = 2}));
  const std::size_t many = 200;
  std::latch done(static_cast<std::ptrdiff_t>(many));
  std::atomic<int> early = 0;
  for (std::size_t i = 0; i < many; ++i) {
    const std::chrono::microseconds delay(137 * i);
    const auto posted = steady::now();
    rt.post_after(delay, [&, delay, posted] {
      if (steady::now() - posted < delay) ++early;
      done.count_down();
    });
  }
  done.wait();
  EXPECT_EQ(early, 0);
}

TEST_P(TimerPostTest, TimersThatFireTogetherDoNotWaitBehindTheGlobalQueue) {
  frozen_clock clock;
  runtime rt(with({.workers = 1, .clock = &clock}));
  constexpr std::size_t many = 1000;  // more than a local queue holds
  constexpr std::size_t waiting = 5000;
  std::size_t woken = 0, ran_before = 0, ran = 0;
  std::latch done(2);
  test_item wakes([&] {
    if (++woken == many) {
      ran_before = ran;
      done.count_down();
    }
  });
  test_item waits([&] {
    if (++ran == waiting) done.count_down();
  });
  std::deque<test_timer> timers;
  for (std::size_t i = 0; i < many; ++i) timers.emplace_back([&] { current_worker()->push_quietly(wakes); });
  on_a_worker(rt, [&] {
    for (auto& each : timers) current_worker()->arm(each, clock.now() + 1ms);
    for (std::size_t i = 0; i < waiting; ++i) rt.shared().io.queue.push(&waits);
    clock.move_by(1s);
  });
  done.wait();
  EXPECT_EQ(rt.metrics().total().overflows, 0U);
  EXPECT_LT(ran_before, waiting / 2);
}

TEST_P(TimerPostTest, MoreTimersThanCanBeRunLeaveHalfOfTheTurnsToTheGlobalQueue) {
  frozen_clock clock;
  std::deque<test_timer> timers;
  std::vector<test_timer*> fired;
  constexpr std::size_t many = 1000;
  constexpr std::size_t waiting = 2000;
  std::size_t woken = 0, woken_before = 0, ran = 0;
  std::latch done(1);
  // Each is due again as soon as what it woke has run: there is no end to them.
  test_item wakes([&] {
    ++woken;
    test_timer* const again = fired.back();
    fired.pop_back();
    if (ran < waiting) current_worker()->arm(*again, clock.now() - 1s);
  });
  test_item waits([&] {
    if (++ran == waiting) {
      woken_before = woken;
      done.count_down();
    }
  });
  for (std::size_t i = 0; i < many; ++i) {
    timers.emplace_back([&, i] {
      fired.push_back(&timers[i]);
      current_worker()->push_quietly(wakes);
    });
  }
  runtime rt(with({.workers = 1, .clock = &clock}));  // the last: it ends with some of all this in its queues
  on_a_worker(rt, [&] {
    for (auto& each : timers) current_worker()->arm(each, clock.now());
    for (std::size_t i = 0; i < waiting; ++i) rt.shared().io.queue.push(&waits);
    clock.move_by(1s);
  });
  done.wait();
  EXPECT_LT(woken_before, 2 * waiting + many);
}

TEST_P(TimerPostTest, ADelayOfNothingOrLessRunsSoon) {
  runtime rt(with({.workers = 1}));
  for (const auto delay : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
    std::promise<void> ran;
    rt.post_after(delay, [&] { ran.set_value(); });
    ran.get_future().get();
  }
}

TEST_P(TimerPostTest, ADelayPastTheEndOfTimeWaits) {
  runtime rt(with({.workers = 1}));
  std::atomic<bool> ran = false;
  rt.post_after(std::chrono::nanoseconds::max(), [&] { ran = true; });
  on_a_worker(rt, [&] { this_worker::post_self_after(std::chrono::nanoseconds::max(), [&] { ran = true; }); });
  ASSERT_TRUE(becomes_true([&] { return rt.metrics().total().timers == 2; }));
  EXPECT_TRUE(rt.stop());
  EXPECT_FALSE(ran);
}

TEST_P(TimerPostTest, TimersGoToTheWorkerWithFewerOfTwoDrawnAtRandom) {
  runtime rt(with({.workers = 8, .seed = 1}));
  const std::size_t many = scaled(800);
  for (std::size_t i = 1; i <= many; ++i) {
    rt.post_after(1h, [] {});
    // Each is in its wheel before the next is drawn.
    ASSERT_TRUE(becomes_true([&] { return rt.metrics().total().timers == i; }));
  }
  std::size_t least = many, most = 0;
  for (const auto& each : rt.metrics().workers) {
    least = std::min(least, each.timers);
    most = std::max(most, each.timers);
  }
  // One draw would spread them with a deviation of about 9, 28 between the ends; two keep within a few.
  EXPECT_LE(most - least, 8U);
  EXPECT_GT(most - least, 0U) << "not drawn at random";
}

TEST_P(TimerPostTest, EveryTwoWorkersAreDrawnOnceInAWhile) {
  // The second and the fourth have a timer already: a third goes there only when just those two are drawn.
  bool drawn = false;
  for (std::uint64_t seed = 0; seed < 64 && !drawn; ++seed) {
    runtime rt(with({.workers = 4, .seed = seed}));
    for (const std::size_t id : {1UZ, 3UZ}) on_worker(rt, id, [] { this_worker::post_self_after(1h, [] {}); });
    rt.post_after(1h, [] {});
    ASSERT_TRUE(becomes_true([&] { return rt.metrics().total().timers == 3; }));
    const auto all = rt.metrics().workers;
    drawn = all[1].timers == 2 || all[3].timers == 2;
  }
  EXPECT_TRUE(drawn);
}

TEST_P(TimerPostTest, NoneIsRefusedOrLostWhileWorkersComeAndGo) {
  runtime rt(with({.workers = 1}));
  const std::size_t many = scaled(3000);
  std::atomic<std::size_t> ran = 0;
  std::jthread poster([&] {
    for (std::size_t i = 0; i < many; ++i) rt.post_after(std::chrono::microseconds(i % 2000), [&] { ++ran; });
  });
  while (ran < many) {
    const auto id = rt.attach_worker();
    ASSERT_TRUE(id.has_value());
    ASSERT_TRUE(rt.detach_worker(*id).has_value());
  }
  EXPECT_EQ(ran, many);
}

TEST_P(TimerPostTest, PendingOnesAreFreedWithTheRuntime) {
  auto held = std::make_shared<int>(1);
  {
    runtime rt(with({.workers = 2}));
    for (int i = 0; i < 100; ++i) rt.post_after(1h, [held] {});
    on_a_worker(rt, [&] { this_worker::post_self_after(1h, [held] {}); });
  }
  EXPECT_EQ(held.use_count(), 1);
}

FAIO_FOR_IO_KINDS(TimerPostTest);

}  // namespace
}  // namespace faio::scheduler::testing
