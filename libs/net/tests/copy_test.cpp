// copy_test -- one stream into another, and a proxy's both ways: ends are passed on, errors end both, silence has a limit.
#include "faio/net/copy.hpp"

#include <string>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

class CopyTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(CopyTest);

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
