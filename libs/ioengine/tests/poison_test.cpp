// poisoning -- under the address sanitizer, a buffer in flight that somebody touches is found at the touch.
#include "engine_fixture.hpp"
#include "faio/ioengine/buffer_pool.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FAIO_TEST_ADDRESS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAIO_TEST_ADDRESS 1
#endif
#endif

namespace faio::ioengine::testing {
namespace {

class PoisonTest : public io_fixture {
 protected:
  void SetUp() override {
#ifndef FAIO_TEST_ADDRESS
    GTEST_SKIP() << "only with the address sanitizer";
#endif
  }
};
FAIO_FOR_IO_KINDS(PoisonTest);

/// Submits a read that waits, touches its buffer, and ends in order if nobody minds.
void touch_in_flight(const engine_options& options) {
  auto io = make_engine(options);
  auto ends = make_pipe();
  auto buffer = std::make_unique<std::array<std::byte, 64>>();
  recorded read;
  read.prepare_read(ends.first, *buffer);
  io->submit(read);
  io->drive();
  (*buffer)[3] = std::byte{1};
  io->drain();
}

TEST_P(PoisonTest, FindsATouchOfABufferInFlight) { EXPECT_DEATH(touch_in_flight(options()), "use-after-poison"); }

TEST_P(PoisonTest, CanBeSwitchedOff) {
  auto without = options();
  without.poison_buffers = false;
  touch_in_flight(without);
}

TEST_P(PoisonTest, FindsABufferThatIsFreedAtSubmit) {
  const auto submit_freed = [this] {
    auto buffer = std::make_unique<std::array<std::byte, 64>>();
    const std::span<std::byte> dangling(*buffer);
    buffer.reset();
    auto ends = make_pipe();
    recorded read;
    read.prepare_read(ends.first, dangling);
    io->submit(read);
  };
  EXPECT_DEATH(submit_freed(), "freed, too short or in flight");
}

TEST_P(PoisonTest, FindsTwoReadsIntoOneBuffer) {
  const auto submit_twice = [this] {
    std::array<std::byte, 64> buffer{};
    auto ends = make_pipe();
    recorded first, second;
    first.prepare_read(ends.first, buffer);
    second.prepare_read(ends.first, buffer);
    io->submit(first);
    io->submit(second);
  };
  EXPECT_DEATH(submit_twice(), "freed, too short or in flight");
}

TEST_P(PoisonTest, FindsATouchOfAPoolsBufferThatWasGivenBack) {
  const auto touch_given_back = [this] {
    auto own = make_engine(options());  // the dying are children of a fork
    const auto pool = *buffer_pool::create(*own, {.count = 4, .size = 64});
    auto [here, there] = make_socketpair();
    recorded receive;
    receive.prepare_recv(here, *pool);
    (void)!::write(there, "abc", 3);
    own->submit(receive);
    while (receive.in_flight()) own->wait_and_drive();
    const auto data = pool->data(receive);
    data[0] = std::byte{1};  // ours
    pool->give_back(receive.buffer_id());
    data[0] = std::byte{2};
  };
  EXPECT_DEATH(touch_given_back(), "use-after-poison");
}

TEST_P(PoisonTest, LetsABufferBeSentTwiceAndReadMeanwhile) {
  auto [here, there] = make_socketpair();
  const std::array<std::byte, 64> buffer{std::byte{7}};
  recorded first, second;
  first.prepare_send(here, buffer);
  second.prepare_send(here, buffer);
  io->submit(first);
  io->submit(second);
  EXPECT_EQ(buffer[0], std::byte{7});
  finish(first);
  finish(second);
}

TEST_P(PoisonTest, ABufferIsOneSOwnAgainAfterTheCompletion) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 13> buffer{};  // not a multiple of the sanitizer's granule
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  ASSERT_EQ(::write(writer, "abc", 3), 3);
  finish(read);
  for (std::byte& each : buffer) each = std::byte{9};
  EXPECT_EQ(buffer[12], std::byte{9});
}

}  // namespace
}  // namespace faio::ioengine::testing
