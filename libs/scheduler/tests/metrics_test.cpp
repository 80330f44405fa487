// metrics -- the numbers add up, and those of workers that left are not lost.
#include "faio/scheduler/metrics.hpp"

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class MetricsTest : public scheduler_fixture {};

TEST_P(MetricsTest, EveryTaskIsCountedOnce) {
  runtime rt(with({.workers = 4, .compute_workers = 2}));
  const std::size_t many = scaled(5000);
  for (std::size_t i = 0; i < many; ++i) {
    rt.post([] { this_worker::post_local([] {}); });
    rt.post_compute([] {});
  }
  EXPECT_TRUE(rt.stop());
  const auto all = rt.metrics();
  EXPECT_EQ(all.total().tasks_run, 3 * many);
  EXPECT_TRUE(all.workers.empty());
  EXPECT_EQ(all.global_queue_length, 0U);
  EXPECT_EQ(all.compute_queue_length, 0U);
}

TEST_P(MetricsTest, StealsAndSlotsAreCountedOnBothSides) {
  runtime rt(with({.workers = 2}));
  on_worker(rt, 0, [&] {
    std::atomic<int> ran = 0;
    for (int i = 0; i < 10; ++i) this_worker::post_local([&] { ++ran; });
    EXPECT_TRUE(becomes_true([&] { return ran == 10; }));
    gate slot;
    test_item item([&] { slot.open(); });
    current_worker()->push_next(item);
    EXPECT_TRUE(slot.pass());
  });
  const auto all = rt.metrics();
  EXPECT_EQ(all.workers[0].tasks_stolen, 11U);
  EXPECT_EQ(all.workers[1].slots_taken, 1U);
  EXPECT_GE(all.workers[1].steals_won, 1U);
  EXPECT_GE(all.workers[1].steals_tried, all.workers[1].steals_won);
  EXPECT_GE(all.workers[1].searches, all.workers[1].steals_won);
  EXPECT_GE(all.workers[1].parks, all.workers[1].wakes);
}

TEST_P(MetricsTest, APostToASleeperIsOneWakeASearchALookForCompletionsAndAPark) {
  runtime rt(with({.workers = 1}));
  const auto parked = [&](std::uint64_t times) {
    return becomes_true([&] { return rt.metrics().total().parks == times; });
  };
  ASSERT_TRUE(parked(1));
  const auto before = rt.metrics().total();
  on_a_worker(rt, [] {});
  ASSERT_TRUE(parked(2));
  const auto after = rt.metrics().total();
  EXPECT_EQ(after.tasks_run - before.tasks_run, 1U);
  EXPECT_EQ(after.wakes - before.wakes, 1U);
  EXPECT_EQ(after.searches - before.searches, 1U);
  EXPECT_EQ(after.polls - before.polls, 1U);
}

TEST_P(MetricsTest, QueueLengthsAndTimersAreThoseOfNow) {
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  on_a_worker(rt, [&] {
    for (int i = 0; i < 5; ++i) this_worker::post_local([] {});
    for (int i = 0; i < 3; ++i) this_worker::post_self_after(1h, [] {});
    const auto all = rt.metrics();
    EXPECT_EQ(all.workers[0].queue_length, 5U);
    EXPECT_EQ(all.workers[0].timers, 3U);
  });
  occupied io(rt, 0), compute(rt, 1);
  rt.post([] {});
  rt.post_compute([] {});
  rt.post_compute([] {});
  EXPECT_EQ(rt.metrics().global_queue_length, 1U);
  EXPECT_EQ(rt.metrics().compute_queue_length, 2U);
}

TEST_P(MetricsTest, TheTotalKeepsWhatDetachedWorkersDidAndAReattachedOneBeginsAtZero) {
  runtime rt(with({.workers = 1}));
  const auto id = rt.attach_worker();
  ASSERT_TRUE(id.has_value());
  for (int i = 0; i < 10; ++i) on_worker(rt, *id, [] {});
  ASSERT_TRUE(rt.detach_worker(*id).has_value());
  EXPECT_EQ(rt.metrics().workers.size(), 1U);
  EXPECT_EQ(rt.metrics().total().tasks_run, 10U);
  EXPECT_EQ(rt.metrics().departed.tasks_run, 10U);
  const auto fresh = rt.attach_worker();
  ASSERT_TRUE(fresh.has_value());
  EXPECT_EQ(rt.metrics().workers[1].id, *fresh);
  EXPECT_EQ(rt.metrics().workers[1].tasks_run, 0U);
  EXPECT_EQ(rt.metrics().total().tasks_run, 10U);
}

TEST_P(MetricsTest, MayBeAskedForWhileEverythingRuns) {
  runtime rt(with({.workers = 3}));
  std::atomic<bool> over = false;
  std::jthread asker([&] {
    std::uint64_t last = 0;
    while (!over) {
      const auto now = rt.metrics().total().tasks_run;
      EXPECT_GE(now, last);
      last = now;
    }
  });
  for (std::size_t i = 0; i < scaled(300); ++i) {
    const auto id = rt.attach_worker();
    ASSERT_TRUE(id.has_value());
    rt.post_to(*id, [] { this_worker::post_local([] {}); });
    ASSERT_TRUE(rt.detach_worker(*id).has_value());
  }
  over = true;
}

FAIO_FOR_IO_KINDS(MetricsTest);

}  // namespace
}  // namespace faio::scheduler::testing
