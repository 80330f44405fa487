// shutdown_test -- the end of a runtime from any state: nothing is left, nothing hangs, what will not end is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <latch>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<void> sleeps_for_ever(std::atomic<int>& began, std::atomic<int>& stopped) {
  count(began);
  const auto slept = co_await sleep_for(1h);
  if (!slept) count(stopped);
}

using ShutdownEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(ShutdownEverywhere);

TEST_P(ShutdownEverywhere, StopEndsSleepersAndWaitsForThem) {
  std::atomic<int> began{0};
  std::atomic<int> stopped{0};
  runtime_context ctx{with(2)};
  for (int i = 0; i < 100; ++i) (void)ctx.spawn(sleeps_for_ever(began, stopped));
  wait_for(began, 100);
  const auto report = ctx.stop(generous);
  EXPECT_TRUE(report.finished);
  EXPECT_TRUE(report.still_running.empty());
  EXPECT_EQ(stopped.load(), 100);
}

TEST_P(ShutdownEverywhere, StopTwiceAndFromTwoThreadsAndThenTheDestructor) {
  for (int round = 0; round < (sanitized ? 20 : 100); ++round) {
    std::atomic<int> began{0};
    std::atomic<int> alive{0};
    {
      runtime_context ctx{with(2)};
      for (int i = 0; i < 10; ++i) {
        // Never ends by itself: its frame is destroyed.
        (void)ctx.spawn([&, keep = tracked(alive)]() -> task<void> {
          count(began);
          for (;;) (void)co_await sleep_for(1h);
        });
        ctx.post([keep = tracked(alive)] {});
      }
      wait_for(began, 10);
      std::jthread other([&] { (void)ctx.stop(1ms); });
      (void)ctx.stop(1ms);
      other.join();
      EXPECT_TRUE(ctx.stop().finished) << "once more, and with time enough";
      EXPECT_EQ(alive.load(), 0);
    }
  }
}

TEST_P(ShutdownEverywhere, AFrameIsDestroyedWhileAStopRequestComesToItsWait) {
  // So many that one who stops is still telling them when the other one, who does not wait for that, destroys their frames.
  constexpr int tasks = 1000;
  for (int round = 0; round < (sanitized ? 5 : 20); ++round) {
    std::atomic<int> began{0};
    std::atomic<int> alive{0};
    runtime_context ctx{with(2)};
    for (int i = 0; i < tasks; ++i) {
      (void)ctx.spawn([&, keep = tracked(alive)]() -> task<void> {
        count(began);
        for (;;) (void)co_await sleep_for(1h);
      });
    }
    wait_for(began, tasks);
    std::latch both{2};
    const auto stop = [&] {
      both.arrive_and_wait();
      (void)ctx.stop(0ns);
    };
    std::jthread other(stop);
    stop();
    other.join();
    EXPECT_TRUE(ctx.stop(generous).finished);
    EXPECT_EQ(alive.load(), 0);
  }
}

TEST_P(ShutdownEverywhere, ALoopThatIgnoresCanceledSleepsEndsWithTheGrace) {
  std::atomic<int> began{0};
  std::atomic<int> alive{0};
  runtime_context ctx{with(2)};
  (void)ctx.spawn([&, keep = tracked(alive)]() -> task<void> {
    count(began);
    for (;;) co_await sleep_for(1h);
  });
  wait_for(began, 1);
  const auto report = ctx.stop(10ms);
  EXPECT_TRUE(report.finished || ctx.stop(generous).finished) << "a loaded machine may need more than the first";
  EXPECT_EQ(report.still_running.size(), 1U);
  EXPECT_EQ(alive.load(), 0);
}

/// Everything that a task can be in the middle of. None of it ends by itself, and none of it looks at its token.
task<void> yields_for_ever() {
  for (;;) co_await yield();
}
task<void> in_the_middle(int of_what, tracked keep, std::atomic<int>& began, gate& go) {
  const tracked again = keep;
  count(began);
  switch (of_what) {
    case 0:
      co_await never();
      break;
    case 1:
      co_await yields_for_ever();
      break;
    case 2:
      co_await when_all(never(), yields_for_ever(), []() -> task<void> { co_return; }());
      break;
    case 3: {
      std::vector<task<void>> tasks;
      for (int i = 0; i < 5; ++i) tasks.push_back(never());
      co_await when_all(std::move(tasks));
      break;
    }
    case 4:
      (void)co_await when_any(never(), yields_for_ever(),
                              []() -> task<void> { (void)co_await when_any(never(), never()); }());
      break;
    case 5:
      (void)co_await timeout(1h, never());
      break;
    case 6: {
      task_group group;
      group.spawn(never());
      group.spawn([held = keep]() -> task<void> { co_await never(); });
      co_await group.join();
      break;
    }
    case 7: {
      task_group group;  // abandoned by the destruction of this frame
      group.spawn(never());
      co_await never();
      break;
    }
    case 8: {
      auto handle = spawn(never());
      co_await std::move(handle);
      break;
    }
    case 9:
      co_await compute([&] { go.wait(); });
      break;
    case 10:
      co_await blocking([&] { go.wait(); });
      break;
    case 11: {
      std::exception_ptr in_flight;
      try {
        throw std::runtime_error("in flight");
      } catch (...) {
        in_flight = std::current_exception();
      }
      co_await never();
      break;
    }
    case 12:
      for (;;) {
        (void)spawn([held = keep]() -> task<void> { co_await yield(); });
        co_await yield();
      }
    case 13: {
      std::vector<join_handle<void>> kept;
      for (int i = 0; i < 5; ++i) kept.push_back(spawn([held = keep]() -> task<void> { co_await never(); }));
      (void)co_await when_any(
          never(), [](std::vector<join_handle<void>>& handles) -> task<void> { co_await std::move(handles[0]); }(kept));
      break;
    }
    default:
      this_worker::post_self_after(1h, [held = keep] {});
      this_worker::post_local([held = keep] { (void)spawn(never()); });
      co_await never();
  }
}

TEST_P(ShutdownEverywhere, StopFromAnyStateLeavesNothing) {
  for (int of_what = 0; of_what <= 14; ++of_what) {
    SCOPED_TRACE(of_what);
    std::atomic<int> alive{0};
    std::atomic<int> began{0};
    gate go;
    {
      runtime_context ctx{with(2)};
      for (int i = 0; i < 4; ++i) (void)ctx.spawn(in_the_middle(of_what, tracked(alive), began, go));
      wait_for(began, 4);
      const auto start = clock::now();
      const auto report = ctx.stop(5ms);
      EXPECT_LT(clock::now() - start, generous) << "bounded";
      if (of_what == 9 || of_what == 10) {
        go.open();  // user code that runs: only the destructor waits for it
      } else {
        EXPECT_TRUE(report.finished || ctx.stop(generous).finished) << "a loaded machine may need more than the first";
        EXPECT_EQ(alive.load(), 0);
      }
    }
    EXPECT_EQ(alive.load(), 0);
  }
}

/// The same all at once, with the destructor alone, at a random moment.
TEST_P(ShutdownEverywhere, DestroyedAtARandomMomentLeavesNothing) {
  std::minstd_rand random(static_cast<unsigned>(seed()));
  for (int round = 0; round < (sanitized ? 20 : 60); ++round) {
    std::atomic<int> alive{0};
    std::atomic<int> began{0};
    gate go;
    go.open();
    {
      auto settings = with(1 + random() % 3);
      settings.stop_grace = std::chrono::microseconds(random() % 2000);
      runtime_context ctx{settings};
      for (int i = 0; i < 30; ++i) {
        (void)ctx.spawn(in_the_middle(static_cast<int>(random() % 15), tracked(alive), began, go));
      }
      if (random() % 2 == 0) wait_for(began, static_cast<int>(random() % 20));
    }
    EXPECT_EQ(alive.load(), 0);
  }
}

/// Tells when it is destroyed.
class last_words {
 public:
  last_words(std::vector<std::string>& into, std::string what) : _into(&into), _what(std::move(what)) {}
  last_words(last_words&& other) noexcept : _into(std::exchange(other._into, nullptr)), _what(std::move(other._what)) {}
  last_words& operator=(last_words&&) = delete;
  ~last_words() {
    if (_into != nullptr) _into->push_back(_what);
  }

 private:
  std::vector<std::string>* _into;
  std::string _what;
};

/// A child may use what its parent lent it until it is destroyed, also when nobody holds a handle to the parent any more.
TEST_P(ShutdownEverywhere, AChildIsDestroyedBeforeWhoeverMadeIt) {
  std::vector<std::string> said;
  std::atomic<int> began{0};
  {
    runtime_context ctx{with(1)};
    (void)ctx.spawn([&]() -> task<void> {
      co_await yield();  // the handle has been dropped by now
      std::vector<std::string> mine;
      const last_words parent(said, "parent");
      auto child = spawn([&]() -> task<void> {
        const last_words lent(mine, "child");
        const last_words also(said, "child");
        auto grandchild = spawn([&]() -> task<void> {
          const last_words deep(said, "grandchild");
          count(began);
          co_await never();
        });
        co_await std::move(grandchild);
      });
      co_await std::move(child);
    });
    wait_for(began, 1);
    EXPECT_TRUE(ctx.stop(1ms).finished || ctx.stop(generous).finished);  // as above
  }
  EXPECT_EQ(said, (std::vector<std::string>{"grandchild", "child", "parent"}));
}

TEST_P(ShutdownEverywhere, AThousandRoundsOfCreateSpawnDestroy) {
  std::atomic<int> alive{0};
  for (int round = 0; round < 250; ++round) {  // for each of the four kinds
    runtime_context ctx{with(1 + static_cast<std::size_t>(round) % 2)};
    for (int i = 0; i < 3; ++i) {
      (void)ctx.spawn([keep = tracked(alive), i]() -> task<void> {
        if (i == 0) co_await sleep_for(1h);
        if (i == 1) co_await blocking([] {});
        if (i == 2) co_await yield();
      });
    }
  }
  EXPECT_EQ(alive.load(), 0);
}

/// Quiet as soon as the last blocking call has returned: no stop waits for its grace in vain.
/// They are in no list but their queue.
TEST_P(ShutdownEverywhere, WhatNeverBeganIsDestroyedToo) {
  std::atomic<int> alive{0};
  std::vector<join_handle<int>> handles;
  gate busy;
  gate end;
  {
    runtime_context ctx{with(1)};
    auto one = ctx.spawn([&] {
      busy.open();
      end.wait();
    });
    busy.wait();
    for (int i = 0; i < 100; ++i) {
      handles.push_back(ctx.spawn([](tracked) -> task<int> { co_return 7; }(tracked(alive))));
    }
    EXPECT_FALSE(ctx.stop(10ms)) << "the worker is still busy";
    EXPECT_EQ(alive.load(), 100);
    end.open();
  }
  EXPECT_EQ(alive.load(), 0);
  for (auto& each : handles) EXPECT_THROW(each.get(), std::system_error);
}

TEST(ShutdownTest, DoesNotWaitForTheGraceInVain) {
  for (int round = 0; round < 200; ++round) {
    runtime_context ctx{{.workers = 1, .stop_grace = generous}};
    (void)ctx.spawn([]() -> task<void> {
      co_await blocking([] {});
      co_await compute([] {});
    });
    const auto began = clock::now();
    EXPECT_TRUE(ctx.stop().finished);
    EXPECT_LT(clock::now() - began, generous / 2);
  }
}

TEST_P(ShutdownEverywhere, OnAWorkerItOnlyBeginsTheEnd) {
  std::atomic<int> began{0};
  std::atomic<int> stopped{0};
  {
    runtime_context ctx{with(2)};
    (void)ctx.spawn(sleeps_for_ever(began, stopped));
    wait_for(began, 1);
    auto handle = ctx.spawn([&]() -> task<bool> {
      const bool finished = ctx.stop().finished;
      (void)co_await sleep_for(1h);
      co_return finished;
    });
    EXPECT_FALSE(handle.get());
    EXPECT_THROW((void)ctx.spawn(never()), std::system_error);
  }
  EXPECT_EQ(stopped.load(), 1);
}

TEST_P(ShutdownEverywhere, AReportNamesTheTaskThatWillNotEnd) {
  gate go;
  std::atomic<int> began{0};
  std::uint_least32_t line = 0;
  runtime_context ctx{with(2)};
  const auto spins = [&]() -> task<void> {
    count(began);
    while (!go.is_open()) std::this_thread::yield();
    co_return;
  };
  line = std::source_location::current().line() + 1;
  (void)ctx.spawn(spins());
  wait_for(began, 1);
  const auto start = clock::now();
  const auto report = ctx.stop(10ms);
  EXPECT_GE(clock::now() - start, 10ms);
  EXPECT_LT(clock::now() - start, generous);
  EXPECT_FALSE(report.finished);
  ASSERT_EQ(report.still_running.size(), 1U);
  EXPECT_EQ(report.still_running[0].line(), line);
  EXPECT_THAT(report.still_running[0].file_name(), testing::EndsWith("shutdown_test.cpp"));
  EXPECT_FALSE(ctx.stop(0ms).finished) << "it still runs";
  go.open();
  EXPECT_TRUE(ctx.stop(generous).finished);
}

TEST_P(ShutdownEverywhere, AReportNamesCallablesBesideTasks) {
  gate go;
  std::atomic<int> began{0};
  const auto spins = [&] {
    count(began);
    while (!go.is_open()) std::this_thread::yield();
  };
  runtime_context ctx{with(2)};
  ctx.block_on([&]() -> task<void> { co_return ctx.post([] {}); });  // has ended: not one of them
  const auto line = std::source_location::current().line();
  ctx.post(spins);
  ctx.post_compute(spins);
  (void)ctx.spawn(spins);
  wait_for(began, 3);
  const auto report = ctx.stop(1ms);
  EXPECT_FALSE(report.finished);
  std::vector<std::uint_least32_t> lines;
  for (const auto& each : report.still_running) lines.push_back(each.line());
  EXPECT_THAT(lines, testing::UnorderedElementsAre(line + 1, line + 2, line + 3));
  go.open();
  EXPECT_TRUE(ctx.stop(generous).finished);
}

TEST_P(ShutdownEverywhere, IsBoundedWhileABlockingCallRuns) {
  gate go;
  std::atomic<int> began{0};
  std::atomic<int> alive{0};
  {
    auto settings = with(1);
    settings.stop_grace = 1h;  // for tasks that can still end: after the stop below there is none
    runtime_context ctx{settings};
    (void)ctx.spawn([&, keep = tracked(alive)]() -> task<void> {
      co_await blocking([&] {
        count(began);
        go.wait();
      });
    });
    wait_for(began, 1);
    const auto report = ctx.stop(5ms);
    EXPECT_FALSE(report.finished);
    EXPECT_EQ(report.still_running.size(), 1U);
    go.open();
  }
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(ShutdownEverywhere, TheDestructorWaitsForUserCode) {
  gate go;
  std::atomic<int> began{0};
  std::atomic<bool> ended{false};
  std::atomic<int> alive{0};
  auto ctx = std::make_unique<runtime_context>(config{.workers = 2, .stop_grace = 1ms});
  (void)ctx->spawn([&, keep = tracked(alive)] {
    count(began);
    go.wait();
    ended = true;
  });
  wait_for(began, 1);
  std::jthread opens([&] {
    // Longer than its grace and what it gives the threads to end. The time is not a synchronisation: nothing is to happen in it.
    const auto until = clock::now() + 300ms;
    while (alive.load() != 0 && clock::now() < until) std::this_thread::yield();
    EXPECT_NE(alive.load(), 0) << "destroyed while it runs";
    go.open();
  });
  ctx.reset();
  EXPECT_TRUE(ended);
  EXPECT_EQ(alive.load(), 0);
}

TEST_P(ShutdownEverywhere, BlockOnAndGetSayThatTheRuntimeWasStopped) {
  std::atomic<int> began{0};
  runtime_context ctx{with(2)};
  auto handle = ctx.spawn([&]() -> task<int> {
    count(began);
    co_await never();
    co_return 1;
  });
  std::jthread waits([&] {
    try {
      ctx.block_on([&]() -> task<void> {
        count(began);
        co_await never();
      });
      ADD_FAILURE() << "it ended";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::operation_canceled);
    }
  });
  wait_for(began, 2);
  (void)ctx.stop(1ms);
  waits.join();
  EXPECT_TRUE(handle.done());
  EXPECT_THROW((void)handle.get(), std::system_error);
}

/// A host that drives a worker by hand stops like any other thread.
TEST(ShutdownTest, AHostStopsOutsideOfItsWorker) {
  std::atomic<int> stopped{0};
  std::atomic<int> began{0};
  runtime_context ctx{{.workers = 1}};
  (void)ctx.spawn(sleeps_for_ever(began, stopped));
  while (began.load() == 0) (void)ctx.run_once(1ms);
  const auto report = ctx.stop(generous);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(stopped.load(), 1);
}

/// Destructors of the user's run at the end: one that spawns is refused, not deadlocked.
TEST(ShutdownTest, ADestructorInAFrameMaySpawn) {
  std::atomic<int> refused{0};
  struct spawns_at_end {
    runtime_context& ctx;
    std::atomic<int>& refused;
    ~spawns_at_end() {
      try {
        (void)ctx.spawn([] {});
      } catch (const std::system_error&) {
        count(refused);
      }
    }
  };
  std::atomic<int> began{0};
  runtime_context ctx{{.workers = 1}};
  (void)ctx.spawn([&]() -> task<void> {
    const spawns_at_end last{ctx, refused};
    count(began);
    co_await never();
  });
  wait_for(began, 1);
  EXPECT_TRUE(ctx.stop(1ms).finished || ctx.stop(60s).finished);  // a loaded machine may need more than the first
  EXPECT_EQ(refused.load(), 1);
}

}  // namespace
}  // namespace faio::tests
