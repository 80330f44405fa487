// copy_test -- one stream into another, and a proxy's both ways: ends are passed on, errors end both, silence has a limit.
#include "faio/net/copy.hpp"

#include <algorithm>
#include <cstring>
#include <expected>
#include <string>
#include <system_error>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

class CopyTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(CopyTest);

/// As the files of faio::fs: an error that says more than its code, read_some and write_all, and a close() that must be awaited.
struct told_error {
  std::error_code code;
  std::string path = {};
  operator std::error_code() const noexcept { return code; }
};
template <class T>
using told = std::expected<T, told_error>;

struct file_like {
  std::string text = {};
  std::size_t room = 1 << 20;
  bool is_closed = false;
  task<told<std::size_t>> read_some(std::span<std::byte> into) {
    const std::size_t count = std::min(into.size(), text.size());
    std::memcpy(into.data(), text.data(), count);
    text.erase(0, count);
    co_return count;
  }
  task<told<void>> write_all(std::span<const std::byte> from) {
    if (from.size() > room) {
      co_return std::unexpected(told_error{std::make_error_code(std::errc::no_space_on_device), "there"});
    }
    room -= from.size();
    text.append(reinterpret_cast<const char*>(from.data()), from.size());
    co_return told<void>{};
  }
  [[nodiscard]] task<told<void>> close() {
    is_closed = true;
    co_return told<void>{};
  }
};
static_assert(readable<file_like> && writable<file_like>);
static_assert(!writable_in_parts<file_like>);
static_assert(readable<tcp_stream> && writable_in_parts<tcp_stream> && writable_as_whole<tcp_stream>);
static_assert(readable<buffered_reader<file_like>>);
static_assert(!readable<write_half> && !writable<read_half>);

TEST_P(CopyTest, BetweenFilesAndStreams) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    const std::string sent(100'000, 'f');
    file_like from{sent};
    file_like to;
    auto receiver = spawn([&]() -> task<result<std::uint64_t>> { co_return co_await copy(both.server, to); });
    EXPECT_EQ(co_await copy(from, both.client), sent.size());
    EXPECT_TRUE(both.client.shutdown().has_value());
    EXPECT_EQ(co_await std::move(receiver), sent.size());
    EXPECT_TRUE(to.text == sent);
    file_like full{"", 10};
    const auto failed = co_await copy(to, full);
    EXPECT_FALSE(failed.has_value());
    EXPECT_EQ(failed.error(), std::errc::no_space_on_device);
  });
}

TEST_P(CopyTest, BuffersAroundFilesAndWhatLikensThem) {
  file_like from{"one\ntwo\n"};
  file_like to{"", 10};
  ctx().block_on([&]() -> task<void> {
    buffered_reader in(from);
    EXPECT_EQ(co_await in.read_line(), "one");
    std::array<std::byte, 4> two{};
    EXPECT_TRUE((co_await in.read_exactly(two)).has_value());
    buffered_writer out(to, 4);
    EXPECT_TRUE((co_await out.write("abc")).has_value());
    EXPECT_TRUE((co_await out.write("defghi")).has_value());  // longer than the buffer
    EXPECT_EQ(to.text, "abcdefghi");
    EXPECT_TRUE((co_await out.write("jkl")).has_value());
    const auto full = co_await out.flush();
    EXPECT_EQ(full.error(), std::errc::no_space_on_device);
    to.room = 100;  // how much it has taken of that nobody knows: it is over
    EXPECT_EQ((co_await out.flush()).error(), std::errc::no_space_on_device);
    EXPECT_FALSE(out.try_write("m"));
    EXPECT_FALSE(to.is_closed);  // that is for whoever can wait for it
  });
}

/// A stream with results of its own, and without write_some.
struct stranger {
  tcp_stream& inner;
  task<told<std::size_t>> read_some(std::span<std::byte> into) {
    const auto got = co_await inner.read_some(into);
    if (!got) co_return std::unexpected(told_error{got.error()});
    co_return *got;
  }
  task<told<void>> write_all(std::span<const std::byte> from) {
    const auto wrote = co_await inner.write_all(from);
    if (!wrote) co_return std::unexpected(told_error{wrote.error()});
    co_return told<void>{};
  }
  result<void> shutdown() { return inner.shutdown(); }
  void close() { inner.close(); }
};

TEST_P(CopyTest, CopiesUntilTheEnd) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto source = co_await connected(listener);
    auto sink = co_await connected(listener);
    const std::string sent(3 << 20, 'c');
    auto writer = spawn([&]() -> task<void> {
      EXPECT_TRUE((co_await source.client.write_all(sent)).has_value());
      EXPECT_TRUE(source.client.shutdown().has_value());
    });
    auto copier = spawn([&]() -> task<void> {
      EXPECT_EQ(co_await copy(source.server, sink.client), sent.size());
      EXPECT_TRUE(sink.client.shutdown().has_value());
    });
    const std::string got = co_await read_to_end(sink.server);
    EXPECT_TRUE(got == sent);
    co_await std::move(writer);
    co_await std::move(copier);
  });
}

/// client <-> [near | far] <-> server
struct middle {
  connection near;
  connection far;
};
task<middle> between(tcp_listener& listener) {
  auto near = co_await connected(listener);
  auto far = co_await connected(listener);
  co_return middle{std::move(near), std::move(far)};
}

TEST_P(CopyTest, BothWaysAtOnceAndTheEndOfOneSideIsPassedOn) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    auto proxy =
        spawn([&]() -> task<result<copied>> { co_return co_await copy_both(all.near.server, all.far.client); });
    EXPECT_TRUE((co_await all.near.client.write_all("question")).has_value());
    EXPECT_TRUE(all.near.client.shutdown().has_value());
    EXPECT_EQ(co_await read_to_end(all.far.server), "question");
    EXPECT_TRUE((co_await all.far.server.write_all("a longer answer")).has_value());
    all.far.server.close();
    EXPECT_EQ(co_await read_to_end(all.near.client), "a longer answer");
    const auto done = co_await std::move(proxy);
    EXPECT_TRUE(done.has_value());
    EXPECT_EQ(done->forth, 8U);
    EXPECT_EQ(done->back, 15U);
  });
}

TEST_P(CopyTest, AResetOfOneSideEndsBoth) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    auto proxy =
        spawn([&]() -> task<result<copied>> { co_return co_await copy_both(all.near.server, all.far.client); });
    const linger at_once{.l_onoff = 1, .l_linger = 0};  // close sends a reset
    EXPECT_EQ(::setsockopt(all.near.client.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    EXPECT_TRUE((co_await all.near.client.write_all("x")).has_value());
    std::array<std::byte, 1> got{};
    EXPECT_TRUE((co_await all.far.server.read_exactly(got)).has_value());
    const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
    EXPECT_EQ(::connect(all.near.client.native_handle(), &nobody, sizeof nobody), 0);  // disconnects: a reset
    const auto done = co_await std::move(proxy);
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(done.error(), std::errc::connection_reset);
    EXPECT_FALSE(all.far.client.is_open());
    EXPECT_EQ(co_await read_to_end(all.far.server), "");
  });
}

TEST_P(CopyTest, SilenceOfBothSidesHasALimit) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    const auto done = co_await copy_both(all.near.server, all.far.client, {.idle = 20ms});
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(done.error(), std::errc::timed_out);
    EXPECT_FALSE(all.near.server.is_open());
    EXPECT_FALSE(all.far.client.is_open());
  });
}

TEST_P(CopyTest, ASideThatListensOnlyIsNotSilence) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    constexpr auto limit = 400ms;
    auto proxy = spawn([&]() -> task<result<copied>> {
      co_return co_await copy_both(all.near.server, all.far.client, {.idle = limit});
    });
    const auto until = std::chrono::steady_clock::now() + 2 * limit;  // the server never says a word meanwhile
    while (std::chrono::steady_clock::now() < until) {
      EXPECT_TRUE((co_await all.near.client.write_all("still here")).has_value());
      co_await sleep_for(20ms);
    }
    EXPECT_FALSE(proxy.done());
    EXPECT_TRUE(all.near.client.shutdown().has_value());
    EXPECT_TRUE(all.far.server.shutdown().has_value());  // not close(): with what it never read that would be a reset
    EXPECT_TRUE((co_await std::move(proxy)).has_value());
  });
}

TEST_P(CopyTest, AReceiverThatTakesNothingHasALimitWhenTheOtherWayHasEnded) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    EXPECT_TRUE(all.far.server.shutdown().has_value());  // says nothing more, and reads nothing
    auto feeder = spawn([&]() -> task<void> {
      const std::string much(1 << 20, 'f');
      while ((co_await all.near.client.write_all(much)).has_value()) {
      }
    });
    const auto done = co_await copy_both(all.near.server, all.far.client, {.idle = 50ms});
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(done.error(), std::errc::timed_out);
    EXPECT_FALSE(all.near.server.is_open());
    EXPECT_FALSE(all.far.client.is_open());
    co_await std::move(feeder);
  });
}

TEST_P(CopyTest, BothWaysWithStreamsOfAnotherKindHaveALimitToo) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    stranger near{all.near.server};
    stranger far{all.far.client};
    EXPECT_TRUE((co_await all.near.client.write_all("question")).has_value());
    const auto silent = co_await copy_both(near, far, {.idle = 50ms});
    EXPECT_EQ(silent.error(), std::errc::timed_out);
    EXPECT_EQ(co_await read_to_end(all.far.server), "question");
  });
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    stranger near{all.near.server};
    stranger far{all.far.client};
    EXPECT_TRUE(all.far.server.shutdown().has_value());
    auto feeder = spawn([&]() -> task<void> {
      const std::string much(1 << 20, 'f');
      while ((co_await all.near.client.write_all(much)).has_value()) {
      }
    });
    const auto stuck = co_await copy_both(near, far, {.idle = 50ms});
    EXPECT_EQ(stuck.error(), std::errc::timed_out);
    co_await std::move(feeder);
  });
}

TEST_P(CopyTest, AStopClosesBoth) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto all = co_await between(listener);
    auto proxy =
        spawn([&]() -> task<result<copied>> { co_return co_await copy_both(all.near.server, all.far.client); });
    co_await yield();
    proxy.request_stop();
    const auto done = co_await std::move(proxy);
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(done.error(), std::errc::operation_canceled);
    EXPECT_EQ(co_await read_to_end(all.near.client), "");
    EXPECT_EQ(co_await read_to_end(all.far.server), "");
  });
}

TEST_P(CopyTest, AStopWhileItReadsLosesNothing) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto source = co_await connected(listener);
    auto sink = co_await connected(listener);
    const auto none = co_await timeout(5ms, copy(source.server, sink.client));
    EXPECT_EQ(none.error(), std::errc::timed_out);
    EXPECT_TRUE((co_await source.client.write_all("later")).has_value());
    source.client.close();
    EXPECT_EQ(co_await copy(source.server, sink.client), 5U);
  });
}

}  // namespace
}  // namespace faio::net
