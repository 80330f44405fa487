// serve_test -- a handler for each connection, and what a stop does: no new ones, a grace for the others, then their stop.
#include "faio/net/serve.hpp"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

task<void> echo(tcp_stream peer) {
  std::array<std::byte, 4096> piece;
  for (;;) {
    const auto got = co_await peer.read_some(piece);
    if (!got || *got == 0) co_return;
    if (!(co_await peer.write_all(std::span<const std::byte>(piece).first(*got)))) co_return;
  }
}

task<bool> ask_once(endpoint where, std::string what) {
  auto peer = co_await tcp_stream::connect(where);
  if (!peer) co_return false;
  if (!(co_await peer->write_all(what))) co_return false;
  std::string reply(what.size(), 0);
  auto got = co_await peer->read_exactly(std::as_writable_bytes(std::span(reply)));
  co_return got&& reply == what;
}

class ServeTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(ServeTest);

TEST_P(ServeTest, HandlesEachConnectionAndEndsWhenAsked) {
  auto listener = listening();
  const endpoint where = listener.local();
  auto serving = ctx().spawn(serve(listener, echo));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ctx().block_on(ask_once(where, "number " + std::to_string(i))));
  serving.request_stop();
  EXPECT_TRUE(serving.get().has_value());
  EXPECT_FALSE(listener.is_open());
  EXPECT_FALSE(ctx().block_on(ask_once(where, "too late")));
}

TEST_P(ServeTest, LetsHandlersFinishWithinTheGrace) {
  auto listener = listening();
  const endpoint where = listener.local();
  std::latch came(1);
  bool undisturbed = false;
  auto serving = ctx().spawn(serve(listener,
                                   [&](tcp_stream peer) -> task<void> {
                                     came.count_down();
                                     std::array<std::byte, 4> got{};
                                     const auto token = co_await current_stop_token();
                                     const auto all = co_await peer.read_exactly(got);
                                     undisturbed = all && !token.stop_requested();
                                     (void)co_await peer.write_all(std::span<const std::byte>(got));
                                   },
                                   {.grace = 1min}));
  ctx().block_on([&]() -> task<void> {
    auto peer = co_await tcp_stream::connect(where);
    EXPECT_TRUE(peer.has_value());
    while (!came.try_wait()) co_await yield();
    serving.request_stop();
    while (listener.is_open()) co_await yield();
    // Its accept is cancelled by its worker; until then who connects is let in, and closed.
    while ((co_await tcp_stream::connect(where)).has_value()) co_await yield();
    // The one that is being served goes on: question and answer.
    EXPECT_TRUE((co_await peer->write_all("ping")).has_value());
    std::array<std::byte, 4> got{};
    EXPECT_TRUE((co_await peer->read_exactly(got)).has_value());
  });
  EXPECT_TRUE(serving.get().has_value());
  EXPECT_TRUE(undisturbed);
}

TEST_P(ServeTest, StopsHandlersWhenTheGraceEndsAndWaitsForThem) {
  auto listener = listening();
  const endpoint where = listener.local();
  std::latch came(1);
  std::error_code told;
  auto serving = ctx().spawn(serve(listener,
                                   [&](tcp_stream peer) -> task<void> {
                                     came.count_down();
                                     std::array<std::byte, 4> got{};
                                     const auto read = co_await peer.read_some(got);  // nobody writes
                                     if (!read) told = read.error();
                                   },
                                   {.grace = 10ms}));
  auto peer = ctx().block_on(tcp_stream::connect(where));
  ASSERT_TRUE(peer.has_value());
  came.wait();
  serving.request_stop();
  EXPECT_TRUE(serving.get().has_value());
  EXPECT_EQ(told, std::errc::operation_canceled);
}

TEST_P(ServeTest, AHandlerThatThrowsEndsItsOwnConnectionOnly) {
  std::atomic<int> reported = 0;
  runtime_context loud{{.workers = 2, .engine = GetParam(), .on_unhandled = [&](std::exception_ptr) { ++reported; }}};
  auto listener = listening();
  const endpoint where = listener.local();
  auto serving = loud.spawn(serve(listener, [](tcp_stream peer) -> task<void> {
    std::array<std::byte, 1> got{};
    (void)co_await peer.read_exactly(got);
    if (got[0] == std::byte{'x'}) throw std::runtime_error("bad request");
    (void)co_await peer.write_all(std::span<const std::byte>(got));
  }));
  EXPECT_FALSE(loud.block_on(ask_once(where, "x")));
  EXPECT_TRUE(loud.block_on(ask_once(where, "y")));
  serving.request_stop();
  EXPECT_TRUE(serving.get().has_value());
  EXPECT_EQ(reported, 1);
}

TEST_P(ServeTest, EndsWhenTheListenerIsClosed) {
  auto listener = listening();
  auto serving = ctx().spawn(serve(listener, echo));
  EXPECT_TRUE(ctx().block_on(ask_once(listener.local(), "hello")));
  listener.close();
  EXPECT_TRUE(serving.get().has_value());
}

TEST_P(ServeTest, TheEndOfTheRuntimeEndsItWithItsHandlers) {
  auto listener = listening();
  const endpoint where = listener.local();
  std::latch came(1);
  std::atomic<bool> handler_ended = false;
  auto serving = ctx().spawn(serve(listener,
                                   [&](tcp_stream peer) -> task<void> {
                                     came.count_down();
                                     (void)co_await read_to_end(peer);
                                     handler_ended = true;
                                   },
                                   {.grace = 5ms}));
  auto peer = ctx().block_on(tcp_stream::connect(where));
  ASSERT_TRUE(peer.has_value());
  came.wait();
  EXPECT_TRUE(ctx().stop(1min).finished);
  EXPECT_TRUE(handler_ended);
  EXPECT_TRUE(serving.get().has_value());
}

TEST_P(ServeTest, ServesUnixStreams) {
  auto listener = unix_listener::bind(*endpoint::unix_path("@faio-serve-" + std::to_string(::getpid())));
  ASSERT_TRUE(listener.has_value());
  auto serving = ctx().spawn(serve(*listener, [](unix_stream peer) -> task<void> { (void)co_await copy(peer, peer); }));
  ctx().block_on([&]() -> task<void> {
    auto peer = co_await unix_stream::connect(listener->local());
    EXPECT_TRUE(peer.has_value());
    EXPECT_TRUE((co_await peer->write_all("back\n")).has_value());
    EXPECT_EQ(co_await peer->read_until("\n"), "back\n");
  });
  serving.request_stop();
  EXPECT_TRUE(serving.get().has_value());
}

}  // namespace
}  // namespace faio::net
