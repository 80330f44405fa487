// drain -- everything in flight ends, on every kind, and the engine can be used again.
#include <poll.h>

#include <array>
#include <utility>
#include <vector>

#include "engine_fixture.hpp"
#include "faio/ioengine/engine.hpp"

namespace faio::ioengine::testing {
namespace {

class DrainTest : public io_fixture {};
FAIO_FOR_IO_KINDS(DrainTest);

TEST_P(DrainTest, DrainCancelsAndReapsEverything) {
  auto [reader, writer] = make_pipe();
  auto sockets = make_socketpair();
  std::array<std::byte, 8> buffer{};
  std::array<std::byte, 8> other{};
  recorded read, receive, poll, nop;
  timeout_operation timeout([](operation&) noexcept {});
  read.prepare_read(reader, buffer);
  receive.prepare_recv(sockets.first, other);
  poll.prepare_poll(reader, POLLIN);
  nop.prepare_nop();
  timeout.prepare_timeout(std::chrono::steady_clock::now() + 1h);
  for (operation* op :
       {static_cast<operation*>(&read), static_cast<operation*>(&receive), static_cast<operation*>(&poll),
        static_cast<operation*>(&nop), static_cast<operation*>(&timeout)})
    io->submit(*op);
  io->drain();
  EXPECT_EQ(io->in_flight(), 0U);
  EXPECT_EQ(read.results, std::vector<int>{-ECANCELED});
  EXPECT_EQ(receive.results, std::vector<int>{-ECANCELED});
  EXPECT_EQ(poll.results, std::vector<int>{-ECANCELED});
  EXPECT_EQ(nop.results.size(), 1U);
  EXPECT_EQ(timeout.result(), -ECANCELED);
}

TEST_P(DrainTest, CanBeUsedAfterADrain) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  io->drain();
  ASSERT_EQ(::write(writer, "abc", 3), 3);
  EXPECT_EQ(run(read), 3);
}

TEST_P(DrainTest, DrainsWhenItIsDestroyed) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  io->drive();
  io.reset();
  EXPECT_EQ(read.results, std::vector<int>{-ECANCELED});
}

TEST_P(DrainTest, DrainEndsWhatTheFunctionsSubmitMeanwhile) {
  struct stubborn : operation {
    engine* io = nullptr;
    int tries = 0;
    stubborn()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<stubborn&>(op);
            if (++self.tries < 5) self.io->submit(self);
          }) {}
  } op;
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  op.io = io.get();
  op.prepare_read(reader, buffer);
  io->submit(op);
  io->drain();
  EXPECT_EQ(op.tries, 5);
  EXPECT_EQ(op.result(), -ECANCELED);
}

TEST_P(DrainTest, DrainEndsAlsoWhatWouldSucceedAtOnce) {
  struct twice : operation {
    engine* io = nullptr;
    bool again = false;
    twice()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<twice&>(op);
            if (std::exchange(self.again, true)) return;
            self.prepare_nop();
            self.io->submit(self);
          }) {}
  } op;
  op.io = io.get();
  op.prepare_nop();
  io->submit(op);
  io->drain();
  EXPECT_TRUE(op.again);
  EXPECT_EQ(op.result(), -ECANCELED);
}

TEST_P(DrainTest, ADrainEndsAllAndKeepsTheLimit) {
  std::vector<recorded> ops(100);
  for (auto& op : ops) {
    op.prepare_nop();
    io->submit(op);
  }
  io->limit_completions(1);
  io->drain();
  for (const auto& op : ops) EXPECT_EQ(op.results.size(), 1U);
  recorded first, second;
  for (recorded* op : {&first, &second}) {
    op->prepare_nop();
    io->submit(*op);
  }
  EXPECT_EQ(io->wait_and_drive(), 1U) << "it holds again";
  while (second.in_flight()) io->wait_and_drive();
}

}  // namespace
}  // namespace faio::ioengine::testing
