// stop -- from any state, any number of times, bounded; nothing is left over.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class StopTest : public scheduler_fixture {};

TEST_P(StopTest, RunsWhatIsQueuedAndMayBeCalledTwice) {
  std::atomic<std::size_t> ran = 0;
  runtime rt(with({.workers = 2}));
  const std::size_t many = scaled(20000);
  for (std::size_t i = 0; i < many; ++i) {
    switch (i % 4) {
      case 0:
        rt.post([&] { ++ran; });
        break;
      case 1:
        rt.post_to(i % 2, [&] { ++ran; });
        break;
      case 2:
        rt.post_compute([&] { ++ran; });
        break;
      default:
        rt.post([&] { this_worker::post_local([&] { ++ran; }); });
        break;
    }
  }
  const stop_report report = rt.stop();
  EXPECT_TRUE(report.finished);
  EXPECT_TRUE(report.still_running.empty());
  EXPECT_EQ(ran, many);
  EXPECT_TRUE(rt.stop());
}

TEST_P(StopTest, WorkMayMakeMoreWorkWhileItStops) {
  std::atomic<int> ran = 0;
  runtime rt(with({.workers = 2}));
  gate began, go;
  rt.post([&] {
    began.open();
    go.pass();
    for (int i = 0; i < 10; ++i) {
      rt.post([&] { rt.post_compute([&] { rt.post([&] { ++ran; }); }); });
    }
  });
  began.pass();
  std::jthread stopper([&] { EXPECT_TRUE(rt.stop(1min)); });
  EXPECT_TRUE(becomes_true([&] { return rt.shared().stopping(); }));
  go.open();
  stopper.join();
  EXPECT_EQ(ran, 10);
}

TEST_P(StopTest, AnIdleRuntimeStopsLongBeforeItsGrace) {
  for (int i = 0; i < 10; ++i) {
    runtime rt(with({.workers = 4, .compute_workers = 2}));
    rt.post_after(1h, [] {});
    const auto began = steady::now();
    EXPECT_TRUE(rt.stop(1h));
    EXPECT_LT(steady::now() - began, long_enough);
  }
}

TEST_P(StopTest, BlockingWorkThatEndsLastEndsTheWait) {
  // It counts as busy until its thread has said otherwise, which may be after the last worker fell asleep.
  for (std::size_t i = 0; i < scaled(500); ++i) {
    runtime rt(with({.workers = 1}));
    gate began;
    std::atomic<bool> ran = false;
    test_item item([&] {
      began.open();
      EXPECT_TRUE(becomes_true([&] { return rt.shared().stopping(); }));
      ran = true;
    });
    ASSERT_TRUE(rt.shared().post_blocking(item));
    began.pass();
    const auto start = steady::now();
    ASSERT_TRUE(rt.stop(1min));
    EXPECT_TRUE(ran);
    ASSERT_LT(steady::now() - start, long_enough);
  }
}

TEST_P(StopTest, AStuckTaskMakesItReturnFalseWithinTheGraceAndTheDestructorWait) {
  gate began;
  std::atomic<bool> release = false;
  std::atomic<bool> ended = false;
  std::jthread helper;
  auto held = std::make_shared<int>(0);
  {
    runtime rt(with({.workers = 2, .stop_grace = 10ms}));
    rt.post([&] {
      began.open();
      while (!release) std::this_thread::yield();
      rt.post([held] {});  // taken, and dropped
      ended = true;
    });
    rt.post_after(1h, [held] {});
    began.pass();
    const auto start = steady::now();
    EXPECT_FALSE(rt.stop(20ms));
    EXPECT_GE(steady::now() - start, 20ms);
    EXPECT_LT(steady::now() - start, 10s);
    EXPECT_FALSE(rt.stop(1ms));
    EXPECT_THROW(rt.post([] {}), std::system_error);
    helper = std::jthread([&] { release = true; });
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(StopTest, TheReportNamesThePlaceOfACallableThatDoesNotEnd) {
  using body = std::function<void()>;
  const auto here = std::source_location::current();
  const int fd = ::eventfd(1, 0);  // always readable
  std::optional<watcher> watching;
  const std::vector<std::pair<const char*, std::function<void(runtime&, const body&)>>> ways = {
      {"post", [&](runtime& rt, const body& f) { rt.post(f, here); }},
      {"post_compute", [&](runtime& rt, const body& f) { rt.post_compute(f, here); }},
      {"post_to", [&](runtime& rt, const body& f) { rt.post_to(0, f, here); }},
      {"post_after", [&](runtime& rt, const body& f) { rt.post_after(1ms, f, here); }},
      {"post_local", [&](runtime& rt, const body& f) { rt.post([&, f] { this_worker::post_local(f, here); }); }},
      {"post_self", [&](runtime& rt, const body& f) { rt.post([&, f] { this_worker::post_self(f, here); }); }},
      {"watch", [&](runtime& rt, const body& f) { watching = *rt.watch(fd, POLLIN, [f](int) { f(); }, here); }}};
  for (const auto& [name, post] : ways) {
    SCOPED_TRACE(name);
    gate began, go;
    runtime rt(with({.workers = 1, .compute_workers = 1}));
    post(rt, [&] {
      began.open();
      go.pass();
    });
    ASSERT_TRUE(began.pass());
    const stop_report report = rt.stop(1ms);
    EXPECT_FALSE(report.finished);
    ASSERT_EQ(report.still_running.size(), 1U);
    EXPECT_EQ(report.still_running[0].line(), here.line());
    EXPECT_STREQ(report.still_running[0].file_name(), here.file_name());
    go.open();
    EXPECT_TRUE(rt.stop(long_enough));
  }
  watching.reset();
  ::close(fd);
}

TEST_P(StopTest, TheReportDoesNotNameACallableThatHasEnded) {
  gate began, go;
  test_item stuck([&] {
    began.open();
    go.pass();
  });
  runtime rt(with({.workers = 1}));
  rt.post([&] { EXPECT_TRUE(rt.shared().post(stuck)); });
  ASSERT_TRUE(began.pass());
  const stop_report report = rt.stop(1ms);
  EXPECT_FALSE(report.finished);
  EXPECT_TRUE(report.still_running.empty()) << "it was posted at line " << report.still_running[0].line();
  go.open();
}

TEST_P(StopTest, WorkThatGoesOnForEverIsEndedAtTheGrace) {
  for (const bool on_a_worker : {false, true}) {
    std::atomic<int> dropped = 0;
    struct tell {
      std::atomic<int>* dropped;
      ~tell() {
        if (dropped != nullptr) ++*dropped;
      }
      explicit tell(std::atomic<int>& where) : dropped(&where) {}
      tell(tell&& other) noexcept : dropped(std::exchange(other.dropped, nullptr)) {}
    };
    runtime rt(with({.workers = 1}));
    std::function<void()> again = [&] { this_worker::post_local(again); };
    std::function<void()> again_self = [&] { this_worker::post_self(again_self); };
    rt.post(again);
    rt.post(again_self);
    rt.post_after(1h, [owner = tell(dropped)] {});
    if (on_a_worker) {
      rt.post([&] { rt.stop(10ms); });
      // Nobody waits: the workers leave by themselves.
      EXPECT_TRUE(becomes_true([&] { return rt.shared().io.machine.workers() == 0; }));
    }
    EXPECT_TRUE(rt.stop(10ms));
    EXPECT_EQ(dropped, 1);
  }
}

TEST_P(StopTest, OnAWorkerItBeginsTheEndAndTheWorkersLeave) {
  std::atomic<int> ran = 0;
  runtime rt(with({.workers = 3, .compute_workers = 1}));
  rt.post([&] {
    for (int i = 0; i < 100; ++i) rt.post([&] { ++ran; });
    EXPECT_FALSE(rt.stop());
    EXPECT_FALSE(rt.stop());
  });
  EXPECT_TRUE(becomes_true(
      [&] { return rt.shared().io.machine.workers() == 0 && rt.shared().compute.machine.workers() == 0; }));
  EXPECT_EQ(ran, 100);
  EXPECT_TRUE(rt.stop());
}

TEST_P(StopTest, OnAComputeWorkerToo) {
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  rt.post_compute([&] { EXPECT_FALSE(rt.stop()); });
  EXPECT_TRUE(becomes_true([&] { return rt.shared().io.machine.workers() == 0; }));
}

TEST_P(StopTest, FromManyThreadsAtOnce) {
  for (std::size_t round = 0; round < scaled(100); ++round) {
    runtime rt(with({.workers = 2}));
    rt.post([] {});
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) threads.emplace_back([&] { EXPECT_TRUE(rt.stop()); });
  }
}

TEST_P(StopTest, WhatWillNeverRunIsDroppedOnce) {
  std::vector<std::unique_ptr<test_item>> items;
  std::atomic<int> ran = 0;
  {
    gate began, go;
    runtime rt(with({.workers = 2, .stop_grace = 1ms}));
    rt.post_to(0, [&] {
      began.open();
      go.pass();
    });
    began.pass();
    const occupied other(rt, 1);
    for (int i = 0; i < 300; ++i) {
      items.push_back(std::make_unique<test_item>([&] { ++ran; }));
      if (i % 2 == 0) {
        rt.shared().post(*items.back());
      } else {
        rt.shared().post_to(static_cast<std::size_t>(i % 4 / 2), *items.back());
      }
    }
    EXPECT_FALSE(rt.stop(1ms));
    go.open();
  }
  int dropped = 0;
  for (const auto& each : items) {
    EXPECT_LE(each->dropped, 1);
    dropped += each->dropped;
  }
  EXPECT_EQ(dropped + ran, 300);
  EXPECT_GT(dropped, 0);
}

TEST_P(StopTest, AThousandRuntimesAreMadeUsedAndDestroyed) {
  auto held = std::make_shared<int>(0);
  std::atomic<std::size_t> ran = 0;
  const std::size_t rounds = scaled(1000);
  for (std::size_t i = 0; i < rounds; ++i) {
    runtime rt(with({.workers = 1 + i % 3}));
    rt.post([&, held] { ++ran; });
    rt.post_after(1h, [held] {});
    if (i % 7 == 0) rt.post_compute([held] {});
    if (i % 5 == 0) rt.run_once();
    if (i % 3 == 0) rt.stop();
  }
  EXPECT_EQ(ran, rounds);
  EXPECT_EQ(held.use_count(), 1);
}

class StopDeathTest : public StopTest {};

TEST_P(StopDeathTest, DestroyingARuntimeOnItsOwnWorkerSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto rt = std::make_unique<runtime>(with({.workers = 1}));
        runtime& ref = *rt;
        ref.post([&] { rt.reset(); });
        for (;;) std::this_thread::yield();
      },
      "destroyed on one of its own workers");
}

FAIO_FOR_IO_KINDS(StopTest);
FAIO_FOR_IO_KINDS(StopDeathTest);

}  // namespace
}  // namespace faio::scheduler::testing
