// buffered_test -- lines, pieces and peeks out of a buffer, over streams and over anything else that reads and writes.
#include "faio/net/buffered.hpp"

#include <string>
#include <string_view>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

/// A source of text in pieces of a given size, without any socket; and a sink that takes little at a time.
struct text_source {
  std::string_view text;
  std::size_t piece;
  task<result<std::size_t>> read_some(std::span<std::byte> into) {
    const std::size_t count = std::min({into.size(), piece, text.size()});
    std::memcpy(into.data(), text.data(), count);
    text.remove_prefix(count);
    co_return count;
  }
};
struct text_sink {
  std::string text;
  std::size_t piece;
  task<result<std::size_t>> write_some(std::span<const std::byte> from) {
    const std::size_t count = std::min(from.size(), piece);
    text.append(reinterpret_cast<const char*>(from.data()), count);
    co_return count;
  }
};

/// The same, and every other read is stopped before it has taken anything.
struct hesitant_source {
  text_source from;
  bool stops = false;
  task<result<std::size_t>> read_some(std::span<std::byte> into) {
    stops = !stops;
    if (!stops) co_return std::unexpected(context::canceled());
    co_return co_await from.read_some(into);
  }
};
/// Takes so much, and then nothing more until it is told.
struct full_sink {
  text_sink to;
  std::size_t room = 0;
  bool is_closed = false;
  task<result<std::size_t>> write_some(std::span<const std::byte> from) {
    if (room == 0) co_return std::unexpected(context::canceled());
    auto wrote = co_await to.write_some(from.first(std::min(from.size(), room)));
    room -= *wrote;
    co_return wrote;
  }
  void close() { is_closed = true; }
};

class BufferedTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(BufferedTest);

TEST_P(BufferedTest, ReadsLinesHoweverTheyArrive) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 100U}) {
    text_source source{"one\ntwo\r\n\nlast", piece};
    ctx().block_on([&]() -> task<void> {
      buffered_reader in(source, 8);
      EXPECT_EQ(co_await in.read_line(), "one");
      EXPECT_EQ(co_await in.read_line(), "two");
      EXPECT_EQ(co_await in.read_line(), "");
      EXPECT_EQ(co_await in.read_line(), "last");
      const auto none = co_await in.read_line();
      EXPECT_EQ(none.error(), make_error_code(errc::end_of_stream));
    });
  }
}

TEST_P(BufferedTest, PeeksWithoutTaking) {
  text_source source{"abcdefgh", 3};
  ctx().block_on([&]() -> task<void> {
    buffered_reader in(source, 6);
    const auto first = co_await in.peek(4);
    EXPECT_TRUE(first.has_value());
    EXPECT_EQ(in.text().substr(0, 4), "abcd");
    in.consume(2);
    const auto again = co_await in.peek(6);  // moves what is left to the front
    EXPECT_TRUE(again.has_value());
    EXPECT_EQ(in.text(), "cdefgh");
    const auto too_much = co_await in.peek(7);
    EXPECT_EQ(too_much.error(), make_error_code(errc::too_long));
    in.consume(6);
    const auto ended = co_await in.peek(1);
    EXPECT_EQ(ended.error(), make_error_code(errc::end_of_stream));
  });
}

TEST_P(BufferedTest, SaysWhenALineDoesNotFitAndKeepsIt) {
  text_source source{"0123456789\n", 4};
  ctx().block_on([&]() -> task<void> {
    buffered_reader in(source, 8);
    const auto line = co_await in.read_line();
    EXPECT_EQ(line.error(), make_error_code(errc::too_long));
    EXPECT_EQ(in.text(), "01234567");
  });
}

TEST_P(BufferedTest, ReadsExactlyAcrossAndPastTheBuffer) {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += std::to_string(i);
  text_source source{all, 13};
  ctx().block_on([&]() -> task<void> {
    buffered_reader in(source, 32);
    const auto head = co_await in.peek(5);
    EXPECT_TRUE(head.has_value());
    std::string got(all.size(), 0);
    EXPECT_TRUE((co_await in.read_exactly(std::as_writable_bytes(std::span(got)))).has_value());
    EXPECT_TRUE(got == all);
    std::array<std::byte, 1> more{};
    const auto ended = co_await in.read_exactly(more);
    EXPECT_EQ(ended.error(), make_error_code(errc::end_of_stream));
  });
}

TEST_P(BufferedTest, AReadOfAStreamThatIsStoppedLosesNothing) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    buffered_reader in(both.server);
    EXPECT_TRUE((co_await both.client.write_all("half a ")).has_value());
    const auto none = co_await timeout(10ms, in.read_line());
    EXPECT_EQ(none.error(), std::errc::timed_out);
    EXPECT_TRUE((co_await both.client.write_all("line\nand more")).has_value());
    EXPECT_EQ(co_await in.read_line(), "half a line");
    EXPECT_EQ(in.take_until(" "), "and ");
    EXPECT_FALSE(in.take_until(" ").has_value());
  });
}

TEST_P(BufferedTest, AReadOfAWholeThatIsStoppedInTheMiddleLosesNothing) {
  std::string all;
  for (int i = 0; i < 200; ++i) all += std::to_string(i);
  for (const std::size_t piece : {3U, 32U, 50U}) {
    hesitant_source source{{all, piece}};
    ctx().block_on([&]() -> task<void> {
      buffered_reader in(source, 32);
      std::string got(all.size(), 0);
      std::size_t stopped = 0;
      std::size_t had = 0;
      for (;;) {
        const auto done = co_await in.read_exactly(std::as_writable_bytes(std::span(got)));
        if (done) break;
        EXPECT_EQ(done.error(), std::errc::operation_canceled);
        EXPECT_GT(in.buffered().size(), had);
        had = in.buffered().size();
        EXPECT_TRUE(in.text() == std::string_view(all).substr(0, had));
        if (++stopped > all.size()) co_return;
      }
      EXPECT_GT(stopped, 3U);
      EXPECT_TRUE(got == all);
    });
  }
}

TEST_P(BufferedTest, AReadOfAWholeThatTimesOutOrEndsInTheMiddleLosesNothing) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    buffered_reader in(both.server, 8);
    std::array<char, 10> got{};
    EXPECT_TRUE((co_await both.client.write_all("abc")).has_value());
    const auto none = co_await timeout(20ms, in.read_exactly(std::as_writable_bytes(std::span(got))));
    EXPECT_EQ(none.error(), std::errc::timed_out);
    EXPECT_TRUE((co_await both.client.write_all("defghijklm")).has_value());
    EXPECT_TRUE((co_await in.read_exactly(std::as_writable_bytes(std::span(got)))).has_value());
    EXPECT_EQ(std::string_view(got.data(), got.size()), "abcdefghij");
    both.client.close();
    const auto ended = co_await in.read_exactly(std::as_writable_bytes(std::span(got)));
    EXPECT_EQ(ended.error(), make_error_code(errc::end_of_stream));
    EXPECT_EQ(in.text(), "klm");
  });
}

TEST_P(BufferedTest, WritesWhenItIsFullOrAsked) {
  text_sink sink{"", 3};
  ctx().block_on([&]() -> task<void> {
    buffered_writer out(sink, 8);
    EXPECT_TRUE(out.try_write("12345678"));
    EXPECT_FALSE(out.try_write("9"));
    EXPECT_EQ(sink.text, "");
    EXPECT_TRUE((co_await out.write("90ab")).has_value());
    EXPECT_EQ(sink.text, "12345678");
    EXPECT_EQ(out.unflushed(), 4U);
    EXPECT_TRUE((co_await out.flush()).has_value());
    EXPECT_EQ(sink.text, "1234567890ab");
    EXPECT_TRUE((co_await out.write(std::string(100, 'z'))).has_value());
    EXPECT_TRUE((co_await out.flush()).has_value());
    EXPECT_EQ(sink.text.size(), 112U);
  });
}

TEST_P(BufferedTest, AFlushThatIsStoppedGoesOnWhereItWas) {
  auto ends = unix_stream::pair();
  ASSERT_TRUE(ends.has_value());
  ctx().block_on([&]() -> task<void> {
    buffered_writer out(ends->first, 8 << 20);
    std::string all;
    for (int i = 0; all.size() < 4U << 20; ++i) all += std::to_string(i);
    EXPECT_TRUE(out.try_write(all));
    const auto full = co_await timeout(20ms, out.flush());  // nobody reads: the pipe fills
    EXPECT_EQ(full.error(), std::errc::timed_out);
    EXPECT_TRUE(ends->first.is_open());
    auto reader = spawn([&]() -> task<std::string> { co_return co_await read_to_end(ends->second); });
    EXPECT_TRUE((co_await out.flush()).has_value());
    ends->first.close();
    EXPECT_TRUE(co_await std::move(reader) == all);
  });
}

TEST_P(BufferedTest, AWriteThatIsStoppedHasDoneNothingWhenItFitsIntoTheBuffer) {
  full_sink sink{{"", 3}, 5};
  ctx().block_on([&]() -> task<void> {
    buffered_writer out(sink, 8);
    EXPECT_TRUE((co_await out.write("123456")).has_value());
    const auto stopped = co_await out.write("abcdef");  // no room: flushes, and is stopped in that
    EXPECT_EQ(stopped.error(), std::errc::operation_canceled);
    EXPECT_EQ(sink.to.text, "12345");
    EXPECT_EQ(out.unflushed(), 1U);
    EXPECT_FALSE(sink.is_closed);
    sink.room = 100;
    EXPECT_TRUE((co_await out.write("abcdef")).has_value());  // again
    EXPECT_TRUE((co_await out.flush()).has_value());
    EXPECT_EQ(sink.to.text, "123456abcdef");
  });
}

TEST_P(BufferedTest, AWriteThatIsStoppedInTheMiddleOfMoreThanTheBufferClosesTheSink) {
  full_sink sink{{"", 3}, 2};
  ctx().block_on([&]() -> task<void> {
    buffered_writer out(sink, 4);
    EXPECT_TRUE((co_await out.write("12")).has_value());
    const auto before = co_await out.write("abcdef");  // of this nothing is written yet
    EXPECT_EQ(before.error(), std::errc::operation_canceled);
    EXPECT_FALSE(sink.is_closed);
    EXPECT_EQ(out.unflushed(), 0U);
    sink.room = 4;
    const auto middle = co_await out.write("abcdef");
    EXPECT_EQ(middle.error(), std::errc::operation_canceled);
    EXPECT_TRUE(sink.is_closed);
    sink.room = 100;  // and nobody goes on with half a message
    EXPECT_FALSE(out.try_write("g"));
    EXPECT_FALSE((co_await out.write("g")).has_value());
    EXPECT_FALSE((co_await out.flush()).has_value());
    EXPECT_EQ(sink.to.text, "12abcd");
  });
}

TEST_P(BufferedTest, WorksOnTheHalvesOfAStream) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    auto [in_half, out_half] = std::move(both.client).split();
    buffered_reader in(in_half);
    buffered_writer out(out_half);
    EXPECT_TRUE((co_await out.write("ping\n")).has_value());
    EXPECT_TRUE((co_await out.flush()).has_value());
    EXPECT_EQ(co_await both.server.read_until("\n"), "ping\n");
    EXPECT_TRUE((co_await both.server.write_all("pong\n")).has_value());
    EXPECT_EQ(co_await in.read_line(), "pong");
  });
}

}  // namespace
}  // namespace faio::net
