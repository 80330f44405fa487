// cancelling -- ends its target exactly once, whoever is faster. At random, and with other threads: race_test.cpp.
#include <poll.h>

#include <deque>

#include "engine_fixture.hpp"

namespace faio::ioengine::testing {
namespace {

class CancelTest : public io_fixture {};
FAIO_FOR_IO_KINDS(CancelTest);

TEST_P(CancelTest, CompletesTheTargetExactlyOnce) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  io->drive();
  EXPECT_TRUE(io->cancel(read));
  EXPECT_TRUE(read.results.empty());  // never inside cancel
  finish(read);
  io->drive();
  EXPECT_EQ(read.results, std::vector<int>{-ECANCELED});
}

TEST_P(CancelTest, AsksForNothingWhenTheTargetIsIdle) {
  recorded nop;
  nop.prepare_nop();
  EXPECT_FALSE(io->cancel(nop));
  EXPECT_EQ(run(nop), 0);
  EXPECT_FALSE(io->cancel(nop));
}

TEST_P(CancelTest, CanBeAskedManyTimes) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(io->cancel(read));
  finish(read);
  EXPECT_EQ(read.results, std::vector<int>{-ECANCELED});
}

TEST_P(CancelTest, LeavesTheResultOfWhatHasAlreadyHappened) {
  recorded nop;
  nop.prepare_nop();
  io->submit(nop);
  EXPECT_TRUE(io->cancel(nop));
  finish(nop);
  ASSERT_EQ(nop.results.size(), 1U);
  EXPECT_TRUE(nop.results[0] == 0 || nop.results[0] == -ECANCELED);
}

TEST_P(CancelTest, DoesNotTouchTheNextLifeOfTheOperation) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  for (int i = 0; i < 100; ++i) {
    recorded read;
    read.prepare_read(reader, buffer);
    io->submit(read);
    ASSERT_EQ(::write(writer, "x", 1), 1);
    io->drive();
    io->cancel(read);
    finish(read);
    if (read.results[0] == -ECANCELED) {
      ASSERT_EQ(run(read), 1);  // the byte is still there
    } else {
      ASSERT_EQ(::write(writer, "y", 1), 1);
      ASSERT_EQ(run(read), 1);
    }
  }
}

TEST_P(CancelTest, EndsEveryKindOfWait) {
  auto [reader, writer] = make_pipe();
  auto sockets = make_socketpair();
  const owned_fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  std::array<std::byte, 8> first{}, second{}, third{};
  iovec vector{second.data(), second.size()};
  iovec message_vector{third.data(), third.size()};
  msghdr message{};
  message.msg_iov = &message_vector;
  message.msg_iovlen = 1;
  std::array<recorded, 4> ops;
  ops[0].prepare_read(reader, first);
  ops[1].prepare_readv(reader, std::span(&vector, 1));
  ops[2].prepare_recvmsg(sockets.first, message);
  ops[3].prepare_poll(sockets.second, POLLIN);
  for (auto& op : ops) io->submit(op);
  io->drive();
  for (auto& op : ops) io->cancel(op);
  for (auto& op : ops) {
    finish(op);
    EXPECT_EQ(op.results, std::vector<int>{-ECANCELED});
  }
}

TEST_P(CancelTest, WorksWhenTheSubmissionQueueIsFull) {
  auto small_options = options();
  small_options.ring_entries = 4;
  auto small = make_engine(small_options);
  auto [reader, writer] = make_pipe();
  std::deque<recorded> ops(200);
  std::vector<std::array<std::byte, 1>> buffers(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i].prepare_read(reader, buffers[i]);
    small->submit(ops[i]);
  }
  for (auto& op : ops) small->cancel(op);
  while (small->in_flight() != 0) small->wait_and_drive();
  for (auto& op : ops) ASSERT_EQ(op.results, std::vector<int>{-ECANCELED});
}

}  // namespace
}  // namespace faio::ioengine::testing
