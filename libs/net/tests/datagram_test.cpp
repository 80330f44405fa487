// datagram_test -- udp sockets, and unix sockets with descriptors in them.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "faio/net/udp.hpp"
#include "faio/net/unix.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

class DatagramTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(DatagramTest);

TEST_P(DatagramTest, KnowsWhereEachCameFrom) {
  auto here = udp_socket::bind(endpoint::loopback(0));
  auto there = udp_socket::bind(endpoint::loopback(0));
  ASSERT_TRUE(here && there);
  ctx().block_on([&]() -> task<void> {
    EXPECT_EQ(co_await here->send_to(std::as_bytes(std::span("hi", 2)), there->local()), 2U);
    std::array<std::byte, 10> got{};
    const auto came = co_await there->recv_from(got);
    EXPECT_TRUE(came.has_value());
    EXPECT_EQ(came->size, 2U);
    EXPECT_EQ(came->from, here->local());
  });
}

TEST_P(DatagramTest, TalksToOnePeerOnceConnected) {
  auto here = udp_socket::bind(endpoint::loopback(0));
  auto there = udp_socket::bind(endpoint::loopback(0));
  ASSERT_TRUE(here && there);
  ASSERT_TRUE(here->connect(there->local()).has_value());
  ASSERT_TRUE(there->connect(here->local()).has_value());
  ctx().block_on([&]() -> task<void> {
    EXPECT_EQ(co_await here->send(std::as_bytes(std::span("abc", 3))), 3U);
    std::array<std::byte, 10> got{};
    EXPECT_EQ(co_await there->recv(got), 3U);
  });
}

TEST_P(DatagramTest, JoinsAMulticastGroup) {
  auto socket = udp_socket::bind(endpoint::any(0));
  ASSERT_TRUE(socket.has_value());
  const auto group = *endpoint::parse("239.1.2.3:0");
  // The loopback interface: there is one on every machine.
  EXPECT_TRUE(socket->join_multicast(group, 1).has_value());
  EXPECT_TRUE(socket->leave_multicast(group, 1).has_value());
  EXPECT_FALSE(socket->join_multicast(endpoint::loopback(0), 1).has_value());
}

class UnixTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(UnixTest);

TEST_P(UnixTest, ConnectsByPathAndByAbstractName) {
  const std::string path = testing::TempDir() + "faio-" + std::to_string(::getpid()) + ".sock";
  for (const std::string& name : {path, "@faio-test-" + std::to_string(::getpid())}) {
    ::unlink(name.c_str());
    auto listener = unix_listener::bind(*endpoint::unix_path(name));
    ASSERT_TRUE(listener.has_value()) << listener.error().message();
    ctx().block_on([&]() -> task<void> {
      auto [client, server] = co_await when_all(unix_stream::connect(*endpoint::unix_path(name)), listener->accept());
      EXPECT_TRUE(client && server);
      EXPECT_TRUE((co_await client->write_all("over here\n")).has_value());
      EXPECT_EQ(co_await server->read_until("\n"), "over here\n");
    });
    ::unlink(name.c_str());
  }
}

TEST_P(UnixTest, CarriesADescriptor) {
  auto ends = unix_stream::pair();
  ASSERT_TRUE(ends.has_value());
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  ctx().block_on([&]() -> task<void> {
    EXPECT_TRUE((co_await ends->first.send_fd(pipe_ends[1])).has_value());
    const auto got = co_await ends->second.recv_fd();
    EXPECT_TRUE(got.has_value());
    EXPECT_EQ(::write(*got, "x", 1), 1);
    ::close(*got);
    char byte = 0;
    EXPECT_EQ(::read(pipe_ends[0], &byte, 1), 1);
    EXPECT_TRUE((co_await ends->first.write_all("y")).has_value());
    const auto none = co_await ends->second.recv_fd();
    EXPECT_FALSE(none.has_value());
  });
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

}  // namespace
}  // namespace faio::net
