// io_test -- operations of the engine, awaited: results, stopping, a worker that leaves while they are in flight.
#include "faio/context/io.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <latch>
#include <memory>
#include <vector>

#include "faio/context/context.hpp"
#include "faio/context/descriptor.hpp"

namespace faio {
namespace {

struct pipe_pair {
  pipe_pair() {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category(), "pipe2");
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
  ~pipe_pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2];
};

task<result<int>> read_one(int fd, std::byte& into) {
  co_return co_await context::io([&](ioengine::operation& op) { op.prepare_read(fd, std::span(&into, 1)); });
}

class IoTest : public testing::TestWithParam<engine_kind> {};

INSTANTIATE_TEST_SUITE_P(Engines, IoTest, testing::Values(engine_kind::automatic, engine_kind::epoll),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST_P(IoTest, GivesWhatTheOperationGave) {
  runtime_context ctx{{.workers = 2, .engine = GetParam()}};
  pipe_pair pipe;
  ASSERT_EQ(::write(pipe.ends[1], "x", 1), 1);
  std::byte got{};
  EXPECT_EQ(ctx.block_on(read_one(pipe.ends[0], got)), 1);
  EXPECT_EQ(got, std::byte{'x'});
}

TEST_P(IoTest, GivesTheErrorOfABadDescriptor) {
  runtime_context ctx{{.workers = 1, .engine = GetParam()}};
  std::byte got{};
  const auto gave = ctx.block_on(read_one(-1, got));
  ASSERT_FALSE(gave.has_value());
  EXPECT_EQ(gave.error(), std::errc::bad_file_descriptor);
}

/// One worker: what was spawned has begun to wait when the one that spawned it comes back from yield(), and nothing has been driven since. More of them
/// than a worker keeps so.
TEST_P(IoTest, StopRequestsReachOperationsThatHaveJustBegun) {
  constexpr std::size_t count = 200;
  runtime_context ctx{{.workers = 1, .engine = GetParam(), .io_interval = 10 * count}};
  std::vector<pipe_pair> pipes(count);
  ctx.block_on([&]() -> task<> {
    std::vector<std::byte> into(count);
    std::vector<join_handle<result<int>>> reads;
    for (std::size_t i = 0; i < count; ++i) reads.push_back(spawn(read_one(pipes[i].ends[0], into[i])));
    co_await yield();
    for (auto& each : reads) each.request_stop();
    for (auto& each : reads) {
      const auto gave = co_await each;
      EXPECT_TRUE(!gave && gave.error() == std::errc::operation_canceled);
    }
  });
}

/// A worker that always has something to run drives its engine now and then; what takes longer than that can be stopped, too.
TEST_P(IoTest, StopRequestsReachOperationsOfAWorkerThatNeverSleeps) {
  runtime_context ctx{{.workers = 1, .engine = GetParam()}};
  pipe_pair pipe;
  ctx.block_on([&]() -> task<> {
    std::byte into{};
    auto reading = spawn(read_one(pipe.ends[0], into));
    while (ctx.metrics().total().polls < 100) co_await yield();  // many drives
    reading.request_stop();
    while (!reading.done()) co_await yield();
    EXPECT_FALSE((co_await reading).has_value());
  });
}

/// More than the worker's queue holds. What overflows would wait at the end of the global queue, for as long as there is anything else to do.
TEST_P(IoTest, WhatCompletesTogetherDoesNotOverflow) {
  constexpr std::size_t count = 600;
  runtime_context ctx{{.workers = 1, .engine = GetParam()}};
  std::vector<pipe_pair> pipes(count);
  std::vector<std::byte> into(count);
  std::vector<join_handle<result<int>>> reads;
  for (std::size_t i = 0; i < count; ++i) reads.push_back(ctx.spawn(read_one(pipes[i].ends[0], into[i])));
  ctx.block_on([]() -> task<> {
    for (std::size_t turn = 0; turn < 2 * count; ++turn) co_await yield();  // behind them: all reads have begun
  });
  const auto before = ctx.metrics().total().overflows;
  std::latch busy(1), go_on(1);
  auto blocks = ctx.spawn([&] {
    busy.count_down();
    go_on.wait();
  });
  busy.wait();
  for (const pipe_pair& each : pipes) ASSERT_EQ(::write(each.ends[1], "x", 1), 1);
  go_on.count_down();
  blocks.get();
  for (auto& each : reads) EXPECT_EQ(each.get(), 1);
  EXPECT_EQ(ctx.metrics().total().overflows, before);
}

task<result<std::size_t>> read_from(context::descriptor& from, std::span<std::byte> into) {
  co_return co_await context::perform<std::size_t>(
      from, [into](ioengine::operation& op, int fd) noexcept { op.prepare_read(fd, into); });
}

TEST_P(IoTest, ADescriptorIsGivenBackWhenNobodyUsesItAnyMore) {
  runtime_context ctx{{.workers = 1, .engine = GetParam()}};  // one: the read has begun when the next one runs
  pipe_pair pipe;
  context::descriptor end(::dup(pipe.ends[0]));
  std::byte got{};
  ctx.block_on([&]() -> task<void> {
    auto reads = spawn(read_from(end, std::span(&got, 1)));
    co_await yield();
    co_await yield();
    end.close();
    EXPECT_GE(::fcntl(end.fd(), F_GETFD), 0) << "a read is in flight";
    EXPECT_EQ(::write(pipe.ends[1], "x", 1), 1);
    const auto gave = co_await std::move(reads);
    EXPECT_EQ(gave.error(), std::errc::bad_file_descriptor);
    EXPECT_LT(::fcntl(end.fd(), F_GETFD), 0);
    const auto again = co_await read_from(end, std::span(&got, 1));
    EXPECT_EQ(again.error(), std::errc::bad_file_descriptor);
  });
}

TEST_P(IoTest, EndsWithOperationCanceledWhenStopIsRequested) {
  runtime_context ctx{{.workers = 2, .engine = GetParam()}};
  pipe_pair pipe;
  std::byte got{};
  for (int round = 0; round < 200; ++round) {
    auto handle = ctx.spawn(read_one(pipe.ends[0], got));
    handle.request_stop();
    const auto gave = handle.get();
    ASSERT_FALSE(gave.has_value());
    EXPECT_EQ(gave.error(), std::errc::operation_canceled);
  }
}

TEST_P(IoTest, IsLimitedByATimeoutThatLeavesNothingRunning) {
  runtime_context ctx{{.workers = 2, .engine = GetParam()}};
  pipe_pair pipe;
  std::byte got{};
  const auto gave = ctx.block_on([&]() -> task<result<int>> {
    co_return co_await timeout(std::chrono::milliseconds(1), read_one(pipe.ends[0], got));
  });
  ASSERT_FALSE(gave.has_value());
  EXPECT_EQ(gave.error(), std::errc::timed_out);
}

/// Every read waits in the engine of a worker that leaves before there is anything to read; none of them sees that. The other worker is
/// held until then, so that it can steal none.
TEST_P(IoTest, GoesOnElsewhereWhenItsWorkerIsDetached) {
  constexpr std::size_t reads = 100;
  runtime_context ctx{{.workers = 1, .engine = GetParam()}};
  std::latch held(1);
  std::latch gone(1);
  ctx.post_to(0, [&] {
    held.count_down();
    gone.wait();
  });
  held.wait();
  const auto busy = ctx.attach_worker();
  ASSERT_TRUE(busy.has_value());

  std::vector<std::unique_ptr<pipe_pair>> pipes;
  std::vector<std::byte> bytes(reads);
  std::vector<join_handle<result<int>>> handles;
  std::latch begun(reads);
  for (std::size_t i = 0; i < reads; ++i) pipes.push_back(std::make_unique<pipe_pair>());
  std::latch spawned(1);
  ctx.post_to(*busy, [&] {
    for (std::size_t i = 0; i < reads; ++i) {
      handles.push_back(ctx.spawn([&, i]() -> task<result<int>> {
        begun.count_down();
        co_return co_await read_one(pipes[i]->ends[0], bytes[i]);
      }));
    }
    spawned.count_down();
  });
  spawned.wait();
  begun.wait();
  ASSERT_TRUE(ctx.detach_worker(*busy).has_value());
  gone.count_down();
  for (std::size_t i = 0; i < reads; ++i) ASSERT_EQ(::write(pipes[i]->ends[1], "y", 1), 1);
  for (std::size_t i = 0; i < reads; ++i) {
    EXPECT_EQ(handles[i].get(), 1);
    EXPECT_EQ(bytes[i], std::byte{'y'});
  }
}

TEST_P(IoTest, IsReapedWhenTheRuntimeStops) {
  pipe_pair pipe;
  std::array<std::byte, 50> bytes{};
  runtime_context ctx{{.workers = 2, .engine = GetParam()}};
  for (auto& each : bytes) ctx.spawn(read_one(pipe.ends[0], each));
  const auto report = ctx.stop();
  EXPECT_TRUE(report.finished);
  EXPECT_TRUE(report.still_running.empty());
}

/// One read, submitted on a worker of choice.
class read_there : public context::io_awaiter {
 public:
  read_there(scheduler::worker& there, int fd, std::byte& into) : _there(there) {
    prepare_read(fd, std::span(&into, 1));
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    suspend_on(_there, waiting.promise());
  }

 private:
  scheduler::worker& _there;
};

TEST_P(IoTest, AnOperationCanBeGivenToAnotherWorkerAndItsTaskGoesOnThere) {
  runtime_context ctx{{.workers = 2, .engine = GetParam()}};
  pipe_pair pipe;
  bool went_on_there = false;
  ctx.block_on([&]() -> task<void> {
    // More than once: a worker that lost its processor meanwhile gives the task away.
    for (int round = 0; round < 100 && !went_on_there; ++round) {
      EXPECT_EQ(::write(pipe.ends[1], "x", 1), 1);
      scheduler::worker& here = *scheduler::current_worker();
      scheduler::worker& other = here.home().station(1 - here.station());
      std::byte got{};
      EXPECT_EQ(co_await read_there(other, pipe.ends[0], got), 1);
      went_on_there = scheduler::current_worker() == &other;
    }
  });
  EXPECT_TRUE(went_on_there);
}

TEST_P(IoTest, AnOperationOnItsWayToAnotherWorkerCanBeStopped) {
  for (int round = 0; round < 50; ++round) {
    runtime_context ctx{{.workers = 2, .engine = GetParam()}};
    pipe_pair pipe;
    std::atomic<bool> on_its_way = false;
    auto handle = ctx.spawn([&]() -> task<result<int>> {
      scheduler::worker& here = *scheduler::current_worker();
      scheduler::worker& other = here.home().station(1 - here.station());
      std::byte got{};
      on_its_way = true;
      co_return co_await read_there(other, pipe.ends[0], got);
    });
    while (!on_its_way) std::this_thread::yield();
    handle.request_stop();
    const auto gave = handle.get();
    ASSERT_FALSE(gave.has_value());
    EXPECT_EQ(gave.error(), std::errc::operation_canceled);
  }
}

TEST_P(IoTest, ATaskGoesOnWhereItIsTold) {
  runtime_context ctx{{.workers = 2, .engine = GetParam()}};
  ctx.block_on([]() -> task<void> {
    for (int round = 0; round < 10; ++round) {
      scheduler::worker& here = *scheduler::current_worker();
      scheduler::worker& other = here.home().station(1 - here.station());
      co_await context::resume_on(other);
      EXPECT_EQ(scheduler::current_worker(), &other);
    }
  });
}

}  // namespace
}  // namespace faio
