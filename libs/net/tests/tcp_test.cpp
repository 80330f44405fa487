// tcp_test -- connections over loopback: whole, half, refused, closed under a reader, stopped, limited in time.
#include "faio/net/tcp.hpp"

#include <linux/filter.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "faio/net/resolve.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

class TcpTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(TcpTest);

TEST_P(TcpTest, CarriesBytesBothWays) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    EXPECT_EQ(both.client.remote(), listener.local());
    EXPECT_EQ(both.server.remote(), both.client.local());
    EXPECT_TRUE((co_await both.client.write_all("ping")).has_value());
    std::array<std::byte, 4> got{};
    EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
    EXPECT_EQ(got[0], std::byte{'p'});
    EXPECT_TRUE((co_await both.server.write_all("pong")).has_value());
    EXPECT_TRUE((co_await both.client.read_exactly(got)).has_value());
    EXPECT_EQ(got[1], std::byte{'o'});
  });
}

TEST_P(TcpTest, CarriesManyMegabytesThroughASlowReader) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    const std::string sent(8 << 20, 'x');
    auto writer = spawn([&]() -> task<void> {
      EXPECT_TRUE((co_await both.client.write_all(sent)).has_value());
      EXPECT_TRUE(both.client.shutdown().has_value());
    });
    const std::string got = co_await read_to_end(both.server);
    EXPECT_EQ(got.size(), sent.size());
    co_await std::move(writer);
  });
}

/// The writer is suspended while nobody reads, not spinning, not buffering on: it goes on only as the reader takes.
TEST_P(TcpTest, ASlowReaderFillsThePipeAndHoldsTheWriter) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    const std::string sent(16 << 20, 's');  // more than any buffer takes
    auto writer = spawn([&]() -> task<result<void>> { co_return co_await both.client.write_all(sent); });
    co_await sleep_for(20ms);  // the pipe is full, or will be; either way the writer cannot have ended
    EXPECT_FALSE(writer.done());
    const auto before = ctx().metrics().total();
    co_await sleep_for(50ms);
    const auto after = ctx().metrics().total();
    EXPECT_LT(after.tasks_run - before.tasks_run, 100U) << "the writer spins";
    std::size_t got = 0;
    std::vector<std::byte> piece(256 << 10);
    while (got < sent.size()) {
      const auto more = co_await both.server.read_some(piece);
      EXPECT_TRUE(more && *more != 0);
      if (!more || *more == 0) break;
      got += *more;
    }
    EXPECT_TRUE((co_await std::move(writer)).has_value());
  });
}

TEST_P(TcpTest, AReadOfAWholeThatIsStoppedInTheMiddleClosesTheStream) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    std::array<std::byte, 8> got{};
    const auto nothing = co_await timeout(5ms, both.server.read_exactly(got));
    EXPECT_EQ(nothing.error(), std::errc::timed_out);
    EXPECT_TRUE(both.server.is_open());  // nothing was taken
    EXPECT_TRUE((co_await both.client.write_all("half")).has_value());
    const auto half = co_await timeout(20ms, both.server.read_exactly(got));
    EXPECT_FALSE(half.has_value());
    EXPECT_FALSE(both.server.is_open());
  });
}

TEST_P(TcpTest, AReadOfAWholeSaysThatThePeerEnded) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    EXPECT_TRUE((co_await both.client.write_all("half")).has_value());
    both.client.close();
    std::array<std::byte, 8> got{};
    const auto half = co_await both.server.read_exactly(got);
    EXPECT_EQ(half.error(), make_error_code(errc::end_of_stream));
    EXPECT_EQ(got[3], std::byte{'f'});
  });
}

TEST_P(TcpTest, ReadsLinesAndKeepsWhatIsBehindThem) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    EXPECT_TRUE((co_await both.client.write_all("one\r\ntwo\r\nrest")).has_value());
    EXPECT_EQ(co_await both.server.read_until("\r\n"), "one\r\n");
    EXPECT_EQ(co_await both.server.read_until("\r\n"), "two\r\n");
    std::array<std::byte, 4> rest{};
    EXPECT_TRUE((co_await both.server.read_exactly(rest)).has_value());
    EXPECT_EQ(rest[3], std::byte{'t'});
    EXPECT_TRUE((co_await both.client.write_all(std::string(100, 'y'))).has_value());
    const auto endless = co_await both.server.read_until("\n", 50);
    EXPECT_FALSE(endless.has_value());
    EXPECT_EQ(endless.error(), make_error_code(errc::too_long));
  });
}

TEST_P(TcpTest, WritesSeveralBuffersAsOne) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    std::string a = "gather", b, c = "ed";
    const std::array<iovec, 3> parts{iovec{a.data(), a.size()}, iovec{b.data(), b.size()}, iovec{c.data(), c.size()}};
    EXPECT_TRUE((co_await both.client.write_vectored(parts)).has_value());
    both.client.close();
    EXPECT_EQ(co_await read_to_end(both.server), "gathered");
  });
}

TEST_P(TcpTest, WritesAndReadsMoreBuffersThanTheSystemTakesAtOnce) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    std::string sent;
    for (int i = 0; sent.size() < 3000; ++i) sent += std::to_string(i);
    std::vector<iovec> parts;
    for (char& each : sent) parts.push_back({&each, 1});
    EXPECT_TRUE((co_await both.client.write_vectored(parts)).has_value());
    EXPECT_TRUE(both.client.shutdown().has_value());
    std::string got(sent.size(), 0);
    std::vector<iovec> into;
    for (char& each : got) into.push_back({&each, 1});
    for (std::size_t done = 0; done < got.size();) {
      const auto more = co_await both.server.read_vectored(std::span(into).subspan(done));
      EXPECT_TRUE(more && *more != 0);
      if (!more || *more == 0) break;
      done += *more;
    }
    EXPECT_TRUE(got == sent);
  });
}

TEST_P(TcpTest, EndsOneDirectionAndGoesOnInTheOther) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    EXPECT_TRUE((co_await both.client.write_all("last words")).has_value());
    EXPECT_TRUE(both.client.shutdown().has_value());
    EXPECT_EQ(co_await read_to_end(both.server), "last words");
    EXPECT_TRUE((co_await both.server.write_all("answer")).has_value());
    both.server.close();
    EXPECT_EQ(co_await read_to_end(both.client), "answer");
  });
}

TEST_P(TcpTest, SplitsIntoHalvesForTwoTasks) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    auto [in, out] = std::move(both.client).split();
    auto reader = spawn([half = std::move(in)]() mutable -> task<std::size_t> {
      std::array<std::byte, 5> got{};
      const auto done = co_await half.read_exactly(got);
      co_return done ? got.size() : 0;
    });
    EXPECT_TRUE((co_await out.write_all("question")).has_value());
    std::array<std::byte, 8> got{};
    EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
    EXPECT_TRUE((co_await both.server.write_all("reply")).has_value());
    EXPECT_EQ(co_await std::move(reader), 5U);
  });
}

TEST_P(TcpTest, SaysThatNobodyListens) {
  endpoint gone;
  {
    auto listener = listening();
    gone = listener.local();
  }
  const auto made = ctx().block_on(tcp_stream::connect(gone));
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error(), std::errc::connection_refused);
}

TEST_P(TcpTest, SaysThatTheAddressIsInUse) {
  auto listener = listening();
  const auto second = tcp_listener::bind(listener.local());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error(), std::errc::address_in_use);
}

TEST_P(TcpTest, SeveralListenOnOnePortWhenAsked) {
  auto first = tcp_listener::bind(endpoint::loopback(0), {.reuse_port = true});
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(tcp_listener::bind(first->local(), {.reuse_port = true}).has_value());
}

TEST_P(TcpTest, AnIpv6ListenerTakesIpv4OnlyIfItMay) {
  for (const bool only : {false, true}) {
    auto listener = tcp_listener::bind(endpoint::any6(0), {.ipv6_only = only});
    if (!listener) GTEST_SKIP() << "no IPv6 here: " << listener.error().message();
    const std::uint16_t port = listener->local().port();
    const auto by_six = ctx().block_on(tcp_stream::connect(endpoint::loopback6(port)));
    EXPECT_TRUE(by_six.has_value());
    const auto by_four = ctx().block_on(tcp_stream::connect(endpoint::loopback(port)));
    EXPECT_EQ(by_four.has_value(), !only);
    if (only) {
      EXPECT_EQ(by_four.error(), std::errc::connection_refused);
    }
  }
}

TEST_P(TcpTest, SetsTheOptionsOfAConnection) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    const auto option = [&](int level, int name) {
      int value = -1;
      socklen_t size = sizeof value;
      EXPECT_EQ(::getsockopt(both.client.native_handle(), level, name, &value, &size), 0);
      return value != 0;
    };
    for (const bool on : {true, false}) {
      EXPECT_TRUE(both.client.set_keep_alive(on).has_value());
      EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), on);
      EXPECT_TRUE(both.client.set_no_delay(on).has_value());
      EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), on);
    }
  });
}

/// The first address of the name is silent, the second would answer.
TEST_P(TcpTest, TheTimeLimitOfANameIsForAllItsAddresses) {
  auto four = listening();
  const std::string port = std::to_string(four.local().port());
  auto six = tcp_listener::bind(endpoint::loopback6(four.local().port()), {.ipv6_only = true});
  if (!six) GTEST_SKIP() << "no IPv6 here, or the port is taken: " << six.error().message();
  const auto addresses = ctx().block_on(resolve("", port));
  ASSERT_TRUE(addresses.has_value());
  if (addresses->size() < 2) GTEST_SKIP() << "the machine itself has one address only";
  const tcp_listener& first = addresses->front() == four.local() ? four : *six;
  sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog drop{1, nothing};
  ASSERT_EQ(::setsockopt(first.native_handle(), SOL_SOCKET, SO_ATTACH_FILTER, &drop, sizeof drop), 0);
  const auto made = ctx().block_on(tcp_stream::connect("", port, {.timeout = 100ms}));
  ASSERT_FALSE(made.has_value()) << "the second address had a time limit of its own";
  EXPECT_EQ(made.error(), std::errc::timed_out);
}

TEST_P(TcpTest, SaysThatThePeerWasReset) {
  auto listener = listening();
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const endpoint at = listener.local();
  ASSERT_EQ(::connect(peer, at.data(), at.size()), 0);
  ctx().block_on([&]() -> task<void> {
    auto server = co_await listener.accept();
    const linger at_once{.l_onoff = 1, .l_linger = 0};  // close sends a reset
    EXPECT_EQ(::setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    EXPECT_EQ(::close(peer), 0);
    std::array<std::byte, 1> got{};
    const auto read = co_await server->read_some(got);
    EXPECT_FALSE(read.has_value());
    EXPECT_EQ(read.error(), std::errc::connection_reset);
  });
}

TEST_P(TcpTest, ClosingEndsTheReadOfAnotherTask) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    auto reader = spawn([&]() -> task<result<std::size_t>> {
      std::array<std::byte, 1> got{};
      co_return co_await both.server.read_some(got);
    });
    co_await yield();
    both.server.close();
    const auto read = co_await std::move(reader);
    EXPECT_FALSE(read.has_value());
    EXPECT_EQ(read.error(), std::errc::bad_file_descriptor);
  });
}

TEST_P(TcpTest, ClosingAListenerEndsItsAccept) {
  auto listener = listening();
  auto accepting = ctx().spawn(listener.accept());
  listener.close();
  const auto got = accepting.get();
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error(), std::errc::bad_file_descriptor);
}

TEST_P(TcpTest, AReadThatTimesOutHasTakenNothing) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    std::array<std::byte, 4> got{};
    const auto none = co_await timeout(5ms, both.server.read_some(got));
    EXPECT_FALSE(none.has_value());
    EXPECT_EQ(none.error(), std::errc::timed_out);
    EXPECT_TRUE((co_await both.client.write_all("here")).has_value());
    EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
    EXPECT_EQ(got[0], std::byte{'h'});
  });
}

TEST_P(TcpTest, AWriteThatIsStoppedInTheMiddleClosesTheStream) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    const std::string much(64 << 20, 'z');  // more than any buffer takes
    const auto wrote = co_await timeout(20ms, both.client.write_all(much));
    EXPECT_FALSE(wrote.has_value());
    EXPECT_FALSE(both.client.is_open());
  });
}

TEST_P(TcpTest, AcceptRecoversFromTooManyOpenFiles) {
  if (!can_do_without_descriptors) GTEST_SKIP() << "the sanitizer needs free descriptors itself";
  auto listener = listening();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ctx().block_on([&]() -> task<void> {
    auto client = co_await tcp_stream::connect(listener.local());
    EXPECT_TRUE(client.has_value());
    const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};  // below what is open: no number is free
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    auto accepting = spawn(listener.accept());
    const auto early = co_await timeout(60ms, [](join_handle<result<tcp_stream>>& h) -> task<void> {
      while (!h.done()) {
        if (!co_await sleep_for(1ms)) co_return;
      }
    }(accepting));
    EXPECT_FALSE(early.has_value()) << "accept ended although no descriptor was free";
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    const auto got = co_await std::move(accepting);
    EXPECT_TRUE(got.has_value());
  });
}

TEST_P(TcpTest, FindsTheAddressesOfAName) {
  const auto found = ctx().block_on(resolve("localhost", "80"));
  ASSERT_TRUE(found.has_value()) << found.error().message();
  EXPECT_FALSE(found->empty());
  EXPECT_EQ(found->front().port(), 80);
  const auto missing = ctx().block_on(resolve("", "no-such-service"));
  ASSERT_FALSE(missing.has_value());
}

TEST_P(TcpTest, ServesHundredsOfConnectionsAtOnce) {
  constexpr int clients = 500;
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto server = spawn([&]() -> task<void> {
      task_group handlers;
      for (int i = 0; i < clients; ++i) {
        auto got = co_await listener.accept();
        if (!got) break;
        handlers.spawn([peer = std::move(*got)]() mutable -> task<void> {
          std::array<std::byte, 1> one{};
          while ((co_await peer.read_exactly(one)).has_value()) {
            if (!(co_await peer.write_all(std::span<const std::byte>(one)))) break;
          }
        });
      }
      co_await handlers.join();
    });
    std::vector<task<bool>> all;
    for (int i = 0; i < clients; ++i) {
      all.push_back([](endpoint to) -> task<bool> {
        auto made = co_await tcp_stream::connect(to);
        if (!made) co_return false;
        for (int round = 0; round < 4; ++round) {
          std::array<std::byte, 1> one{std::byte{7}};
          if (!(co_await made->write_all(std::span<const std::byte>(one)))) co_return false;
          if (!(co_await made->read_exactly(one))) co_return false;
        }
        co_return true;
      }(listener.local()));
    }
    const auto done = co_await when_all(std::move(all));
    EXPECT_EQ(std::count(done.begin(), done.end(), true), clients);
    co_await std::move(server);
  });
}

}  // namespace
}  // namespace faio::net
