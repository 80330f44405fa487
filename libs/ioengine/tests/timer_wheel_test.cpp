// timer_wheel_test -- each promise of timer_wheel.hpp, on a clock that the test moves.
#include "faio/ioengine/timer_wheel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "manual_clock.hpp"

namespace {

using namespace std::chrono_literals;
using faio::ioengine::time_point;
using faio::ioengine::timer_entry;
using faio::ioengine::timer_wheel;
using faio::ioengine::testing::manual_clock;
using std::chrono::milliseconds;
using ::testing::ElementsAre;

constexpr auto day = 24h;
constexpr auto top_slot = milliseconds(std::int64_t{1} << 30);  // 12.4 days
constexpr auto span = milliseconds(std::int64_t{1} << 36);      // of all six levels, 2.2 years

/// Counts its firings, and does what the test wants done at each.
struct probe : timer_entry {
  int fired = 0;
  std::function<void()> then;

  probe() : timer_entry(&on_fire) {}
  explicit probe(std::function<void()> action) : timer_entry(&on_fire), then(std::move(action)) {}

  static void on_fire(timer_entry& entry) noexcept {
    auto& self = static_cast<probe&>(entry);
    ++self.fired;
    if (self.then) self.then();
  }
};

/// A wheel with its clock; steps move both.
struct TimerWheel : ::testing::Test {
  manual_clock clock;
  timer_wheel wheel{clock.now()};

  std::size_t advance(manual_clock::duration by) {
    clock.advance(by);
    return wheel.advance(clock.now());
  }

  /// Sleeps as an idle engine does, until nothing is pending. Gives how often it woke up.
  int wake_ups_until_empty(timer_wheel& timers) {
    int wake_ups = 0;
    while (const auto next = timers.next_deadline()) {
      EXPECT_GT(*next, clock.now()) << "a wake-up that does not move on";
      clock.set(*next);
      timers.advance(clock.now());
      ++wake_ups;
    }
    return wake_ups;
  }
};

TEST_F(TimerWheel, FiresNoMoreThanItIsAllowedAndTheRestFirstNextTime) {
  std::vector<int> order;
  const auto notes = [&](int which) { return [&order, which] { order.push_back(which); }; };
  probe first(notes(1)), second(notes(2)), third(notes(3)), later(notes(4)), cancelled(notes(5));
  for (probe* each : {&first, &second, &cancelled, &third}) wheel.add(*each, clock.now() + 1ms);
  wheel.add(later, clock.now() + 2ms);
  clock.advance(1ms);
  EXPECT_EQ(wheel.advance(clock.now(), 1), 1U);
  EXPECT_EQ(wheel.size(), 4U);
  EXPECT_LE(*wheel.next_deadline(), clock.now()) << "there is more to be fired now";
  EXPECT_TRUE(wheel.cancel(cancelled)) << "due, and not yet fired";
  clock.advance(1ms);
  EXPECT_EQ(wheel.advance(clock.now(), 2), 2U);
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  EXPECT_EQ(wheel.advance(clock.now()), 1U);
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

TEST_F(TimerWheel, TheExampleOfTheHeader) {
  struct alarm : timer_entry {
    bool rang = false;
    alarm() : timer_entry([](timer_entry& self) noexcept { static_cast<alarm&>(self).rang = true; }) {}
  };
  alarm tea;
  wheel.add(tea, clock.now() + 3min);
  clock.set(*wheel.next_deadline());
  wheel.advance(clock.now());
  EXPECT_TRUE(tea.rang);
}

TEST_F(TimerWheel, IsEmptyAtFirst) {
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.size(), 0u);
  EXPECT_EQ(wheel.next_deadline(), std::nullopt);
  EXPECT_EQ(advance(1h), 0u);
}

TEST_F(TimerWheel, TwoEntriesFitACacheLine) { EXPECT_EQ(sizeof(timer_entry), 32u); }

TEST_F(TimerWheel, NeverFiresEarlyByANanosecond) {
  for (const auto delay : {1ns, 999'999ns, 1'000'000ns, 1'000'001ns, 63'999'999ns, 64'000'001ns, 4'096'000'001ns}) {
    for (const auto start : {0ns, 1ns, 500'000ns, 999'999ns}) {
      clock.set(time_point(100h) + start);
      timer_wheel fresh(clock.now());
      probe entry;
      const auto deadline = clock.now() + delay;
      fresh.add(entry, deadline);
      fresh.advance(deadline - 1ns);
      EXPECT_EQ(entry.fired, 0) << delay.count() << " ns after " << start.count();
      fresh.advance(deadline + 1ms);
      EXPECT_EQ(entry.fired, 1) << delay.count() << " ns after " << start.count();
    }
  }
}

TEST_F(TimerWheel, FiresAtTheMillisecondThatHoldsTheDeadline) {
  probe entry;
  wheel.add(entry, clock.now() + 4'300us);
  EXPECT_EQ(entry.deadline(), clock.now() + 4'300us);
  EXPECT_EQ(advance(4'999'999ns), 0u);
  EXPECT_EQ(advance(1ns), 1u);
  EXPECT_EQ(entry.fired, 1);
  EXPECT_FALSE(entry.pending());
}

TEST_F(TimerWheel, FiresADeadlineInThePastAtTheNextAdvance) {
  probe now, past, ancient;
  advance(10ms);
  wheel.add(now, clock.now());
  wheel.add(past, clock.now() - 5ms);
  wheel.add(ancient, time_point::min());
  EXPECT_EQ(wheel.size(), 3u);
  EXPECT_LE(*wheel.next_deadline(), clock.now());
  EXPECT_EQ(advance(0ns), 3u);
  EXPECT_EQ(now.fired + past.fired + ancient.fired, 3);
}

TEST_F(TimerWheel, FiresInTheOrderOfTheDeadlinesAcrossAllLevels) {
  std::vector<int> order;
  std::vector<std::unique_ptr<probe>> entries;
  const std::vector<manual_clock::duration> delays = {1ms,  2ms,   63ms, 64ms,    65ms,           4095ms,   5s,
                                                      4min, 10min, 5h,   2 * day, top_slot + 1ms, 49 * day, span + 1ms};
  for (std::size_t i = 0; i < delays.size(); ++i)
    entries.push_back(std::make_unique<probe>([&order, i] { order.push_back(static_cast<int>(i)); }));
  for (std::size_t i = delays.size(); i-- > 0;) wheel.add(*entries[i], clock.now() + delays[i]);
  EXPECT_EQ(advance(span * 2), delays.size());
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
}

TEST_F(TimerWheel, FiresEntriesOfTheSameMillisecondInTheOrderOfTheirAdds) {
  std::vector<int> order;
  const auto deadline = clock.now() + 10min;
  std::vector<std::unique_ptr<probe>> entries;
  auto add = [&](std::chrono::nanoseconds before) {
    const int number = static_cast<int>(entries.size());
    entries.push_back(std::make_unique<probe>([&order, number] { order.push_back(number); }));
    wheel.add(*entries.back(), deadline - before);
  };
  add(0ns);
  add(999'999ns);  // the same millisecond, rounded up
  advance(9min);   // the first two have cascaded
  add(500us);
  advance(59s + 999ms);
  add(0ns);
  add(1us);
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(advance(1ms), 5u);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(TimerWheel, DropsNoneOfManyInTheSameMillisecond) {
  std::vector<probe> entries(1000);
  for (auto& entry : entries) wheel.add(entry, clock.now() + 70s);
  EXPECT_EQ(advance(70s), 1000u);
  for (auto& entry : entries) EXPECT_EQ(entry.fired, 1);
}

TEST_F(TimerWheel, ForgetsAnEntryThatWasCancelled) {
  for (const manual_clock::duration delay :
       {-1ms, 0ms, 1ms, 100ms, 5000ms, 600'000ms, 20'000'000ms, 4'000'000'000ms, 200'000'000'000ms}) {
    probe entry;
    wheel.add(entry, clock.now() + delay);
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_TRUE(wheel.cancel(entry));
    EXPECT_FALSE(entry.pending());
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(wheel.next_deadline(), std::nullopt) << "its slot still counts as used";
    EXPECT_FALSE(wheel.cancel(entry));
    EXPECT_EQ(entry.fired, 0);
  }
  EXPECT_EQ(advance(10 * span), 0u);
}

TEST_F(TimerWheel, CancelTakesTheFirstTheMiddleAndTheLastOfASlot) {
  for (std::size_t gone = 0; gone < 3; ++gone) {
    std::vector<probe> entries(3);
    for (auto& entry : entries) wheel.add(entry, clock.now() + 5s);
    EXPECT_TRUE(wheel.cancel(entries[gone]));
    EXPECT_EQ(advance(5s), 2u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(entries[i].fired, i == gone ? 0 : 1);
  }
}

TEST_F(TimerWheel, CancelAfterFiringSaysNo) {
  probe entry;
  wheel.add(entry, clock.now() + 1ms);
  advance(1ms);
  EXPECT_FALSE(wheel.cancel(entry));
}

TEST_F(TimerWheel, RearmMovesAPendingEntryLaterOrEarlier) {
  probe entry;
  wheel.add(entry, clock.now() + 10ms);
  wheel.rearm(entry, clock.now() + 10min);
  EXPECT_EQ(wheel.size(), 1u);
  EXPECT_EQ(advance(9min), 0u);
  wheel.rearm(entry, clock.now() + 5ms);
  EXPECT_EQ(wheel.size(), 1u);
  EXPECT_EQ(*wheel.next_deadline(), clock.now() + 5ms);
  EXPECT_EQ(advance(5ms), 1u);
  EXPECT_EQ(advance(1h), 0u);
  EXPECT_EQ(entry.fired, 1);
}

TEST_F(TimerWheel, RearmOfAnIdleEntryAddsIt) {
  probe entry;
  wheel.rearm(entry, clock.now() + 1ms);
  EXPECT_EQ(advance(1ms), 1u);
  wheel.rearm(entry, clock.now() + 1ms);
  EXPECT_EQ(advance(1ms), 1u);
  EXPECT_EQ(entry.fired, 2);
}

TEST_F(TimerWheel, FiresA49DayDeadlineOnTimeWhateverTheSteps) {
  // 2^32 ms is 49.7 days: where a 32-bit count of milliseconds ends.
  for (const manual_clock::duration step :
       {manual_clock::duration(1h), manual_clock::duration(day), manual_clock::duration(50 * day)}) {
    probe before, after;
    const auto start = clock.now();
    wheel.add(before, start + milliseconds((std::int64_t{1} << 32) - 1));
    wheel.add(after, start + milliseconds((std::int64_t{1} << 32) + 1));
    while (wheel.size() > 0) {
      clock.advance(step);
      wheel.advance(clock.now());
      EXPECT_EQ(before.fired, clock.now() >= before.deadline() ? 1 : 0);
      EXPECT_EQ(after.fired, clock.now() >= after.deadline() ? 1 : 0);
    }
  }
}

TEST_F(TimerWheel, FiresAcrossTheWrapOfTheTopLevel) {
  // Just before the top level's digit, and then all six, turn over.
  for (const auto boundary : {top_slot, 63 * top_slot, span, 7 * span}) {
    for (const auto before : {1ms, 2ms, 63ms, 64ms, 5000ms, 86'400'000ms}) {
      clock.set(time_point(boundary - before));
      timer_wheel fresh(clock.now());
      std::vector<probe> entries(4);
      fresh.add(entries[0], time_point(boundary));
      fresh.add(entries[1], time_point(boundary + 1ms));
      fresh.add(entries[2], time_point(boundary + top_slot));
      fresh.add(entries[3], time_point(boundary + span));
      for (auto& entry : entries) {
        EXPECT_EQ(fresh.advance(entry.deadline() - 1ms), 0u);
        EXPECT_EQ(fresh.advance(entry.deadline()), 1u);
        EXPECT_EQ(entry.fired, 1);
      }
      EXPECT_TRUE(fresh.empty());
    }
  }
}

TEST_F(TimerWheel, KeepsFiringForYearsInStepsOfTheTopLevel) {
  // A second-long timer at each step, and one that is always a whole span ahead.
  probe often, rarely;
  wheel.add(rarely, clock.now() + span);
  for (int step = 1; step <= 200; ++step) {
    wheel.add(often, clock.now() + 1s);
    EXPECT_EQ(advance(1s), 1u);
    EXPECT_EQ(often.fired, step);
    EXPECT_EQ(advance(top_slot - 1s), step % 64 == 0 ? 1u : 0u);
    if (!rarely.pending()) wheel.add(rarely, clock.now() + span);
  }
  EXPECT_EQ(rarely.fired, 3);
  wheel.cancel(rarely);
}

TEST_F(TimerWheel, FiresADeadlineOfCenturiesAndNeverOneAtTheEndOfTime) {
  probe centuries, never;
  const auto start = clock.now();
  wheel.add(centuries, start + 24h * 365 * 200);
  wheel.add(never, time_point::max());
  for (int year = 1; year < 200; ++year) EXPECT_EQ(advance(24h * 365), 0u);
  EXPECT_EQ(advance(24h * 365), 1u);
  EXPECT_EQ(centuries.fired, 1);
  EXPECT_EQ(wheel.next_deadline(), time_point::max());
  EXPECT_EQ(wheel.advance(time_point::max()), 0u);
  EXPECT_TRUE(wheel.cancel(never));
}

TEST_F(TimerWheel, LivesThroughTheEpochOfTheClock) {
  for (const auto start : {time_point::min(), time_point(-span - 3ms), time_point(-3'500us), time_point(-1ns)}) {
    timer_wheel fresh(start);
    probe entry, epoch;
    fresh.add(entry, start + 2ms);
    fresh.add(epoch, time_point(5ms));
    EXPECT_EQ(fresh.advance(start + 2ms - 1ns), 0u);
    EXPECT_EQ(fresh.advance(start + 3ms), 1u);
    EXPECT_EQ(*fresh.next_deadline(), time_point(5ms));
    EXPECT_EQ(fresh.advance(time_point(5ms) - 1ns), 0u);
    EXPECT_EQ(fresh.advance(time_point(5ms)), 1u);
  }
}

TEST_F(TimerWheel, IgnoresAClockThatGoesBack) {
  probe entry, late;
  wheel.add(entry, clock.now() + 10ms);
  EXPECT_EQ(advance(5ms), 0u);
  EXPECT_EQ(wheel.advance(clock.now() - 1h), 0u);
  EXPECT_EQ(wheel.advance(time_point::min()), 0u);
  EXPECT_EQ(*wheel.next_deadline(), clock.now() + 5ms);
  wheel.add(late, clock.now());
  EXPECT_EQ(wheel.advance(clock.now() - 1h), 1u) << "its time has been";
  EXPECT_EQ(advance(5ms), 1u);
}

TEST_F(TimerWheel, AJumpCostsNothingForEmptyTime) {
  // Stepping by millisecond through these years would take months.
  probe entry;
  for (int year = 0; year < 100; ++year) {
    wheel.add(entry, clock.now() + 24h * 364);
    EXPECT_EQ(advance(24h * 365), 1u);
  }
}

TEST_F(TimerWheel, ACompletionMayCancelOthersOfTheSameBatch) {
  probe later, same;
  probe first([&] {
    EXPECT_EQ(wheel.size(), 2u);
    EXPECT_TRUE(wheel.cancel(same));
    EXPECT_TRUE(wheel.cancel(later));
    EXPECT_FALSE(wheel.cancel(first)) << "it is firing, no longer pending";
  });
  wheel.add(first, clock.now() + 1ms);
  wheel.add(same, clock.now() + 1ms);
  wheel.add(later, clock.now() + 500ms);
  EXPECT_EQ(advance(1s), 1u);
  EXPECT_EQ(same.fired + later.fired, 0);
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(advance(1h), 0u);
}

TEST_F(TimerWheel, ACompletionMayAddAndRearmOthersAndItself) {
  probe added, moved;
  probe periodic([&] {
    if (periodic.fired < 3) wheel.add(periodic, clock.now() + 100ms);
    if (!added.pending()) wheel.add(added, clock.now() + 50ms);
    wheel.rearm(moved, clock.now() + 1h);
  });
  wheel.add(periodic, clock.now() + 100ms);
  wheel.add(moved, clock.now() + 100ms);
  for (int i = 0; i < 10; ++i) advance(50ms);
  EXPECT_EQ(periodic.fired, 3);
  EXPECT_EQ(added.fired, 3);
  EXPECT_EQ(moved.fired, 0) << "it was due in the first batch, and put off each time";
  EXPECT_EQ(wheel.size(), 1u);
  EXPECT_EQ(advance(1h), 1u);
}

TEST_F(TimerWheel, AnEntryThatRearmsItselfInThePastFiresOncePerAdvance) {
  probe past([&] { wheel.add(past, clock.now() - 1s); });
  probe now([&] { wheel.add(now, clock.now()); });
  probe between([&] { wheel.add(between, between.deadline() + 1ms); });  // an interval that catches up
  wheel.add(past, clock.now());
  wheel.add(now, clock.now());
  wheel.add(between, clock.now());
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(advance(1s), 3u);
    EXPECT_EQ(past.fired, i);
    EXPECT_LE(*wheel.next_deadline(), clock.now());
  }
  while (wheel.take() != nullptr) {
  }
}

TEST_F(TimerWheel, AnEntryMayBeDestroyedInItsOwnCompletion) {
  static int destroyed;
  struct mortal : timer_entry {
    mortal() : timer_entry([](timer_entry& self) noexcept { delete static_cast<mortal*>(&self); }) {}
    ~mortal() { ++destroyed; }
  };
  destroyed = 0;
  for (int i = 0; i < 3; ++i) wheel.add(*std::make_unique<mortal>().release(), clock.now() + 5ms);
  EXPECT_EQ(advance(5ms), 3u);
  EXPECT_EQ(destroyed, 3);
  EXPECT_TRUE(wheel.empty());
}

TEST_F(TimerWheel, NextDeadlineIsExactAtEveryDistance) {
  for (int bit = 0; bit < 43; ++bit) {
    for (const std::int64_t off : {-1, 0, 1}) {
      const milliseconds delay((std::int64_t{1} << bit) + off);
      probe entry, later;
      wheel.add(later, clock.now() + delay + 7s);
      wheel.add(entry, clock.now() + delay - 1ns);
      EXPECT_EQ(*wheel.next_deadline(), clock.now() + delay);
      wheel.cancel(entry);
      wheel.cancel(later);
    }
  }
}

TEST_F(TimerWheel, WakesOnceForATimerInTenMinutes) {
  probe entry, earlier;
  wheel.add(entry, clock.now() + 10min);
  EXPECT_EQ(wake_ups_until_empty(wheel), 1);
  EXPECT_EQ(entry.fired, 1);

  // Others come and go before it: a slot's bound is no longer exact, which costs one wake-up, not one for each.
  wheel.add(entry, clock.now() + 10min);
  for (int i = 1; i < 1000; ++i) {
    wheel.add(earlier, entry.deadline() - milliseconds(i * 600));
    wheel.cancel(earlier);
  }
  EXPECT_EQ(wake_ups_until_empty(wheel), 2);
  EXPECT_EQ(entry.fired, 2);
}

TEST_F(TimerWheel, WakesAtMostOnceALevelWhenEachWakeUpMeetsACancelledTimer) {
  // The worst that can be made: on each wake-up somebody adds just before the entry, in its slot, and cancels.
  probe entry, earlier;
  const auto deadline = clock.now() + 10min;
  wheel.add(entry, deadline);
  int wake_ups = 0;
  while (entry.fired == 0) {
    for (auto ahead = 1ms; ahead < deadline - clock.now(); ahead *= 2) {
      wheel.add(earlier, deadline - ahead);
      wheel.cancel(earlier);
    }
    clock.set(*wheel.next_deadline());
    wheel.advance(clock.now());
    ++wake_ups;
  }
  EXPECT_EQ(clock.now(), deadline);
  EXPECT_LE(wake_ups, 4) << "ten minutes are four levels";
}

TEST_F(TimerWheel, NextDeadlineInsideACompletionSeesTheRestOfTheBatch) {
  probe second;
  probe first([&] { EXPECT_LE(*wheel.next_deadline(), clock.now()); });
  wheel.add(first, clock.now() + 1ms);
  wheel.add(second, clock.now() + 2ms);
  advance(3ms);
  EXPECT_EQ(second.fired, 1);
  EXPECT_EQ(wheel.next_deadline(), std::nullopt);
}

TEST_F(TimerWheel, LeavesPendingEntriesReusableWhenItGoes) {
  std::vector<probe> entries(4);
  {
    timer_wheel short_lived(clock.now());
    short_lived.add(entries[0], clock.now());
    short_lived.add(entries[1], clock.now() + 1ms);
    short_lived.add(entries[2], clock.now() + 1h);
    short_lived.add(entries[3], time_point::max());
  }
  for (auto& entry : entries) {
    EXPECT_FALSE(entry.pending());
    EXPECT_EQ(entry.fired, 0);
    wheel.add(entry, clock.now() + 1ms);
  }
  EXPECT_EQ(advance(1ms), 4u);
}

TEST_F(TimerWheel, TakeHandsEveryEntryToAnotherWheelOnce) {
  std::vector<probe> entries(100);
  for (std::size_t i = 0; i < entries.size(); ++i)
    wheel.add(entries[i], clock.now() + milliseconds(i * i * i * i * 100));
  timer_wheel other(clock.now());
  std::size_t taken = 0;
  while (timer_entry* entry = wheel.take()) {
    EXPECT_FALSE(entry->pending());
    other.add(*entry, entry->deadline());
    ++taken;
  }
  EXPECT_EQ(taken, entries.size());
  EXPECT_TRUE(wheel.empty());
  EXPECT_EQ(wheel.next_deadline(), std::nullopt);
  EXPECT_EQ(other.advance(clock.now() + span), entries.size());
}

TEST_F(TimerWheel, AddOfAPendingEntryIsAnAssertInDebugAndARearmInRelease) {
  probe entry;
  wheel.add(entry, clock.now() + 1ms);
  EXPECT_DEBUG_DEATH(wheel.add(entry, clock.now() + 2ms), "already pending");
  wheel.rearm(entry, clock.now() + 2ms);
  EXPECT_EQ(wheel.size(), 1u);
  EXPECT_EQ(advance(1ms), 0u);
  EXPECT_EQ(advance(1ms), 1u);
}

TEST_F(TimerWheel, AdvanceInsideACompletionIsAnAssertInDebugAndNothingInRelease) {
  probe second;
  probe first([&] { EXPECT_DEBUG_DEATH(EXPECT_EQ(wheel.advance(clock.now() + 1h), 0u), "inside a completion"); });
  wheel.add(first, clock.now() + 1ms);
  wheel.add(second, clock.now() + 1min);
  EXPECT_EQ(advance(1ms), 1u);
  EXPECT_EQ(second.fired, 0);
  wheel.cancel(second);
}

TEST_F(TimerWheel, DestroyingAPendingEntryEndsTheProgramWithAMessage) {
  auto entry = std::make_unique<probe>();
  wheel.add(*entry, clock.now() + 1ms);
  EXPECT_DEATH(entry.reset(), "destroyed while pending");
  wheel.cancel(*entry);
}

}  // namespace
