// engine -- the turn of the loop on every kind: submitting, completing, misuse, timers.
#include "faio/ioengine/engine.hpp"

#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>

#include "engine_fixture.hpp"
#include "faio/ioengine/buffer_pool.hpp"

namespace faio::ioengine::testing {
namespace {

class EngineTest : public io_fixture {};
FAIO_FOR_IO_KINDS(EngineTest);

TEST_P(EngineTest, SaysWhichKindItIsAndWhy) {
  if (GetParam() != engine_kind::automatic) {
    EXPECT_EQ(io->kind(), GetParam());
  }
  EXPECT_NE(io->kind(), engine_kind::automatic);
  EXPECT_FALSE(io->kind_reason().empty());
}

TEST_P(EngineTest, CompletesANop) {
  recorded op;
  op.prepare_nop();
  EXPECT_EQ(run(op), 0);
  EXPECT_EQ(op.results.size(), 1U);
  EXPECT_FALSE(op.in_flight());
}

TEST_P(EngineTest, NeverCompletesInsideSubmit) {
  recorded op;
  op.prepare_nop();
  EXPECT_TRUE(io->submit(op));
  EXPECT_TRUE(op.in_flight());
  EXPECT_TRUE(op.results.empty());
  EXPECT_EQ(io->in_flight(), 1U);
  finish(op);
  EXPECT_EQ(io->in_flight(), 0U);
}

TEST_P(EngineTest, CountsWhatADriveCompleted) {
  std::array<recorded, 5> ops;
  for (auto& op : ops) {
    op.prepare_nop();
    io->submit(op);
  }
  std::size_t called = 0;
  while (called < ops.size()) called += io->wait_and_drive();
  EXPECT_EQ(called, ops.size());
  EXPECT_EQ(io->drive(), 0U);
}

TEST_P(EngineTest, CompletesNoMoreThanTheLimitInOneDriveAndInTheirOrder) {
  struct numbered : operation {
    explicit numbered(std::vector<int>& done, int mine)
        : operation([](operation& op) noexcept {
            auto& self = static_cast<numbered&>(op);
            self.all->push_back(self.number);
          }),
          all(&done),
          number(mine) {}
    std::vector<int>* all;
    int number;
  };
  constexpr int count = 10;
  constexpr std::size_t most = 3;
  std::vector<int> done;
  done.reserve(count);
  std::vector<std::unique_ptr<numbered>> ops;
  for (int i = 0; i < count; ++i) ops.push_back(std::make_unique<numbered>(done, i));
  io->limit_completions(most);
  for (const auto& each : ops) {
    each->prepare_nop();
    io->submit(*each);
  }
  while (done.size() < count) {
    const std::size_t before = done.size();
    EXPECT_LE(io->wait_and_drive(), most);
    EXPECT_LE(done.size() - before, most);
    if (done.size() < count && done.size() > before) {
      EXPECT_TRUE(io->answers_soon()) << "what is left must not wait for a sleep";
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(done));
}

TEST_P(EngineTest, SaysWhetherADriveMightCallSomething) {
  io->drive();  // a message of the engine to itself, from its beginning
  EXPECT_FALSE(io->answers_soon());
  recorded op;
  op.prepare_nop();
  io->submit(op);
  EXPECT_TRUE(io->answers_soon()) << "the kernel does it at once";
  finish(op);
  EXPECT_FALSE(io->answers_soon());
}

TEST_P(EngineTest, WhatWaitsForSomebodyElseGoesToTheKernelWithTheSleep) {
  if (io->kind() != engine_kind::uring) GTEST_SKIP() << "only a ring gathers what is submitted";
  const auto ends = make_socketpair();
  std::array<std::byte, 1> into{};
  recorded op;
  op.prepare_recv(ends.first, into);
  io->drive();
  EXPECT_EQ(io->unsubmitted(), 0U);
  io->submit(op);
  EXPECT_EQ(io->unsubmitted(), 1U);
  EXPECT_FALSE(io->answers_soon()) << "nobody has sent anything";
  ASSERT_EQ(::send(ends.second, "x", 1, 0), 1);
  EXPECT_EQ(io->wait_and_drive(), 1U);
  EXPECT_EQ(op.results, std::vector<int>{1});
  EXPECT_EQ(io->unsubmitted(), 0U);
}

TEST_P(EngineTest, ADueTimerIsAReasonToDrive) {
  int fired = 0;
  struct counting : timer_entry {
    int* count;
    explicit counting(int& to)
        : timer_entry([](timer_entry& self) noexcept { ++*static_cast<counting&>(self).count; }), count(&to) {}
  } timer(fired);
  io->drive();
  io->add_timer(timer, clock::steady().now() + 1h);
  EXPECT_FALSE(io->answers_soon());
  io->rearm_timer(timer, clock::steady().now() - 1s);
  while (!io->answers_soon()) std::this_thread::yield();
  while (fired == 0) io->drive();
  EXPECT_EQ(fired, 1);
}

TEST_P(EngineTest, AnOperationCanBeSubmittedAgainFromItsOwnFunction) {
  struct repeated : operation {
    engine* io = nullptr;
    int left = 1000;
    repeated()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<repeated&>(op);
            if (--self.left > 0) self.io->submit(self);
          }) {}
  } op;
  op.io = io.get();
  op.prepare_nop();
  io->submit(op);
  while (op.in_flight()) io->wait_and_drive();
  EXPECT_EQ(op.left, 0);
}

TEST_P(EngineTest, AnOperationMayBeDestroyedInItsOwnFunction) {
  struct suicidal : operation {
    int* gone;
    explicit suicidal(int* counter)
        : operation([](operation& op) noexcept { delete static_cast<suicidal*>(&op); }), gone(counter) {}
    ~suicidal() { ++*gone; }
  };
  int gone = 0;
  for (int i = 0; i < 10; ++i) {
    auto* op = new suicidal(&gone);
    op->prepare_nop();
    io->submit(*op);
  }
  while (io->in_flight() != 0) io->wait_and_drive();
  EXPECT_EQ(gone, 10);
}

TEST_P(EngineTest, CompletesAHundredThousandOperationsOnA64EntryRing) {
  auto options_small = options();
  options_small.ring_entries = 64;
  auto small = make_engine(options_small);
  std::deque<recorded> ops(100'000);
  for (auto& op : ops) {
    op.prepare_nop();
    small->submit(op);
  }
  EXPECT_EQ(small->in_flight(), ops.size());
  std::size_t completed = 0;
  while (small->in_flight() != 0) completed += small->wait_and_drive();
  EXPECT_EQ(completed, ops.size());
  for (auto& op : ops) ASSERT_EQ(op.results, std::vector<int>{0});
}

TEST_P(EngineTest, KeepsAHundredThousandReadsWaitingOnA64EntryRing) {
  auto options_small = options();
  options_small.ring_entries = 64;
  auto small = make_engine(options_small);
  auto [reader, writer] = make_pipe();
  std::deque<recorded> ops(sanitized ? 5'000 : 100'000);
  std::vector<std::array<std::byte, 1>> buffers(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].prepare_read(reader, buffers[i]);
    small->submit(ops[i]);
  }
  EXPECT_EQ(small->drive(), 0U);
  EXPECT_EQ(small->in_flight(), ops.size());
  // The completion queue overflows many times over: every read gets its byte all the same.
  std::vector<char> data(4096, 'x');
  std::size_t written = 0;
  while (written < ops.size()) {
    const auto got = ::write(writer, data.data(), std::min(data.size(), ops.size() - written));
    ASSERT_GT(got, 0);
    written += static_cast<std::size_t>(got);
    const std::size_t left = ops.size() - written;
    while (small->in_flight() > left) small->wait_and_drive();
  }
  for (auto& op : ops) ASSERT_EQ(op.results, std::vector<int>{1});
}

// Misuse that the kernel can tell: the same error on every kind, for every operation.

TEST_P(EngineTest, GivesAnErrorForABadDescriptor) {
  std::array<std::byte, 8> buffer{};
  iovec vector{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  auto pool = buffer_pool::create(*io, {.count = 2, .size = 8});
  ASSERT_TRUE(pool);
  const auto closed = make_pipe().first.fd;  // a number that was one
  for (const int fd : {-1, -100, 1'000'000, closed}) {
    std::array<recorded, 18> ops;
    std::size_t count = 0;
    const auto next = [&]() -> recorded& { return ops[count++]; };
    next().prepare_read(fd, buffer);
    next().prepare_write(fd, buffer);
    next().prepare_readv(fd, std::span(&vector, 1));
    next().prepare_writev(fd, std::span(&vector, 1), 0);
    next().prepare_recv(fd, buffer);
    next().prepare_recv(fd, **pool);
    next().prepare_recv_multishot(fd, **pool);
    next().prepare_send(fd, buffer);
    next().prepare_send_zero_copy(fd, buffer);
    next().prepare_recvmsg(fd, message);
    next().prepare_sendmsg(fd, message);
    next().prepare_accept(fd);
    next().prepare_accept_multishot(fd);
    next().prepare_connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    next().prepare_shutdown(fd, SHUT_RDWR);
    next().prepare_fsync(fd);
    next().prepare_poll(fd, POLLIN);
    next().prepare_close(fd);
    ASSERT_EQ(count, ops.size());
    for (auto& op : ops) {
      EXPECT_EQ(run(op), -EBADF) << "opcode " << static_cast<int>(op.code()) << " on " << fd;
      EXPECT_EQ(op.results.size(), 1U);
    }
  }
}

TEST_P(EngineTest, GivesAnErrorForWhatIsNoSocket) {
  std::array<std::byte, 8> buffer{};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  const auto file = make_file("x");
  std::array<recorded, 5> ops;
  ops[0].prepare_recv(file, buffer);
  ops[1].prepare_send(file, buffer);
  ops[2].prepare_accept(file);
  ops[3].prepare_connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ops[4].prepare_shutdown(file, SHUT_RDWR);
  for (auto& op : ops) EXPECT_EQ(run(op), -ENOTSOCK) << "opcode " << static_cast<int>(op.code());
}

TEST_P(EngineTest, GivesAnErrorForANullBuffer) {
  auto [reader, writer] = make_pipe();
  auto sockets = make_socketpair();
  const auto file = make_file("content");
  ASSERT_EQ(::write(writer, "x", 1), 1);
  ASSERT_EQ(::send(sockets.second, "x", 1, 0), 1);
  const std::span<std::byte> nothing(static_cast<std::byte*>(nullptr), 8);
  iovec vector{nullptr, 8};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  std::array<recorded, 13> ops;
  std::size_t count = 0;
  const auto next = [&]() -> recorded& { return ops[count++]; };
  next().prepare_read(reader, nothing);
  next().prepare_read(file, nothing, 0);
  next().prepare_write(writer, nothing);
  next().prepare_write(file, nothing, 0);
  next().prepare_readv(reader, std::span(&vector, 1));
  next().prepare_readv(reader, std::span<const iovec>(static_cast<const iovec*>(nullptr), 1));
  next().prepare_writev(file, std::span(&vector, 1), 0);
  next().prepare_recv(sockets.first, nothing);
  next().prepare_send(sockets.first, nothing);
  next().prepare_recvmsg(sockets.first, message);
  next().prepare_sendmsg(sockets.first, message);
  next().prepare_openat(AT_FDCWD, nullptr, O_RDONLY);
  next().prepare_connect(sockets.first, nullptr, sizeof(sockaddr_in));
  ASSERT_EQ(count, ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i)
    EXPECT_EQ(run(ops[i]), -EFAULT) << "number " << i << ", opcode " << static_cast<int>(ops[i].code());
}

TEST_P(EngineTest, RefusesAnOperationThatIsInFlight) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded op;
  op.prepare_read(reader, buffer);
  io->submit(op);
#ifdef NDEBUG
  EXPECT_FALSE(io->submit(op));
  EXPECT_EQ(io->in_flight(), 1U);
#else
  EXPECT_DEATH(io->submit(op), "in flight was submitted again");
#endif
  io->cancel(op);
  finish(op);
  EXPECT_EQ(op.results, std::vector<int>{-ECANCELED});
}

TEST_P(EngineTest, RefusesToLoseAnOperationInFlight) {
  const auto lose_one = [this] {
    auto own = make_engine(options());
    auto ends = make_pipe();
    std::array<std::byte, 8> buffer{};
    recorded op;
    op.prepare_read(ends.first, buffer);
    own->submit(op);
  };
  EXPECT_DEATH(lose_one(), "destroyed in flight");
}

TEST_P(EngineTest, WaitsNoLongerThanTheDeadline) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(io->wait_and_drive(start + 5ms), 0U);
  EXPECT_GE(std::chrono::steady_clock::now(), start + 5ms);
}

TEST_P(EngineTest, ADeadlineAsLongAgoAsCanBeHasPassed) {
  EXPECT_EQ(io->wait_and_drive(time_point::min()), 0U);
  struct counted : timer_entry {
    int fired = 0;
    counted() : timer_entry([](timer_entry& self) noexcept { ++static_cast<counted&>(self).fired; }) {}
  } timer;
  io->add_timer(timer, time_point::min());
  EXPECT_TRUE(io->answers_soon());
  while (timer.fired == 0) io->wait_and_drive();
  timeout_operation timeout([](operation&) noexcept {});
  timeout.prepare_timeout(time_point::min());
  io->submit(timeout);
  while (timeout.in_flight()) io->wait_and_drive();
  EXPECT_EQ(timeout.result(), -ETIME);
  EXPECT_EQ(timer.fired, 1);
}

TEST_P(EngineTest, FiresTimersWhileItSleeps) {
  struct alarm : timer_entry {
    bool rang = false;
    alarm() : timer_entry([](timer_entry& self) noexcept { static_cast<alarm&>(self).rang = true; }) {}
  } timer, cancelled;
  const auto start = std::chrono::steady_clock::now();
  io->add_timer(timer, start + 3ms);
  io->add_timer(cancelled, start + 1ms);
  EXPECT_TRUE(io->cancel_timer(cancelled));
  EXPECT_EQ(io->wait_and_drive(), 1U);
  EXPECT_TRUE(timer.rang);
  EXPECT_FALSE(cancelled.rang);
  EXPECT_GE(std::chrono::steady_clock::now(), start + 3ms);
}

TEST_P(EngineTest, ATimeoutIsAnOperation) {
  timeout_operation timeout([](operation&) noexcept {});
  timeout.prepare_timeout(std::chrono::steady_clock::now() + 2ms);
  io->submit(timeout);
  while (timeout.in_flight()) io->wait_and_drive();
  EXPECT_EQ(timeout.result(), -ETIME);
  timeout.prepare_timeout(std::chrono::steady_clock::now() + 1h);
  io->submit(timeout);
  EXPECT_TRUE(io->cancel(timeout));
  while (timeout.in_flight()) io->wait_and_drive();
  EXPECT_EQ(timeout.result(), -ECANCELED);
}

TEST_P(EngineTest, TakesTimeFromTheClockItIsGiven) {
  struct manual_clock final : clock {
    time_point time{};
    [[nodiscard]] time_point now() const noexcept override { return time; }
  } manual;
  auto options_manual = options();
  options_manual.time = &manual;
  auto other = make_engine(options_manual);
  timeout_operation timeout([](operation&) noexcept {});
  timeout.prepare_timeout(manual.time + 24h);
  other->submit(timeout);
  EXPECT_EQ(other->drive(), 0U);
  manual.time += 24h;
  EXPECT_EQ(other->drive(), 1U);
  EXPECT_EQ(timeout.result(), -ETIME);
}

TEST(EngineOptions, NamesTheFieldThatMakesNoSense) {
  const auto ring = engine::create({.ring_entries = 0});
  ASSERT_FALSE(ring);
  EXPECT_NE(ring.error().message.find("ring_entries"), std::string::npos);
  const auto threads = engine::create({.blocking_threads = 0});
  ASSERT_FALSE(threads);
  EXPECT_NE(threads.error().message.find("blocking_threads"), std::string::npos);
  EXPECT_EQ(threads.error().code, std::errc::invalid_argument);
}

}  // namespace
}  // namespace faio::ioengine::testing
