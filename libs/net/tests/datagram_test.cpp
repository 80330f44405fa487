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

/// As a peer that does not keep to one at a time.
void send_descriptors(int over, std::span<const int> which) {
  char one = 'x';
  iovec body{&one, 1};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(8 * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(which.size_bytes());
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(which.size_bytes());
  std::memcpy(CMSG_DATA(header), which.data(), which.size_bytes());
  EXPECT_EQ(::sendmsg(over, &message, 0), 1);
}

// That nothing is left open is the fixture's business.
TEST_P(UnixTest, OfSeveralDescriptorsItGivesTheFirstAndClosesTheOthers) {
  auto ends = unix_stream::pair();
  ASSERT_TRUE(ends.has_value());
  for (const bool with_sender : {false, true}) {
    const int on = with_sender ? 1 : 0;  // says also who sent it: more to look through
    ASSERT_EQ(::setsockopt(ends->second.native_handle(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
    for (const std::size_t count : {1U, 2U, 3U, 8U}) {
      const std::array<int, 8> which{0, 1, 2, 0, 1, 2, 0, 1};
      const std::size_t before = open_descriptors();
      send_descriptors(ends->first.native_handle(), std::span(which).first(count));
      const auto got = ctx().block_on(ends->second.recv_fd());
      ASSERT_TRUE(got.has_value()) << count << " with_sender " << with_sender;
      EXPECT_EQ(::fcntl(*got, F_GETFD), FD_CLOEXEC);
      EXPECT_EQ(open_descriptors(), before + 1);
      ::close(*got);
    }
  }
}

TEST_P(UnixTest, ADescriptorThatCameWhenTheStreamWasClosedIsClosed) {
  runtime_context one_worker{{.workers = 1, .engine = GetParam()}};
  one_worker.block_on([]() -> task<void> {
    auto ends = unix_stream::pair();
    EXPECT_TRUE(ends.has_value());
    auto receiving = spawn([&]() -> task<result<int>> { co_return co_await ends->second.recv_fd(); });
    co_await yield();
    const int any = 0;
    send_descriptors(ends->first.native_handle(), std::span(&any, 1));
    ends->second.close();  // before this worker has looked
    const auto got = co_await std::move(receiving);
    EXPECT_FALSE(got.has_value());
  });
}

}  // namespace
}  // namespace faio::net
