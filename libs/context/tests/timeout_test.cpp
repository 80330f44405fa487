// timeout_test -- a limit for anything that can be awaited; a beat.
#include "faio/context/timeout.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<int> after(std::chrono::nanoseconds time, int value) {
  co_await sleep_for(time);
  co_return value;
}
task<result<int>> gives_result(int value) {
  if (value < 0) co_return std::unexpected(std::make_error_code(std::errc::invalid_argument));
  co_return value;
}

/// Knows more than its code.
struct told_error : std::error_code {
  told_error(std::error_code code) : error_code(code) {}  // NOLINT(google-explicit-constructor)
  int more = 0;
};
task<std::expected<int, told_error>> gives_told_error() {
  told_error error(std::make_error_code(std::errc::invalid_argument));
  error.more = 3;
  co_return std::unexpected(error);
}
task<std::expected<int, told_error>> gives_nothing_for_long() {
  const auto slept = co_await sleep_for(1h);
  co_return std::unexpected(told_error(slept.error()));
}

using TimeoutEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(TimeoutEverywhere);

TEST_P(TimeoutEverywhere, GivesTheValueInTime) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    EXPECT_EQ((co_await timeout(generous, after(1ms, 3))).value(), 3);
    int number = 0;
    const auto same = [](int& value) -> task<int&> { co_return value; };
    const auto boxed = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
    const auto nothing = []() -> task<void> { co_return; };
    EXPECT_EQ(&(co_await timeout(generous, same(number))).value().get(), &number);
    EXPECT_EQ(**co_await timeout(generous, boxed()), 4);
    EXPECT_TRUE((co_await timeout(generous, nothing())).has_value());
  });
}

TEST_P(TimeoutEverywhere, GivesTimedOutNotEarly) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    const auto began = clock::now();
    const auto late = co_await timeout(5ms, after(1h, 3));
    EXPECT_EQ(late.error(), std::errc::timed_out);
    EXPECT_GE(clock::now() - began, 5ms);
    EXPECT_LT(clock::now() - began, generous);
  });
}

TEST_P(TimeoutEverywhere, KeepsAnErrorThatSaysMoreThanItsCode) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    const auto told = co_await timeout(generous, gives_told_error());
    EXPECT_EQ(told.error(), std::errc::invalid_argument);
    EXPECT_EQ(told.error().more, 3);
    const auto late = co_await timeout(1ms, gives_nothing_for_long());
    static_assert(std::is_same_v<decltype(late), const std::expected<int, told_error>>);
    EXPECT_EQ(late.error(), std::errc::timed_out);
  });
}

TEST_P(TimeoutEverywhere, DoesNotWrapAResultTwice) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    auto good = co_await timeout(generous, gives_result(3));
    static_assert(std::is_same_v<decltype(good), result<int>>);
    EXPECT_EQ(good.value(), 3);
    EXPECT_EQ((co_await timeout(generous, gives_result(-1))).error(), std::errc::invalid_argument);
    auto slept = co_await timeout(generous, sleep_for(1ms));
    static_assert(std::is_same_v<decltype(slept), result<void>>);
    EXPECT_TRUE(slept.has_value());
    EXPECT_EQ((co_await timeout(1ms, sleep_for(1h))).error(), std::errc::timed_out);
  });
}

TEST_P(TimeoutEverywhere, WaitsForWhatTimedOutAndAllBeneathIt) {
  runtime_context ctx{with(2)};
  std::atomic<int> ended{0};
  const auto slow = [&]() -> task<void> {
    (void)spawn([&]() -> task<void> {
      co_await sleep_for(1h);
      co_await yield();
      count(ended);
    });
    co_await sleep_for(1h);
    for (int i = 0; i < 20; ++i) co_await yield();  // what it does to end in good order
    count(ended);
  };
  ctx.block_on([&]() -> task<void> {
    EXPECT_EQ((co_await timeout(1ms, slow())).error(), std::errc::timed_out);
    EXPECT_EQ(ended.load(), 2) << "nothing of it is left running";
  });
}

TEST_P(TimeoutEverywhere, AnExceptionInTimeArrives) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    const auto fails = []() -> task<int> {
      co_await yield();
      throw std::runtime_error("in time");
    };
    EXPECT_THROW((void)co_await timeout(generous, fails()), std::runtime_error);
  });
}

TEST_P(TimeoutEverywhere, AStopFromAboveIsNoTimeout) {
  runtime_context ctx{with(2)};
  std::atomic<int> began{0};
  auto handle = ctx.spawn([&]() -> task<std::error_code> {
    count(began);
    const auto slept = co_await timeout(1h, sleep_for(1h));
    co_return slept.error();
  });
  wait_for(began, 1);
  handle.request_stop();
  EXPECT_EQ(handle.get(), std::errc::operation_canceled);
}

TEST_P(TimeoutEverywhere, TakesEverythingThatCanBeAwaited) {
  runtime_context ctx{with(2)};
  ctx.block_on([]() -> task<void> {
    EXPECT_EQ((co_await timeout(generous, compute([] { return 1; }))).value(), 1);
    EXPECT_EQ((co_await timeout(generous, blocking([] { return 2; }))).value(), 2);
    EXPECT_TRUE((co_await timeout(generous, yield())).has_value());
    EXPECT_EQ((co_await timeout(generous, spawn(after(1ms, 3)))).value(), 3);
    EXPECT_EQ((co_await timeout(generous, timeout(1ms, after(1h, 3)))).error(), std::errc::timed_out) << "nested";
    // A sleep, which says that it was stopped: a value that comes even then is given.
    EXPECT_EQ((co_await timeout(1ms, timeout(1h, sleep_for(1h)))).error(), std::errc::timed_out);
  });
}

/// The handle is let go, the task is somebody else's and goes on.
TEST_P(TimeoutEverywhere, OfAHandleDoesNotWaitForItsTask) {
  runtime_context ctx{with(2)};
  gate go;
  std::atomic<int> ended{0};
  ctx.block_on([&]() -> task<void> {
    auto handle = spawn([&]() -> task<void> {
      co_await go.pass();
      count(ended);
    });
    EXPECT_EQ((co_await timeout(1ms, std::move(handle))).error(), std::errc::timed_out);
    EXPECT_EQ(ended.load(), 0);
    go.open();
  });
  EXPECT_EQ(ended.load(), 1);
}

TEST_P(TimeoutEverywhere, RacesOfEndAndDeadlineGiveOneOfTheTwo) {
  runtime_context ctx{with(4)};
  std::minstd_rand random(static_cast<unsigned>(seed()));
  std::atomic<int> in_time{0};
  std::atomic<int> late{0};
  constexpr int rounds = sanitized ? 300 : 2000;
  ctx.block_on([&]() -> task<void> {
    for (int round = 0; round < rounds; ++round) {
      const auto limit = std::chrono::microseconds(random() % 2000);
      const auto takes = std::chrono::microseconds(random() % 2000);
      (void)spawn([&, limit, takes]() -> task<void> {
        const auto got = co_await timeout(limit, after(takes, 5));
        if (got) {
          EXPECT_EQ(*got, 5);
        } else {
          EXPECT_EQ(got.error(), std::errc::timed_out);
        }
        count(got ? in_time : late);
      });
    }
    co_return;
  });
  EXPECT_EQ(in_time.load() + late.load(), rounds);
}

TEST_P(TimeoutEverywhere, IntervalBeatsWithoutDrift) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    const auto began = clock::now();
    interval every(2ms);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE((co_await every.tick()).has_value());
    EXPECT_GE(clock::now() - began, 20ms);
    EXPECT_LT(clock::now() - began, generous);
  });
}

TEST(TimeoutTest, IntervalSkipsBeatsThatWereMissedAltogether) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<void> {
    interval every(1ms);
    co_await sleep_for(20ms);
    const auto began = clock::now();
    co_await every.tick();  // late: at once
    co_await every.tick();  // on the beat again
    co_await every.tick();
    EXPECT_GE(clock::now() - began, 1ms) << "they do not all come at once";
  });
}

TEST(TimeoutTest, AStopEndsAnInterval) {
  runtime_context ctx{{.workers = 1}};
  std::atomic<int> beats{0};
  auto handle = ctx.spawn([&]() -> task<void> {
    interval every(1ms);
    while (auto beat = co_await every.tick()) count(beats);
  });
  wait_for(beats, 3);
  handle.request_stop();
  handle.get();
}

TEST(TimeoutTest, NonsensicalAndEndlessPeriods) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<void> {
    EXPECT_THROW(interval(0ms), std::invalid_argument);
    EXPECT_THROW(interval(-1ms), std::invalid_argument);
    interval for_ever(std::chrono::nanoseconds::max());
    EXPECT_EQ((co_await timeout(1ms, for_ever.tick())).error(), std::errc::timed_out);
    EXPECT_EQ((co_await timeout(1ms, sleep_for(std::chrono::nanoseconds::max()))).error(), std::errc::timed_out);
    EXPECT_TRUE((co_await timeout(std::chrono::nanoseconds::max(), after(1ms, 1))).has_value());
    EXPECT_EQ((co_await timeout(-1h, after(1h, 1))).error(), std::errc::timed_out);
  });
}

/// Time stands still unless it is moved.
class hand_clock final : public ioengine::clock {
 public:
  [[nodiscard]] ioengine::time_point now() const noexcept override { return _at; }
  void move_by(std::chrono::nanoseconds more) { _at = _at.load() + more; }

 private:
  std::atomic<ioengine::time_point> _at = std::chrono::steady_clock::now();
};

/// Made, then an hour passes, then it is awaited on the only worker: has it ended before its own 10 ms have passed?
template <class Made>
bool ends_early(Made make) {
  hand_clock time;
  runtime_context ctx{{.workers = 1, .clock = &time}};
  return ctx.block_on([&]() -> task<bool> {
    auto made = make();
    time.move_by(1h);
    bool ended = false;
    auto waiting = spawn([&]() -> task<void> {
      (void)co_await std::move(made);
      ended = true;
    });
    for (int i = 0; i < 1000; ++i) co_await yield();
    const bool early = ended;
    time.move_by(20ms);  // a wheel may be a millisecond late
    co_await std::move(waiting);
    co_return early;
  });
}

TEST(TimeTest, BeginsWithTheAwait) {
  EXPECT_FALSE(ends_early([] { return sleep_for(10ms); }));
  EXPECT_FALSE(ends_early([] { return timeout(10ms, after(2h, 0)); }));
}

TEST(TimeTest, NeedsNoRuntimeToBeAskedFor) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator{});
  };
  const auto before = threads();
  [[maybe_unused]] const auto asleep = sleep_for(1s);
  auto limited = timeout(1s, after(1ms, 3));
  const interval every(1s);
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace faio::tests
