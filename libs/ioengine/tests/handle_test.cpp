// native_handle -- an engine inside somebody else's event loop: the descriptor tells of everything there is to drive.
#include <poll.h>

#include <atomic>
#include <thread>

#include "engine_fixture.hpp"

namespace faio::ioengine::testing {
namespace {

class HandleTest : public io_fixture {
 protected:
  [[nodiscard]] bool readable(int timeout_ms) {
    pollfd state{io->native_handle(), POLLIN, 0};
    return ::poll(&state, 1, timeout_ms) == 1;
  }
  /// The foreign loop: sleeps in poll, never in the engine.
  template <class Condition>
  void loop_until(Condition condition) {
    while (!condition()) {
      ASSERT_TRUE(readable(10'000)) << "nothing told the loop";
      io->drive();
    }
  }
};
FAIO_FOR_IO_KINDS(HandleTest);

TEST_P(HandleTest, IsQuietWhenThereIsNothingToDo) {
  EXPECT_GE(io->native_handle(), 0);
  io->drive();
  io->drive();
  EXPECT_FALSE(readable(0));
}

TEST_P(HandleTest, TellsOfACompletion) {
  auto [reader, writer] = make_pipe();
  (void)io->native_handle();
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  io->drive();
  io->drive();
  EXPECT_FALSE(readable(0));
  ASSERT_EQ(::write(writer, "abc", 3), 3);
  loop_until([&] { return !read.in_flight(); });
  EXPECT_EQ(read.results, std::vector<int>{3});
}

TEST_P(HandleTest, TellsOfATimer) {
  (void)io->native_handle();
  timeout_operation timeout([](operation&) noexcept {});
  timeout.prepare_timeout(std::chrono::steady_clock::now() + 5ms);
  io->submit(timeout);
  loop_until([&] { return !timeout.in_flight(); });
  EXPECT_EQ(timeout.result(), -ETIME);
  timeout.prepare_timeout(std::chrono::steady_clock::now() + 5ms);  // and of the next one
  io->submit(timeout);
  io->drive();
  loop_until([&] { return !timeout.in_flight(); });
}

TEST_P(HandleTest, TellsOfATimerThatWasThereBefore) {
  timeout_operation timeout([](operation&) noexcept {});
  timeout.prepare_timeout(std::chrono::steady_clock::now() + 5ms);
  io->submit(timeout);
  loop_until([&] { return !timeout.in_flight(); });
}

TEST_P(HandleTest, TellsOfAWakeFromAnyThread) {
  (void)io->native_handle();
  for (int i = 0; i < 100; ++i) {
    std::jthread other([&] { io->wake(); });
    ASSERT_TRUE(readable(10'000));
    other.join();
    io->drive();
    io->drive();
    ASSERT_FALSE(readable(0));
  }
}

// With nothing under way an engine may choose another bed than its descriptors; a wake that comes before it lies down must not leave it chosen.
TEST_P(HandleTest, TellsOfAWakeAfterOneThatPreventedASleep) {
  io->drive();
  io->wake();
  EXPECT_EQ(io->wait_and_drive(), 0U);
  while (readable(0)) io->drive();
  for (int i = 0; i < 10; ++i) {
    std::jthread([&] { io->wake(); }).join();
    ASSERT_TRUE(readable(10'000)) << "the wake went to another bed";
    EXPECT_EQ(io->wait_and_drive(), 0U);
    while (readable(0)) io->drive();
  }
}

TEST_P(HandleTest, TellsOfWhatTheFunctionsSubmitted) {
  struct chain : operation {
    engine* io = nullptr;
    int left = 20;
    chain()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<chain&>(op);
            if (--self.left > 0) self.io->submit(self);
          }) {}
  } op;
  op.io = io.get();
  (void)io->native_handle();
  op.prepare_nop();
  io->submit(op);
  io->drive();
  loop_until([&] { return op.left == 0; });
}

TEST_P(HandleTest, WaitAndDriveStillWorks) {
  (void)io->native_handle();
  const auto deadline = std::chrono::steady_clock::now() + 2ms;
  EXPECT_EQ(io->wait_and_drive(deadline), 0U);
  io->wake();
  EXPECT_EQ(io->wait_and_drive(), 0U);
  recorded nop;
  nop.prepare_nop();
  EXPECT_EQ(run(nop), 0);
}

}  // namespace
}  // namespace faio::ioengine::testing
