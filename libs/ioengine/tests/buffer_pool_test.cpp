// buffer_pool -- receiving into buffers that are taken when there is data: given back, used up, cancelled.
#include "faio/ioengine/buffer_pool.hpp"

#include <set>

#include "engine_fixture.hpp"

namespace faio::ioengine::testing {
namespace {

/// Keeps what it received, and gives buffers back at once unless told to hold them.
struct receiver : operation {
  buffer_pool& pool;
  std::string received;
  std::vector<std::uint16_t> held;
  std::vector<int> results;
  bool hold = false;
  explicit receiver(buffer_pool& from)
      : operation([](operation& op) noexcept {
          auto& self = static_cast<receiver&>(op);
          self.results.push_back(op.result());
          EXPECT_EQ(op.has_buffer(), op.result() > 0);
          if (!op.has_buffer()) return;
          const auto data = self.pool.data(op);
          self.received.append(reinterpret_cast<const char*>(data.data()), data.size());
          if (self.hold)
            self.held.push_back(op.buffer_id());
          else
            self.pool.give_back(op.buffer_id());
        }),
        pool(from) {}
};

class BufferPoolTest : public io_fixture {
 protected:
  std::unique_ptr<buffer_pool> make_pool(std::uint32_t count, std::uint32_t size) {
    auto made = buffer_pool::create(*io, {.count = count, .size = size});
    if (!made) {
      ADD_FAILURE() << made.error().message();
      std::abort();
    }
    return std::move(*made);
  }
  void finish(operation& op) {
    while (op.in_flight()) io->wait_and_drive();
  }
};
FAIO_FOR_IO_KINDS(BufferPoolTest);

TEST_P(BufferPoolTest, RefusesSizesThatMakeNoSense) {
  for (const auto& options :
       {buffer_pool_options{.count = 0, .size = 64}, buffer_pool_options{.count = 3, .size = 64},
        buffer_pool_options{.count = 65536, .size = 64}, buffer_pool_options{.count = 4, .size = 0}}) {
    const auto made = buffer_pool::create(*io, options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), std::errc::invalid_argument);
  }
}

TEST_P(BufferPoolTest, ReceivesOnceIntoABuffer) {
  auto pool = make_pool(4, 64);
  auto [here, there] = make_socketpair();
  receiver receive(*pool);
  receive.hold = true;
  receive.prepare_recv(here, *pool);
  io->submit(receive);
  io->drive();
  EXPECT_EQ(pool->available(), 4U);  // nothing is taken while nothing has come
  ASSERT_EQ(::send(there, "hello", 5, 0), 5);
  finish(receive);
  EXPECT_EQ(receive.received, "hello");
  EXPECT_EQ(pool->available(), 3U);
  pool->give_back(receive.held[0]);
  EXPECT_EQ(pool->available(), 4U);
}

TEST_P(BufferPoolTest, AMultishotReceiveGoesOnUntilThePeerEnds) {
  auto pool = make_pool(4, 16);
  auto [here, there] = make_socketpair();
  receiver receive(*pool);
  receive.prepare_recv_multishot(here, *pool);
  io->submit(receive);
  std::string sent;
  for (int i = 0; i < 100; ++i) {
    const std::string piece = "piece " + std::to_string(i) + ";";
    ASSERT_EQ(::send(there, piece.data(), piece.size(), 0), static_cast<ssize_t>(piece.size()));
    sent += piece;
    while (receive.received.size() < sent.size()) io->wait_and_drive();
  }
  EXPECT_TRUE(receive.in_flight());
  there.reset();
  finish(receive);
  EXPECT_EQ(receive.received, sent);
  EXPECT_EQ(receive.results.back(), 0);
  EXPECT_EQ(pool->available(), 4U);
}

TEST_P(BufferPoolTest, AMultishotReceiveGoesOnWhenTheCompletionQueueWasFull) {
  auto small_options = options();
  small_options.ring_entries = 1;
  io = make_engine(small_options);
  const auto pool = make_pool(64, 16);
  auto [here, there] = make_socketpair();
  std::string sent;
  for (int i = 0; i < 30; ++i) sent += std::string(16, static_cast<char>('a' + i % 26));
  ASSERT_EQ(::send(there, sent.data(), sent.size(), 0), static_cast<ssize_t>(sent.size()));
  receiver receive(*pool);
  receive.prepare_recv_multishot(here, *pool);
  io->submit(receive);
  while (receive.in_flight() && receive.received.size() < sent.size()) io->wait_and_drive();
  EXPECT_TRUE(receive.in_flight());
  EXPECT_EQ(receive.received, sent);
  there.reset();
  finish(receive);
  EXPECT_EQ(receive.results.back(), 0);
  EXPECT_EQ(pool->available(), pool->count());
}

TEST_P(BufferPoolTest, SaysWhenThereIsNoMemoryForIt) {
  if (sanitized) GTEST_SKIP() << "the sanitizers end the program instead";
  const auto made = buffer_pool::create(*io, {.count = 32768, .size = 0xffff'ffffU});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), std::errc::not_enough_memory);
}

TEST_P(BufferPoolTest, SaysWhenItIsUsedUp) {
  auto pool = make_pool(2, 8);
  auto [here, there] = make_socketpair();
  receiver receive(*pool);
  receive.hold = true;
  receive.prepare_recv_multishot(here, *pool);
  io->submit(receive);
  ASSERT_EQ(::send(there, "0123456789abcdefghijklmn", 24, 0), 24);
  finish(receive);
  EXPECT_EQ(receive.results, (std::vector<int>{8, 8, -ENOBUFS}));
  EXPECT_EQ(pool->available(), 0U);
  for (const auto id : receive.held) pool->give_back(id);
  receive.hold = false;
  io->submit(receive);  // goes on where it stopped
  while (receive.received.size() < 24) io->wait_and_drive();
  EXPECT_EQ(receive.received, "0123456789abcdefghijklmn");
  io->cancel(receive);
  finish(receive);
  EXPECT_EQ(pool->available(), 2U);
}

TEST_P(BufferPoolTest, AReceiveThatIsSubmittedWhileItIsUsedUpEndsAtOnce) {
  auto pool = make_pool(1, 8);
  auto [here, there] = make_socketpair();
  receiver receive(*pool);
  receive.hold = true;
  receive.prepare_recv(here, *pool);
  ASSERT_EQ(::send(there, "x", 1, 0), 1);
  io->submit(receive);
  finish(receive);
  io->submit(receive);  // nothing to receive, and nothing to receive it into
  finish(receive);
  EXPECT_EQ(receive.results, (std::vector<int>{1, -ENOBUFS}));
  pool->give_back(receive.held[0]);
}

TEST_P(BufferPoolTest, GetsItsBuffersBackWhenOperationsAreCancelled) {
  auto pool = make_pool(8, 16);
  std::mt19937_64 random(test_seed());
  std::printf("FAIO_SEED=%llu\n", static_cast<unsigned long long>(test_seed()));
  for (int round = 0; round < (sanitized ? 300 : 3000); ++round) {
    auto [here, there] = make_socketpair();
    receiver receive(*pool);
    if (round % 2 == 0)
      receive.prepare_recv(here, *pool);
    else
      receive.prepare_recv_multishot(here, *pool);
    io->submit(receive);
    if (random() % 2 == 0) io->drive();
    if (random() % 2 == 0) {
      ASSERT_EQ(::send(there, "data", 4, 0), 4);
    }
    if (random() % 4 == 0) there.reset();
    if (random() % 2 == 0) io->drive();
    io->cancel(receive);
    finish(receive);
    ASSERT_EQ(pool->available(), 8U) << "round " << round;
  }
}

// MSG_WAITALL keeps the buffer that the first piece went into, so a cancel meets an operation that has taken one.
TEST_P(BufferPoolTest, GetsTheBufferBackThatACancelledOperationHadTaken) {
  auto pool = make_pool(8, 16);
  for (int round = 0; round < 100; ++round) {
    auto [here, there] = make_socketpair();
    receiver receive(*pool);
    receive.prepare_recv(here, *pool, MSG_WAITALL);
    io->submit(receive);
    io->drive();
    ASSERT_EQ(::send(there, "data", 4, 0), 4);
    io->drive();
    io->cancel(receive);
    finish(receive);
    ASSERT_TRUE(receive.results.back() == 4 || receive.results.back() == -ECANCELED) << receive.results.back();
    ASSERT_EQ(pool->available(), 8U) << "round " << round;
  }
  // Not only the count: all eight can be had at once.
  auto [here, there] = make_socketpair();
  receiver receive(*pool);
  receive.hold = true;
  receive.prepare_recv(here, *pool);
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(::send(there, "x", 1, 0), 1);
    io->submit(receive);
    finish(receive);
    ASSERT_EQ(receive.results.back(), 1) << "piece " << i;
  }
  EXPECT_EQ(std::set<std::uint16_t>(receive.held.begin(), receive.held.end()).size(), 8U);
  for (const auto id : receive.held) pool->give_back(id);
}

TEST_P(BufferPoolTest, ManyConnectionsShareAFewBuffers) {
  auto pool = make_pool(4, 32);
  std::vector<fd_pair> pairs;
  std::vector<std::unique_ptr<receiver>> receivers;
  for (int i = 0; i < 100; ++i) {
    pairs.push_back(make_socketpair());
    receivers.push_back(std::make_unique<receiver>(*pool));
    receivers.back()->prepare_recv_multishot(pairs.back().first, *pool);
    io->submit(*receivers.back());
  }
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      ASSERT_EQ(::send(pairs[i].second, "z", 1, 0), 1);
      const auto expected = static_cast<std::size_t>(round) + 1;
      while (receivers[i]->received.size() < expected) {
        io->wait_and_drive();
        for (auto& each : receivers)
          if (!each->in_flight()) io->submit(*each);  // one that met an empty pool
      }
    }
  }
  io->drain();
  EXPECT_EQ(pool->available(), 4U);
}

TEST_P(BufferPoolTest, SeveralPoolsAreApart) {
  auto small = make_pool(2, 8);
  auto large = make_pool(2, 64);
  auto [here, there] = make_socketpair();
  receiver receive_small(*small);
  receive_small.prepare_recv(here, *small);
  ASSERT_EQ(::send(there, "0123456789", 10, 0), 10);
  io->submit(receive_small);
  finish(receive_small);
  EXPECT_EQ(receive_small.received, "01234567");
  receiver receive_large(*large);
  receive_large.prepare_recv(here, *large);
  io->submit(receive_large);
  finish(receive_large);
  EXPECT_EQ(receive_large.received, "89");
  small.reset();
  auto third = make_pool(2, 8);  // takes the place of the one that is gone
  receiver receive_third(*third);
  receive_third.prepare_recv(here, *third);
  ASSERT_EQ(::send(there, "third", 5, 0), 5);
  io->submit(receive_third);
  finish(receive_third);
  EXPECT_EQ(receive_third.received, "third");
}

TEST(ThreadEngine, HasNoBufferPools) {
  auto io = make_engine({.kind = engine_kind::thread});
  const auto made = buffer_pool::create(*io);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), std::errc::operation_not_supported);
}

}  // namespace
}  // namespace faio::ioengine::testing
