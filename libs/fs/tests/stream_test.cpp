// stream_test -- a file from front to back, in blocks of every size.
#include "faio/fs/stream.hpp"

#include <sys/stat.h>

#include <array>
#include <vector>

#include "faio/context/stream_errors.hpp"
#include "fs_fixture.hpp"

namespace faio::fs {
namespace {

class StreamTest : public FsTest {
 protected:
  static task<reader> reading(std::filesystem::path path, stream_options options = {}) {
    auto made = co_await reader::open(std::move(path), options);
    if (!made) throw std::system_error(made.error(), made.error().message());
    co_return std::move(*made);
  }
};
FAIO_ON_BOTH_ENGINES(StreamTest);

TEST_P(StreamTest, ReadsAFileFromFrontToBack) {
  const std::string text = pattern(100'000);
  put(in_folder("file"), text);
  for (const std::size_t block : {std::size_t{7}, std::size_t{4096}, std::size_t{50'000}, std::size_t{1 << 20}}) {
    ctx().block_on([&]() -> task<void> {
      auto from = co_await reading(in_folder("file"), {.block = block});
      std::string all;
      std::array<std::byte, 1000> piece{};
      for (;;) {
        const auto more = co_await from.read_some(piece);
        EXPECT_TRUE(more.has_value());
        if (!more || *more == 0) break;
        all += as_text(std::span(piece).first(*more));
      }
      EXPECT_TRUE(all == text) << block;

      auto again = co_await reading(in_folder("file"), {.offset = 10, .block = block});
      std::string blocks;
      for (;;) {
        const auto next = co_await again.next_block();
        if (!next || next->empty()) break;
        blocks += as_text(*next);
      }
      EXPECT_TRUE(blocks == text.substr(10)) << block;
    });
  }
}

TEST_P(StreamTest, ReadsLinesAcrossBlocks) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "line " + std::to_string(i) + "\r\n";
  put(in_folder("lines"), text + "rest");
  for (const std::size_t block : {std::size_t{3}, std::size_t{64}, std::size_t{128 * 1024}}) {
    ctx().block_on([&]() -> task<void> {
      auto from = co_await reading(in_folder("lines"), {.block = block});
      for (int i = 0; i < 1000; ++i) {
        const auto line = co_await from.read_until("\r\n");
        EXPECT_EQ(line, "line " + std::to_string(i) + "\r\n");
      }
      const auto none = co_await from.read_until("\r\n");
      EXPECT_EQ(none.error(), stream_errc::end_of_stream);
      EXPECT_EQ(none.error().path(), in_folder("lines"));
      const auto too_long = co_await from.read_until("\r\n", 3);
      EXPECT_EQ(too_long.error(), stream_errc::too_long);
      std::array<std::byte, 4> rest{};
      const auto exactly = co_await from.read_exactly(rest);
      EXPECT_TRUE(exactly.has_value());
      EXPECT_EQ(as_text(rest), "rest");
      const auto more = co_await from.read_exactly(rest);
      EXPECT_EQ(more.error(), stream_errc::end_of_stream);
    });
  }
}

TEST_P(StreamTest, MayBeDroppedWhileItReadsAhead) {
  put(in_folder("file"), pattern(1 << 20));
  ctx().block_on([&]() -> task<void> {
    for (int i = 0; i < 50; ++i) {
      auto from = co_await reading(in_folder("file"), {.block = 64 * 1024});
      std::array<std::byte, 10> piece{};
      (void)co_await from.read_some(piece);
    }
  });
}

TEST_P(StreamTest, GoesOnAfterAStopAndInAnotherTask) {
  const std::string text = pattern(300'000);
  put(in_folder("file"), text);
  ctx().block_on([&]() -> task<void> {
    auto from = co_await reading(in_folder("file"), {.block = 10'000});
    std::string all;
    // Each piece by a task of its own, under a time limit: what one read ahead is stopped when it ends.
    for (std::size_t i = 0;; ++i) {
      const auto one = [&]() -> task<fs::result<std::size_t>> {
        auto next = co_await from.next_block();
        if (!next) co_return std::unexpected(next.error());
        all += as_text(*next);
        co_return next->size();
      };
      auto reads = i % 2 == 0 ? one() : timeout(1h, one());
      auto handle = spawn(std::move(reads));
      if (i % 3 == 0) handle.request_stop();
      const auto got = co_await std::move(handle);
      if (!got) {
        EXPECT_EQ(got.error(), std::errc::operation_canceled);
        continue;
      }
      if (*got == 0) break;
    }
    EXPECT_TRUE(all == text);
  });
}

/// What it had copied by then is there for the next who reads.
TEST_P(StreamTest, ReadExactlyTakesAllOrNothing) {
  const std::string text = "0123456789abcdef";
  put(in_folder("file"), text);
  for (const std::size_t block : {std::size_t{1}, std::size_t{4}, std::size_t{5}, std::size_t{100}}) {
    ctx().block_on([&]() -> task<void> {
      auto from = co_await reading(in_folder("file"), {.block = block});
      std::array<std::byte, 1> first{};
      (void)co_await from.read_exactly(first);
      std::array<std::byte, 6> six{};
      auto stopped = spawn([&]() -> task<fs::result<void>> {
        const auto token = co_await current_stop_token();
        while (!token.stop_requested()) co_await yield();
        co_return co_await from.read_exactly(six);
      });
      stopped.request_stop();
      const auto ended = co_await std::move(stopped);
      if (ended) {
        EXPECT_EQ(as_text(six), text.substr(1, 6)) << "all of it was in the block";
      } else {
        EXPECT_EQ(ended.error(), std::errc::operation_canceled);
        const auto again = co_await from.read_exactly(six);
        EXPECT_TRUE(again.has_value());
        EXPECT_EQ(as_text(six), text.substr(1, 6)) << block;
      }
      std::array<std::byte, 10> ten{};
      const auto over = co_await from.read_exactly(ten);
      EXPECT_EQ(over.error(), stream_errc::end_of_stream);
      const auto rest = co_await from.read_exactly(std::span(ten).first(9));
      EXPECT_TRUE(rest.has_value()) << "what there is stays to be read";
      EXPECT_EQ(as_text(std::span(ten).first(9)), text.substr(7)) << block;
    });
  }
}

TEST_P(StreamTest, OneThatWasMovedFromIsNotOpen) {
  put(in_folder("file"), "text");
  ctx().block_on([&]() -> task<void> {
    auto from = co_await reading(in_folder("file"));
    reader taken = std::move(from);
    std::array<std::byte, 2> bytes{};
    // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
    EXPECT_EQ((co_await from.read_some(bytes)).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await from.read_exactly(bytes)).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await from.read_until("\n")).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await from.next_block()).error(), std::errc::bad_file_descriptor);
    EXPECT_TRUE((co_await taken.read_exactly(bytes)).has_value());

    auto to = co_await writer::create(in_folder("out"));
    writer kept = std::move(*to);
    EXPECT_EQ((co_await to->write_all("lost")).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await to->flush()).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await to->close()).error(), std::errc::bad_file_descriptor);
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_FALSE(to->target().is_open());
    EXPECT_TRUE((co_await kept.write_all("kept")).has_value());
    EXPECT_TRUE((co_await kept.close()).has_value());
    EXPECT_EQ((co_await kept.write_all("late")).error(), std::errc::bad_file_descriptor) << "it is closed";
  });
  EXPECT_EQ(contents(in_folder("out")), "kept");
}

TEST_P(StreamTest, AFailedReadNamesThePath) {
  ctx().block_on([&]() -> task<void> {
    const auto missing = co_await reader::open(in_folder("missing"));
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    auto folder = co_await reading(in_folder(""));
    const auto read = co_await folder.next_block();
    EXPECT_EQ(read.error(), std::errc::is_a_directory);
    EXPECT_EQ(read.error().path(), in_folder(""));
  });
}

TEST_P(StreamTest, GathersSmallWrites) {
  std::string text;
  ctx().block_on([&]() -> task<void> {
    auto made = co_await writer::create(in_folder("out"), 0666, {.block = 1000});
    EXPECT_TRUE(made.has_value());
    for (int i = 0; i < 5000; ++i) {
      const std::string line = std::to_string(i) + "\n";
      text += line;
      const auto wrote = co_await made->write_all(line);
      EXPECT_TRUE(wrote.has_value());
    }
    const auto flushed = co_await made->flush();
    EXPECT_TRUE(flushed.has_value());
    EXPECT_TRUE(contents(in_folder("out")) == text);
    (void)co_await made->write_all("end");
    text += "end";
    const auto closed = co_await made->close();
    EXPECT_TRUE(closed.has_value());
    EXPECT_FALSE(made->target().is_open());
  });
  EXPECT_TRUE(contents(in_folder("out")) == text);
}

}  // namespace
}  // namespace faio::fs
