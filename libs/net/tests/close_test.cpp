// close_test -- what closing ends and what it leaves alone: duplicates go on, later calls reach nobody else, tasks in flight are told.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

/// One worker: what is spawned has begun to wait when the task that spawned it comes back from yield().
class CloseTest : public NetTest {
 protected:
  CloseTest() : NetTest(1) {}
};
FAIO_ON_BOTH_ENGINES(CloseTest);

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// A pair of the system's own, one end of which has the number that somebody else had.
class innocent {
 public:
  explicit innocent(int number) : _number(number) {
    EXPECT_EQ(::fcntl(number, F_GETFD), -1) << "the number is still in use";
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    constexpr int far_away = 100;  // from the numbers that tests look at
    const int near = ::fcntl(ends[0], F_DUPFD_CLOEXEC, far_away);
    _peer = ::fcntl(ends[1], F_DUPFD_CLOEXEC, far_away);
    for (const int each : ends) ::close(each);
    EXPECT_EQ(::dup3(near, number, O_CLOEXEC), number);
    ::close(near);
  }
  innocent(const innocent&) = delete;
  innocent& operator=(const innocent&) = delete;
  ~innocent() {
    ::close(_number);
    ::close(_peer);
  }
  /// It still carries bytes, both ways.
  [[nodiscard]] bool unharmed() const {
    char got = 0;
    return ::send(_number, "x", 1, MSG_NOSIGNAL) == 1 && ::recv(_peer, &got, 1, MSG_DONTWAIT) == 1 &&
           ::send(_peer, "y", 1, MSG_NOSIGNAL) == 1 && ::recv(_number, &got, 1, MSG_DONTWAIT) == 1;
  }

 private:
  int _number;
  int _peer = -1;
};

template <class T>
bool is_closed(const result<T>& gave) {
  return !gave && gave.error() == std::errc::bad_file_descriptor;
}

// ---- Duplicates.

TEST_P(CloseTest, AConnectionThatWasPassedOnOutlivesTheSendersCopy) {
  auto listener = listening();
  auto ends = unix_stream::pair();
  ASSERT_TRUE(ends.has_value());
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    EXPECT_TRUE((co_await ends->first.send_fd(both.server.native_handle())).has_value());
    both.server.close();
    const auto got = co_await ends->second.recv_fd();
    EXPECT_TRUE(got.has_value());
    if (!got) co_return;
    tcp_stream passed(std::make_shared<descriptor>(*got));
    EXPECT_TRUE((co_await passed.write_all("hello")).has_value());
    std::array<std::byte, 5> hello{};
    EXPECT_TRUE((co_await both.client.read_exactly(hello)).has_value());
    EXPECT_TRUE((co_await both.client.write_all("reply")).has_value());
    EXPECT_TRUE((co_await passed.read_exactly(hello)).has_value());
  });
}

TEST_P(CloseTest, ADuplicateOfAClosedListenerAccepts) {
  auto first = listening();
  const endpoint at = first.local();
  tcp_listener second(std::make_shared<descriptor>(::fcntl(first.native_handle(), F_DUPFD_CLOEXEC, 0)));
  ctx().block_on([&]() -> task<void> {
    auto accepting = spawn(first.accept());
    co_await yield();
    first.close();
    EXPECT_TRUE(is_closed(co_await std::move(accepting)));
    auto [client, server] = co_await when_all(tcp_stream::connect(at), second.accept());
    EXPECT_TRUE(client && server);
    if (!client || !server) co_return;
    EXPECT_TRUE((co_await client->write_all("x")).has_value());
    std::array<std::byte, 1> got{};
    EXPECT_TRUE((co_await server->read_exactly(got)).has_value());
  });
}

// ---- Giving it up.

TEST_P(CloseTest, AReleasedStreamIsTheCallersAndGoesOn) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    EXPECT_TRUE((co_await both.client.write_all("line\nahead")).has_value());
    EXPECT_EQ(co_await both.server.read_until("\n"), "line\n");
    const int number = both.server.native_handle();
    EXPECT_EQ(both.server.release(), number);
    EXPECT_FALSE(both.server.is_open());
    EXPECT_TRUE(is_closed(both.server.release()));
    EXPECT_TRUE(is_closed(co_await both.server.write_all("x")));
    std::array<std::byte, 8> ahead{};
    EXPECT_EQ(co_await both.server.read_some(ahead), 5U);  // what had been read already
    both.server.close();
    tcp_stream next(std::make_shared<descriptor>(number));
    EXPECT_TRUE((co_await next.write_all("hello")).has_value());
    std::array<std::byte, 5> hello{};
    EXPECT_TRUE((co_await both.client.read_exactly(hello)).has_value());
  });
}

TEST_P(CloseTest, AStreamThatATaskReadsIsNotReleased) {
  auto ends = unix_stream::pair();
  ASSERT_TRUE(ends.has_value());
  ctx().block_on([&]() -> task<void> {
    std::array<std::byte, 1> got{};
    auto reader = spawn([&]() -> task<result<void>> { co_return co_await ends->first.read_exactly(got); });
    co_await yield();
    EXPECT_EQ(ends->first.release().error(), std::errc::device_or_resource_busy);
    EXPECT_TRUE(ends->first.is_open());
    EXPECT_TRUE((co_await ends->second.write_all("x")).has_value());
    EXPECT_TRUE((co_await std::move(reader)).has_value());
    const auto number = ends->first.release();
    EXPECT_TRUE(number.has_value());
    if (number) ::close(*number);
  });
}

TEST_P(CloseTest, AListenerIsReleasedUntilItAccepts) {
  auto first = listening();
  const auto number = first.release();
  ASSERT_TRUE(number.has_value());
  EXPECT_FALSE(first.is_open());
  tcp_listener second(std::make_shared<descriptor>(*number));
  ctx().block_on([&]() -> task<void> {
    EXPECT_TRUE(is_closed(co_await first.accept()));
    const auto both = co_await connected(second);
    auto waiting = spawn(second.accept());
    co_await yield();
    EXPECT_EQ(second.release().error(), std::errc::device_or_resource_busy);
    second.close();
    EXPECT_TRUE(is_closed(second.release()));
    EXPECT_TRUE(is_closed(co_await std::move(waiting)));
  });
}

TEST_P(CloseTest, AReleasedDatagramSocketGoesOn) {
  auto here = udp_socket::bind(endpoint::loopback(0));
  auto there = udp_socket::bind(endpoint::loopback(0));
  ASSERT_TRUE(here && there);
  const endpoint at = here->local();
  const auto number = here->release();
  ASSERT_TRUE(number.has_value());
  here->close();
  udp_socket next(std::make_shared<descriptor>(*number));
  ctx().block_on([&]() -> task<void> {
    EXPECT_EQ(co_await there->send_to(bytes("x"), at), 1U);
    std::array<std::byte, 8> got{};
    const auto came = co_await next.recv_from(got);
    EXPECT_TRUE(came.has_value());
  });
}

// ---- Later calls.

TEST_P(CloseTest, CallsOnAClosedStreamReachNobodyElse) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    tcp_stream& closed = both.server;
    const int number = closed.native_handle();
    closed.close();
    const innocent other(number);
    EXPECT_TRUE(is_closed(closed.shutdown(SHUT_RDWR)));
    EXPECT_TRUE(is_closed(closed.set_no_delay()));
    EXPECT_TRUE(is_closed(closed.set_keep_alive()));
    EXPECT_EQ(closed.local(), endpoint());
    EXPECT_EQ(closed.remote(), endpoint());
    std::array<std::byte, 1> one{};
    EXPECT_TRUE(is_closed(co_await closed.read_some(one)));
    EXPECT_TRUE(is_closed(co_await closed.read_exactly(one)));
    EXPECT_TRUE(is_closed(co_await closed.read_until("\n")));
    EXPECT_TRUE(is_closed(co_await closed.write_some(bytes("x"))));
    EXPECT_TRUE(is_closed(co_await closed.write_all("x")));
    closed.close();
    EXPECT_TRUE(other.unharmed());
  });
}

TEST_P(CloseTest, CallsOnTheHalvesOfAClosedStreamReachNobodyElse) {
  auto ends = unix_stream::pair();
  ASSERT_TRUE(ends.has_value());
  const int number = ends->first.native_handle();
  ctx().block_on([&]() -> task<void> {
    auto [in, out] = std::move(ends->first).split();
    in.close();
    const innocent other(number);
    EXPECT_TRUE(is_closed(out.shutdown()));
    std::array<std::byte, 1> one{};
    EXPECT_TRUE(is_closed(co_await in.read_some(one)));
    EXPECT_TRUE(is_closed(co_await out.write_all("x")));
    EXPECT_TRUE(other.unharmed());
  });
}

TEST_P(CloseTest, CallsOnAClosedListenerOrDatagramSocketReachNobodyElse) {
  auto listener = listening();
  auto socket = udp_socket::bind(endpoint::loopback(0));
  ASSERT_TRUE(socket.has_value());
  const std::array numbers{listener.native_handle(), socket->native_handle()};
  listener.close();
  socket->close();
  const innocent one(numbers[0]);
  const innocent two(numbers[1]);
  EXPECT_EQ(listener.local(), endpoint());
  EXPECT_EQ(socket->local(), endpoint());
  EXPECT_TRUE(is_closed(socket->connect(endpoint::loopback(1))));
  EXPECT_TRUE(is_closed(socket->join_multicast(*endpoint::parse("239.1.2.3:0"), 1)));
  ctx().block_on([&]() -> task<void> {
    std::array<std::byte, 1> got{};
    EXPECT_TRUE(is_closed(co_await listener.accept()));
    EXPECT_TRUE(is_closed(co_await socket->recv(got)));
    EXPECT_TRUE(is_closed(co_await socket->recv_from(got)));
    EXPECT_TRUE(is_closed(co_await socket->send(bytes("x"))));
  });
  EXPECT_TRUE(one.unharmed());
  EXPECT_TRUE(two.unharmed());
}

// ---- In flight.

TEST_P(CloseTest, ClosingADatagramSocketEndsItsReader) {
  for (const bool has_peer : {false, true}) {
    auto here = udp_socket::bind(endpoint::loopback(0));
    auto there = udp_socket::bind(endpoint::loopback(0));
    ASSERT_TRUE(here && there);
    if (has_peer) {
      ASSERT_TRUE(here->connect(there->local()).has_value());
    }
    ctx().block_on([&]() -> task<void> {
      std::array<std::array<std::byte, 10>, 2> into{};
      auto from_anyone = spawn([&]() -> task<bool> { co_return is_closed(co_await here->recv_from(into[0])); });
      auto plain = spawn([&]() -> task<bool> { co_return is_closed(co_await here->recv(into[1])); });
      co_await yield();
      here->close();
      EXPECT_TRUE(co_await std::move(from_anyone));
      EXPECT_TRUE(co_await std::move(plain));
    });
  }
}

// ---- Empty.

TEST_P(CloseTest, AStreamThatWasMovedFromOrSplitSaysThatItIsClosed) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    const auto halves = std::move(both.server).split();
    const tcp_stream taken = std::move(both.client);
    for (tcp_stream* each : {&both.server, &both.client}) {
      std::array<std::byte, 1> one{};
      iovec part{one.data(), one.size()};
      EXPECT_FALSE(each->is_open());
      EXPECT_EQ(each->native_handle(), -1);
      EXPECT_TRUE(is_closed(co_await each->read_some(one)));
      EXPECT_TRUE(is_closed(co_await each->read_exactly(one)));
      EXPECT_TRUE(is_closed(co_await each->read_until("\n")));
      EXPECT_TRUE(is_closed(co_await each->read_vectored(std::span(&part, 1))));
      EXPECT_TRUE(is_closed(co_await each->write_some(bytes("x"))));
      EXPECT_TRUE(is_closed(co_await each->write_all("x")));
      EXPECT_TRUE(is_closed(co_await each->write_vectored(std::span(&part, 1))));
      EXPECT_TRUE(is_closed(each->shutdown()));
      EXPECT_TRUE(is_closed(each->set_no_delay()));
      EXPECT_EQ(each->local(), endpoint());
      EXPECT_EQ(each->remote(), endpoint());
      EXPECT_EQ(each->home(), nullptr);
      each->close();
    }
  });
}

TEST_P(CloseTest, ListenersAndDatagramSocketsThatWereMovedFromToo) {
  auto listener = listening();
  auto socket = udp_socket::bind(endpoint::loopback(0));
  auto ends = unix_stream::pair();
  ASSERT_TRUE(socket && ends);
  const tcp_listener another = std::move(listener);
  const udp_socket moved = std::move(*socket);
  const unix_stream end = std::move(ends->first);
  EXPECT_EQ(listener.native_handle(), -1);
  EXPECT_EQ(listener.local(), endpoint());
  EXPECT_EQ(socket->native_handle(), -1);
  EXPECT_EQ(socket->local(), endpoint());
  EXPECT_TRUE(is_closed(socket->connect(endpoint::loopback(1))));
  ctx().block_on([&]() -> task<void> {
    std::array<std::byte, 1> got{};
    EXPECT_TRUE(is_closed(co_await listener.accept()));
    EXPECT_TRUE(is_closed(co_await socket->recv_from(got)));
    EXPECT_TRUE(is_closed(co_await socket->send_to(bytes("x"), endpoint::loopback(1))));
    EXPECT_TRUE(is_closed(co_await ends->first.send_fd(0)));
    EXPECT_TRUE(is_closed(co_await ends->first.recv_fd()));
  });
  listener.close();
  socket->close();
}

}  // namespace
}  // namespace faio::net
