// sleep_test -- never early, stopped at once, and not lost when their worker leaves.
#include "faio/context/sleep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

using SleepEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(SleepEverywhere);

TEST_P(SleepEverywhere, IsNeverEarly) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    for (const auto duration : {0us, 1us, 999us, 1000us, 1001us, 5500us}) {
      const auto began = clock::now();
      EXPECT_TRUE((co_await sleep_for(duration)).has_value());
      EXPECT_GE(clock::now() - began, duration);
    }
    const auto when = clock::now() + 3ms;
    co_await sleep_until(when);  // the result may be ignored
    EXPECT_GE(clock::now(), when);
    co_await sleep_for(-1h);
    co_await sleep_until(clock::time_point::min());
  });
}

TEST_P(SleepEverywhere, ManyAtOnceEndInTheirTime) {
  runtime_context ctx{with(2)};
  std::atomic<int> ended{0};
  constexpr int many = sanitized ? 2'000 : 20'000;
  ctx.block_on([&]() -> task<void> {
    for (int i = 0; i < many; ++i) {
      (void)spawn([&, i]() -> task<void> {
        const auto until = clock::now() + std::chrono::microseconds(i % 50'000);
        EXPECT_TRUE((co_await sleep_until(until)).has_value());
        EXPECT_GE(clock::now(), until);
        ended.fetch_add(1);
      });
    }
    co_return;
  });
  EXPECT_EQ(ended.load(), many);
}

TEST_P(SleepEverywhere, AStopEndsItAtOnce) {
  runtime_context ctx{with(2)};
  std::atomic<int> began{0};
  auto handle = ctx.spawn([&]() -> task<std::error_code> {
    count(began);
    co_return (co_await sleep_for(1h)).error();
  });
  wait_for(began, 1);
  EXPECT_TRUE(handle.request_stop());
  EXPECT_FALSE(handle.request_stop()) << "the second to ask";
  EXPECT_EQ(handle.get(), std::errc::operation_canceled);
}

TEST_P(SleepEverywhere, AStopBeforeTheFirstSleepEndsItToo) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    auto handle = spawn([]() -> task<int> {
      int canceled = 0;
      for (int i = 0; i < 3; ++i) canceled += (co_await sleep_for(1h)).has_value() ? 0 : 1;
      co_return canceled;
    });
    EXPECT_TRUE(handle.request_stop());
    EXPECT_EQ(co_await std::move(handle), 3);
  });
}

/// The stop comes from the sleeper's own worker, from others and from outside, at the time of the end or long before.
TEST_P(SleepEverywhere, RacesOfEndAndStopResumeOnce) {
  runtime_context ctx{with(4)};
  std::minstd_rand random(static_cast<unsigned>(seed()));
  constexpr int rounds = sanitized ? 500 : 4000;
  std::atomic<int> resumed{0};
  std::vector<join_handle<void>> handles;
  std::vector<clock::time_point> stops;
  const auto start = clock::now();
  for (int i = 0; i < rounds; ++i) {
    const auto until = start + std::chrono::microseconds(random() % 100'000);
    handles.push_back(ctx.spawn([&resumed, until]() -> task<void> {
      const auto slept = co_await sleep_until(until);
      if (slept) {
        EXPECT_GE(clock::now(), until);
      } else {
        EXPECT_EQ(slept.error(), std::errc::operation_canceled);
      }
      resumed.fetch_add(1);
    }));
    stops.push_back(random() % 2 == 0 ? until : start + std::chrono::microseconds(random() % 100'000));
  }
  const auto stop_share = [&](int share) {
    for (std::size_t i = static_cast<std::size_t>(share); i < handles.size(); i += 3) {
      while (clock::now() < stops[i] - 50us && stops[i] - clock::now() > 1ms) std::this_thread::yield();
      handles[i].request_stop();
    }
  };
  std::jthread outside([&] { stop_share(0); });
  auto on_worker = ctx.spawn([&] { stop_share(1); });
  stop_share(2);
  outside.join();
  on_worker.get();
  for (auto& each : handles) each.get();
  EXPECT_EQ(resumed.load(), rounds);
}

TEST_P(SleepEverywhere, TheyMoveAlongWhenTheirWorkerLeaves) {
  runtime_context ctx{with(1)};
  const auto leaves = ctx.attach_worker().value();
  std::atomic<int> asleep{0};
  std::atomic<int> ended{0};
  constexpr int many = 100;
  std::mutex mutex;
  std::vector<join_handle<std::error_code>> handles;
  for (int i = 0; i < many; ++i) {
    ctx.post_to(leaves, [&, i] {
      // Sleeps begin on the worker that is about to leave: a task spawned from there may run next there.
      auto handle = spawn([&, i]() -> task<std::error_code> {
        const auto until = clock::now() + (i % 2 == 0 ? 30ms : std::chrono::nanoseconds(1h));
        count(asleep);
        const auto slept = co_await sleep_until(until);
        if (slept) {
          EXPECT_GE(clock::now(), until);
        }
        count(ended);
        co_return slept ? std::error_code() : slept.error();
      });
      const std::lock_guard lock(mutex);
      handles.push_back(std::move(handle));
    });
  }
  wait_for(asleep, many);
  EXPECT_TRUE(ctx.detach_worker(leaves).has_value());
  wait_for(ended, many / 2);
  const std::lock_guard lock(mutex);
  for (auto& each : handles) each.request_stop();
  int canceled = 0;
  for (auto& each : handles) canceled += each.get() == std::errc::operation_canceled ? 1 : 0;
  EXPECT_EQ(canceled, many / 2);
}

/// Workers come and go while tasks sleep on them, and some of those are stopped.
TEST_P(SleepEverywhere, AttachAndDetachLoseNoSleepAndNoStop) {
  runtime_context ctx{with(1)};
  const auto start_seed = seed();
  std::atomic<bool> over{false};
  std::jthread comes_and_goes([&] {
    std::minstd_rand random(static_cast<unsigned>(start_seed));
    std::vector<std::size_t> ids;
    while (!over) {
      if (ids.size() < 3 && random() % 2 == 0) {
        ids.push_back(ctx.attach_worker().value());
      } else if (!ids.empty()) {
        std::swap(ids[random() % ids.size()], ids.back());
        EXPECT_TRUE(ctx.detach_worker(ids.back()).has_value());
        ids.pop_back();
      }
    }
  });
  std::minstd_rand random(static_cast<unsigned>(start_seed + 1));
  std::atomic<int> resumed{0};
  constexpr int rounds = sanitized ? 10 : 30;
  constexpr int each_round = 100;
  for (int round = 0; round < rounds; ++round) {
    std::vector<join_handle<void>> handles;
    for (int i = 0; i < each_round; ++i) {
      const bool far = random() % 2 == 0;
      const auto duration = far ? std::chrono::nanoseconds(1h) : std::chrono::microseconds(random() % 5000);
      handles.push_back(ctx.spawn([&resumed, duration]() -> task<void> {
        const auto until = clock::now() + duration;
        const auto slept = co_await sleep_for(duration);
        if (slept) {
          EXPECT_GE(clock::now(), until);
        }
        resumed.fetch_add(1);
      }));
    }
    std::shuffle(handles.begin(), handles.end(), random);
    for (auto& each : handles) each.request_stop();
    for (auto& each : handles) each.get();
    // And without a stop.
    ctx.block_on([&]() -> task<void> {
      for (int i = 0; i < each_round; ++i) {
        (void)spawn([&, duration = std::chrono::microseconds(random() % 5000)]() -> task<void> {
          EXPECT_TRUE((co_await sleep_for(duration)).has_value());
          resumed.fetch_add(1);
        });
      }
      co_return;
    });
  }
  over = true;
  EXPECT_EQ(resumed.load(), 2 * rounds * each_round);
}

/// Messages to a worker that was told to leave while it runs something long wait for it, and do not go round in circles.
TEST(SleepTest, AStopOfASleeperWhoseWorkerIsBusyLeavingArrives) {
  runtime_context ctx{{.workers = 1}};
  const auto leaves = ctx.attach_worker().value();
  std::atomic<int> asleep{0};
  gate busy;
  gate go_on;
  std::vector<join_handle<std::error_code>> handles;
  // Whichever of the two workers a sleeper is on: both are asked below.
  for (int i = 0; i < 20; ++i) {
    handles.push_back(ctx.spawn([&]() -> task<std::error_code> {
      count(asleep);
      co_return (co_await sleep_for(1h)).error();
    }));
  }
  wait_for(asleep, 20);
  ctx.post_to(leaves, [&] {
    busy.open();
    go_on.wait();
  });
  busy.wait();
  std::jthread detaches([&] { EXPECT_TRUE(ctx.detach_worker(leaves).has_value()); });
  for (auto& each : handles) each.request_stop();
  go_on.open();
  for (auto& each : handles) EXPECT_EQ(each.get(), std::errc::operation_canceled);
}

}  // namespace
}  // namespace faio::tests
