// old kernels -- the uring engine with the flags of 6.0, 5.19, 5.18 and before, tried on the kernel that is here.
#include <deque>

#include "engine_fixture.hpp"
#include "uring_engine.hpp"

namespace faio::ioengine::testing {
namespace {

/// The parameter: how many of the best sets of flags are left out.
class OldKernelTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    if (!engine::create({.kind = engine_kind::uring})) GTEST_SKIP() << "io_uring is not allowed here";
    auto made = std::make_unique<detail::uring_engine>(options);
    const auto opened = made->open(options, GetParam());
    ASSERT_TRUE(opened) << opened.error().message;
    io = std::move(made);
  }
  engine_options options{.kind = engine_kind::uring, .ring_entries = 8};
  std::unique_ptr<engine> io;
};
INSTANTIATE_TEST_SUITE_P(Without, OldKernelTest, ::testing::Values(0, 1, 2, 3, 4));

TEST_P(OldKernelTest, CompletesCancelsAndDrains) {
  auto [reader, writer] = make_pipe();
  std::deque<recorded> reads(100);
  std::vector<std::array<std::byte, 1>> buffers(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i].prepare_read(reader, buffers[i]);
    io->submit(reads[i]);
  }
  ASSERT_EQ(::write(writer, "0123456789", 10), 10);
  while (io->in_flight() > 90) io->wait_and_drive();
  std::size_t cancelled = 0;
  for (std::size_t i = 0; i < reads.size(); i += 2) cancelled += io->cancel(reads[i]) ? 1 : 0;
  while (io->in_flight() > 90 - cancelled) io->wait_and_drive();
  io->drain();
  std::size_t bytes_read = 0;
  for (auto& read : reads) {
    ASSERT_EQ(read.results.size(), 1U);
    if (read.results[0] == 1)
      ++bytes_read;
    else
      EXPECT_EQ(read.results[0], -ECANCELED);
  }
  EXPECT_EQ(bytes_read, 10U);
}

TEST_P(OldKernelTest, SleepsAndIsWoken) {
  const auto deadline = std::chrono::steady_clock::now() + 2ms;
  EXPECT_EQ(io->wait_and_drive(deadline), 0U);
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  io->wake();
  EXPECT_EQ(io->wait_and_drive(), 0U);
}

}  // namespace
}  // namespace faio::ioengine::testing
