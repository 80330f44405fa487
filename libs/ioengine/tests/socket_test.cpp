// sockets -- accept, connect, send, receive, messages, shutdown: the same results on every kind.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <latch>
#include <set>
#include <thread>

#include "engine_fixture.hpp"

namespace faio::ioengine::testing {
namespace {

struct listener {
  owned_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  listener() {
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(fd, generic(), length) != 0 || ::listen(fd, 64) != 0 || ::getsockname(fd, generic(), &length) != 0)
      std::abort();
  }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&address); }
  [[nodiscard]] owned_fd connect_blocking() {
    owned_fd peer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(peer, generic(), sizeof address) != 0) std::abort();
    return peer;
  }
};

class SocketTest : public io_fixture {};
FAIO_FOR_IO_KINDS(SocketTest);

TEST_P(SocketTest, ConnectsAcceptsAndTalks) {
  listener server;
  const owned_fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in from{};
  socklen_t from_length = sizeof from;
  recorded accept, connect;
  accept.prepare_accept(server.fd, reinterpret_cast<sockaddr*>(&from), &from_length);
  connect.prepare_connect(client, server.generic(), sizeof server.address);
  io->submit(accept);
  io->drive();
  io->submit(connect);
  finish(connect);
  finish(accept);
  ASSERT_EQ(connect.results, std::vector<int>{0});
  ASSERT_GE(accept.results[0], 0);
  const owned_fd peer(accept.results[0]);
  EXPECT_EQ(from.sin_family, AF_INET);
  EXPECT_EQ(from_length, sizeof from);
  EXPECT_EQ(::fcntl(peer, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  // By epoll a listener does not block any more (README.md); by the ring nothing changes.
  if (io->kind() == engine_kind::uring) {
    EXPECT_EQ(::fcntl(server.fd, F_GETFL) & O_NONBLOCK, 0);
  }
  EXPECT_EQ(::fcntl(client, F_GETFL) & O_NONBLOCK, 0);

  std::array<std::byte, 16> buffer{};
  recorded receive, send;
  receive.prepare_recv(peer, buffer);
  io->submit(receive);
  send.prepare_send(client, bytes("hello"));
  EXPECT_EQ(run(send), 5);
  finish(receive);
  EXPECT_EQ(text(buffer, receive.results[0]), "hello");
}

TEST_P(SocketTest, AcceptMultishotGivesEveryConnection) {
  listener server;
  struct acceptor : recorded {
  } accept;
  accept.prepare_accept_multishot(server.fd);
  io->submit(accept);
  io->drive();
  std::vector<owned_fd> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(server.connect_blocking());
  while (accept.results.size() < 20) io->wait_and_drive();
  EXPECT_TRUE(accept.in_flight());
  EXPECT_TRUE(io->cancel(accept));
  finish(accept);
  EXPECT_EQ(accept.results.size(), 21U);
  EXPECT_EQ(accept.results.back(), -ECANCELED);
  EXPECT_FALSE(accept.mores.back());
  std::set<int> distinct;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(accept.mores[i]);
    ASSERT_GE(accept.results[i], 0);
    distinct.insert(accept.results[i]);
    ::close(accept.results[i]);
  }
  EXPECT_EQ(distinct.size(), 20U);
}

// With a ring of one entry there are soon more completions than its queue has room for: the kernel ends the accept then, and it goes on all the same.
TEST_P(SocketTest, AMultishotAcceptGoesOnWhenTheCompletionQueueWasFull) {
  auto small_options = options();
  small_options.ring_entries = 1;
  auto small = make_engine(small_options);
  listener server;
  constexpr std::size_t count = 50;
  std::vector<owned_fd> clients;
  for (std::size_t i = 0; i < count; ++i) clients.push_back(server.connect_blocking());
  recorded accept;
  accept.prepare_accept_multishot(server.fd);
  small->submit(accept);
  while (accept.in_flight() && accept.results.size() < count) small->wait_and_drive();
  EXPECT_TRUE(accept.in_flight());
  ASSERT_EQ(accept.results.size(), count);
  EXPECT_EQ(accept.mores, std::vector<bool>(count, true));
  small->cancel(accept);
  while (accept.in_flight()) small->wait_and_drive();
  ASSERT_EQ(accept.results.size(), count + 1);
  EXPECT_EQ(accept.results.back(), -ECANCELED);
  accept.results.pop_back();
  for (const int fd : accept.results) ::close(fd);
}

// The descriptor blocks, and is everybody's: all look for each connection, and those who lose it must go back to their loops.
TEST_P(SocketTest, EnginesThatShareABlockingListenerDoNotBlockEachOther) {
  listener server;
  constexpr int rounds = sanitized ? 20 : 200;
  constexpr int each_round = 50;
  struct acceptor {
    std::atomic<engine*> io = nullptr;
    std::atomic<int> heard = -1;  // the last round that its loop has seen
  };
  std::array<acceptor, 3> acceptors;
  std::atomic<int> accepted = 0;
  std::atomic<int> round = 0;
  std::latch can_end(1);
  std::vector<std::jthread> threads;
  for (acceptor& self : acceptors)
    threads.emplace_back([&] {
      auto own = make_engine(options());
      recorded accept;
      accept.prepare_accept_multishot(server.fd);
      own->submit(accept);
      own->drive();
      self.io = own.get();
      self.io.notify_all();
      for (std::size_t seen = 0; self.heard < rounds;) {
        own->wait_and_drive();
        for (; seen < accept.results.size(); ++seen) {
          if (accept.results[seen] < 0) continue;
          ::close(accept.results[seen]);
          ++accepted;
          accepted.notify_all();
        }
        self.heard = round.load();
      }
      can_end.wait();  // an engine outlives the wakes it is sent
      own->drain();
    });
  for (acceptor& each : acceptors) each.io.wait(nullptr);
  bool all_heard = true;
  while (round < rounds && all_heard) {
    for (int i = 0; i < each_round; ++i) {
      const auto peer = server.connect_blocking();
      const linger at_once{1, 0};  // no port waits
      ::setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    for (int seen = accepted; seen < (round + 1) * each_round; seen = accepted) accepted.wait(seen);
    ++round;
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    for (acceptor& each : acceptors) {
      each.io.load()->wake();
      while (each.heard < round && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
      all_heard = all_heard && each.heard >= round;
    }
  }
  EXPECT_TRUE(all_heard) << "an engine is blocked in a system call, in round " << round;
  round = rounds;
  ::shutdown(server.fd, SHUT_RDWR);
  for (acceptor& each : acceptors) each.io.load()->wake();
  can_end.count_down();
}

TEST_P(SocketTest, AMultishotAcceptCanBeCancelledFromItsOwnFunction) {
  listener server;
  struct one_only : operation {
    engine* io = nullptr;
    std::vector<int> fds;
    int last = 0;
    one_only()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<one_only&>(op);
            if (op.result() >= 0) self.fds.push_back(op.result());
            if (op.more())
              self.io->cancel(self);
            else
              self.last = op.result();
          }) {}
  } accept;
  accept.io = io.get();
  accept.prepare_accept_multishot(server.fd);
  std::vector<owned_fd> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(server.connect_blocking());
  io->submit(accept);
  while (accept.in_flight()) io->wait_and_drive();
  EXPECT_EQ(accept.last, -ECANCELED);
  for (const int fd : accept.fds) ::close(fd);
}

TEST_P(SocketTest, ConnectSaysWhenItIsRefused) {
  sockaddr_in nobody{};
  {
    const listener gone;
    nobody = gone.address;
  }
  const owned_fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  recorded connect;
  connect.prepare_connect(client, reinterpret_cast<sockaddr*>(&nobody), sizeof nobody);
  EXPECT_EQ(run(connect), -ECONNREFUSED);
}

TEST_P(SocketTest, ConnectWaitsForAUnixListenerWithAFullBacklog) {
  const std::string path = "/tmp/faio_ioengine_" + std::to_string(::getpid()) + ".sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const owned_fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(server, generic, sizeof address), 0);
  ASSERT_EQ(::listen(server, 0), 0);
  std::array<owned_fd, 4> clients;
  std::array<recorded, 4> connects;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const int may_not_wait = i % 2 == 0 ? 0 : SOCK_NONBLOCK;  // all the same to the engine
    clients[i] = owned_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | may_not_wait, 0));
    connects[i].prepare_connect(clients[i], generic, sizeof address);
    io->submit(connects[i]);
    io->drive();
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    recorded accept;
    accept.prepare_accept(server);
    const owned_fd accepted(run(accept));
    EXPECT_GE(accepted, 0);
  }
  for (auto& connect : connects) {
    finish(connect);
    EXPECT_EQ(connect.results, std::vector<int>{0});
  }
  ::unlink(path.c_str());
}

TEST_P(SocketTest, ReceiveGivesZeroAfterShutdown) {
  auto [here, there] = make_socketpair();
  std::array<std::byte, 8> buffer{};
  recorded receive, shutdown;
  receive.prepare_recv(here, buffer);
  io->submit(receive);
  io->drive();
  shutdown.prepare_shutdown(there, SHUT_WR);
  EXPECT_EQ(run(shutdown), 0);
  finish(receive);
  EXPECT_EQ(receive.results, std::vector<int>{0});
}

/// A datagram socket that was shut down is ready for ever and has nothing: a call that blocks gives the end, one that does not, EAGAIN.
TEST_P(SocketTest, AReceiveEndsWhenItsDatagramSocketIsShutDown) {
  for (const int family : {AF_INET, AF_UNIX}) {
    for (const int how : {SHUT_RD, SHUT_RDWR}) {
      for (const bool before : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "family " << family << " how " << how << " before " << before);
        const owned_fd one(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        std::array<std::array<std::byte, 8>, 3> buffers{};  // two reads into one buffer are the poison's to find
        iovec body{buffers[1].data(), buffers[1].size()};
        sockaddr_storage from{};
        msghdr message{};
        message.msg_name = &from;
        message.msg_namelen = sizeof from;
        message.msg_iov = &body;
        message.msg_iovlen = 1;
        recorded receive, with_header, read;
        receive.prepare_recv(one, buffers[0]);
        with_header.prepare_recvmsg(one, message);
        read.prepare_read(one, buffers[2]);
        if (before) (void)::shutdown(one, how);  // without a peer it says ENOTCONN, and is shut down
        io->submit(receive);
        io->submit(with_header);
        io->submit(read);
        io->drive();
        if (!before) (void)::shutdown(one, how);
        finish(receive);
        finish(with_header);
        finish(read);
        EXPECT_EQ(receive.results, std::vector<int>{0});
        EXPECT_EQ(with_header.results, std::vector<int>{0});
        EXPECT_EQ(read.results, std::vector<int>{0});
      }
    }
  }
}

TEST_P(SocketTest, AnAcceptEndsWhenItsListenerIsShutDown) {
  for (const int family : {AF_INET, AF_UNIX}) {
    SCOPED_TRACE(::testing::Message() << "family " << family);
    const owned_fd one(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage any{};  // the system's choice: a port, an abstract name
    any.ss_family = static_cast<sa_family_t>(family);
    const auto size = static_cast<socklen_t>(family == AF_INET ? sizeof(sockaddr_in) : sizeof(sa_family_t));
    ASSERT_EQ(::bind(one, reinterpret_cast<sockaddr*>(&any), size), 0);
    ASSERT_EQ(::listen(one, 4), 0);
    recorded accept;
    accept.prepare_accept(one);
    io->submit(accept);
    io->drive();
    ASSERT_EQ(::shutdown(one, SHUT_RDWR), 0);
    finish(accept);
    EXPECT_EQ(accept.results, std::vector<int>{-EINVAL});
  }
}

TEST_P(SocketTest, SendToAPeerThatIsGoneIsAnErrorAndNoSignal) {
  ::signal(SIGPIPE, SIG_DFL);
  auto [here, there] = make_socketpair();
  there.reset();
  recorded send;
  send.prepare_send(here, bytes("x"));
  EXPECT_EQ(run(send), -EPIPE);
}

TEST_P(SocketTest, MsgDontwaitGivesEagainInsteadOfWaiting) {
  auto [here, there] = make_socketpair();
  std::array<std::byte, 8> buffer{};
  recorded receive;
  receive.prepare_recv(here, buffer, MSG_DONTWAIT);
  EXPECT_EQ(run(receive), -EAGAIN);
}

TEST_P(SocketTest, MsgWaitallGathersUntilTheBufferIsFull) {
  auto [here, there] = make_socketpair();
  std::array<std::byte, 6> buffer{};
  recorded receive;
  receive.prepare_recv(here, buffer, MSG_WAITALL);
  io->submit(receive);
  for (const char* piece : {"ab", "cd", "ef"}) {
    EXPECT_TRUE(receive.in_flight());
    ASSERT_EQ(::send(there, piece, 2, 0), 2);
    io->drive();
  }
  finish(receive);
  EXPECT_EQ(receive.results, std::vector<int>{6});
  EXPECT_EQ(text(buffer, 6), "abcdef");
}

TEST_P(SocketTest, MsgWaitallGathersAMessageUntilItsBuffersAreFull) {
  auto [here, there] = make_socketpair();
  std::array<char, 3> first{};
  std::array<char, 5> second{};
  std::array<iovec, 3> vectors{{{first.data(), first.size()}, {nullptr, 0}, {second.data(), second.size()}}};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = vectors.size();
  recorded receive;
  receive.prepare_recvmsg(here, message, MSG_WAITALL);
  io->submit(receive);
  for (const char* piece : {"ab", "cd", "ef", "gh"}) {
    EXPECT_TRUE(receive.in_flight());
    ASSERT_EQ(::send(there, piece, 2, 0), 2);
    io->drive();
  }
  finish(receive);
  EXPECT_EQ(receive.results, std::vector<int>{8});
  EXPECT_EQ(std::string_view(first.data(), 3), "abc");
  EXPECT_EQ(std::string_view(second.data(), 5), "defgh");
  EXPECT_EQ(vectors[0].iov_len, 3U);

  // With room for control data it takes what has come: that belongs to this piece and to no other.
  std::array<std::byte, 64> control{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ASSERT_EQ(::send(there, "ij", 2, 0), 2);
  EXPECT_EQ(run(receive), 2);
  EXPECT_EQ(message.msg_controllen, 0U);
}

TEST_P(SocketTest, MsgWaitallSendsAllOfAMessage) {
  auto [here, there] = make_socketpair();
  std::string data(std::size_t{4} << 20, 'm');
  for (std::size_t i = 0; i < data.size(); i += 1000) data[i] = static_cast<char>('0' + i / 1000 % 10);
  std::array<iovec, 2> vectors{{{data.data(), 1'000'001}, {data.data() + 1'000'001, data.size() - 1'000'001}}};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = vectors.size();
  recorded send;
  send.prepare_sendmsg(here, message, MSG_WAITALL);
  io->submit(send);
  std::string received(data.size(), ' ');
  for (std::size_t at = 0; at < received.size();) {
    if (send.in_flight()) io->drive();
    const auto got = ::recv(there, received.data() + at, received.size() - at, MSG_DONTWAIT);
    if (got > 0) at += static_cast<std::size_t>(got);
    if (got < 0 && !send.in_flight()) break;
  }
  finish(send);
  EXPECT_EQ(send.results, std::vector<int>{static_cast<int>(data.size())});
  EXPECT_EQ(received, data);
}

TEST_P(SocketTest, MsgWaitallDoesNotJoinDatagrams) {
  auto [here, there] = make_socketpair(SOCK_DGRAM);
  std::array<std::byte, 8> buffer{};
  std::array<std::byte, 8> other{};
  iovec vector{other.data(), other.size()};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  recorded receive, receive_message;
  ASSERT_EQ(::send(there, "abc", 3, 0), 3);
  ASSERT_EQ(::send(there, "de", 2, 0), 2);
  receive.prepare_recv(here, buffer, MSG_WAITALL);
  EXPECT_EQ(run(receive), 3);
  receive_message.prepare_recvmsg(here, message, MSG_WAITALL);
  EXPECT_EQ(run(receive_message), 2);
}

TEST_P(SocketTest, AnOperationSubmittedAgainBeginsAnew) {
  auto [here, there] = make_socketpair();
  std::array<std::byte, 8> buffer{};
  recorded receive;
  receive.prepare_recv(here, buffer, MSG_WAITALL);
  for (const std::string_view round : {"abcdefgh", "ABCDEFGH", "01234567"}) {
    io->submit(receive);
    io->drive();
    ASSERT_EQ(::send(there, round.data(), 3, 0), 3);
    io->drive();
    ASSERT_EQ(::send(there, round.data() + 3, 5, 0), 5);
    finish(receive);
    EXPECT_EQ(receive.results.back(), 8);
    EXPECT_EQ(text(buffer, 8), round);
  }
}

TEST_P(SocketTest, ACancelledSendTellsWhatHasGoneOut) {
  const std::string data(std::size_t{4} << 20, 'z');
  for (const bool zero_copy : {false, true}) {
    auto [here, there] = make_socketpair();
    recorded send;
    if (zero_copy)
      send.prepare_send_zero_copy(here, bytes(data), MSG_WAITALL);
    else
      send.prepare_send(here, bytes(data), MSG_WAITALL);
    io->submit(send);
    std::array<char, 4096> sink{};
    ssize_t gone = 0;
    while ((gone = ::recv(there, sink.data(), sink.size(), MSG_DONTWAIT)) <= 0) io->drive();
    io->cancel(send);
    finish(send);
    for (ssize_t got = 0; (got = ::recv(there, sink.data(), sink.size(), MSG_DONTWAIT)) > 0;) gone += got;
    EXPECT_EQ(send.results, std::vector<int>{static_cast<int>(gone)}) << "zero copy: " << zero_copy;
  }
}

TEST_P(SocketTest, AConnectThatWasCancelledCanBeSubmittedAgain) {
  listener server;
  ASSERT_EQ(::listen(server.fd, 0), 0);
  // Fills the backlog: the one that is still on its way shows that there is no room for another.
  std::vector<owned_fd> others;
  for (bool full = false; !full;) {
    others.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(others.back(), server.generic(), sizeof server.address) == 0) continue;
    ASSERT_EQ(errno, EINPROGRESS);
    pollfd state{others.back(), POLLOUT, 0};
    full = ::poll(&state, 1, 200) == 0;
    ASSERT_LT(others.size(), 100U);
  }
  const owned_fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  recorded connect;
  connect.prepare_connect(client, server.generic(), sizeof server.address);
  io->submit(connect);
  io->drive();
  ASSERT_TRUE(connect.in_flight());
  io->cancel(connect);
  finish(connect);
  io->submit(connect);
  finish(connect);
  EXPECT_EQ(connect.results, (std::vector<int>{-ECANCELED, -EALREADY}));  // the kernel goes on with the first
}

TEST_P(SocketTest, MessagesCarryAddressesAndDescriptors) {
  auto [here, there] = make_socketpair(SOCK_DGRAM);
  std::string payload = "payload";
  iovec out{payload.data(), payload.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &out;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int passed = here;
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  recorded send;
  send.prepare_sendmsg(here, message);

  std::array<std::byte, 32> buffer{};
  iovec in{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control_in{};
  msghdr message_in{};
  message_in.msg_iov = &in;
  message_in.msg_iovlen = 1;
  message_in.msg_control = control_in.data();
  message_in.msg_controllen = control_in.size();
  recorded receive;
  receive.prepare_recvmsg(there, message_in);
  io->submit(receive);
  EXPECT_EQ(run(send), 7);
  finish(receive);
  EXPECT_EQ(text(buffer, receive.results[0]), "payload");
  header = CMSG_FIRSTHDR(&message_in);
  ASSERT_NE(header, nullptr);
  int got = -1;
  std::memcpy(&got, CMSG_DATA(header), sizeof got);
  const owned_fd received(got);
  EXPECT_GE(received, 0);
}

TEST_P(SocketTest, AFullSocketMakesASendWaitAndThenBeShortOrWhole) {
  auto [here, there] = make_socketpair();
  const std::vector<std::byte> data(1 << 20);
  std::size_t sent = 0;
  std::size_t received = 0;
  std::vector<std::byte> sink(1 << 16);
  while (sent < data.size()) {
    recorded send;
    send.prepare_send(here, std::span(data).subspan(sent));
    io->submit(send);
    io->drive();
    while (send.in_flight()) {
      const auto got = ::recv(there, sink.data(), sink.size(), MSG_DONTWAIT);
      if (got > 0) received += static_cast<std::size_t>(got);
      io->drive();
    }
    ASSERT_GT(send.results[0], 0);
    sent += static_cast<std::size_t>(send.results[0]);
  }
  EXPECT_LE(received, sent);
}

// Zero-copy sends complete once, when the buffer is free; by copy where the socket cannot.

TEST_P(SocketTest, AZeroCopySendCompletesOnce) {
  listener server;
  const owned_fd client = server.connect_blocking();
  const owned_fd peer(::accept4(server.fd, nullptr, nullptr, SOCK_CLOEXEC));
  const std::string data(32 * 1024, 'q');
  recorded send;
  send.prepare_send_zero_copy(client, bytes(data), MSG_WAITALL);
  io->submit(send);
  std::vector<char> sink(data.size());
  std::size_t received = 0;
  while (received < data.size()) {
    io->drive();
    const auto got = ::recv(peer, sink.data() + received, sink.size() - received, MSG_DONTWAIT);
    if (got > 0) received += static_cast<std::size_t>(got);
  }
  finish(send);
  EXPECT_EQ(send.results, std::vector<int>{static_cast<int>(data.size())});
  EXPECT_EQ(std::string_view(sink.data(), sink.size()), data);
}

TEST_P(SocketTest, AZeroCopySendFallsBackToACopy) {
  auto [here, there] = make_socketpair();
  recorded send;
  send.prepare_send_zero_copy(here, bytes("copied"));
  EXPECT_EQ(run(send), 6);
  EXPECT_EQ(send.results.size(), 1U);
  std::array<char, 8> sink{};
  EXPECT_EQ(::recv(there, sink.data(), sink.size(), 0), 6);
}

// Closing a descriptor ends nothing that is in flight: cancel does.

TEST_P(SocketTest, CloseDoesNotEndAPendingReceiveButCancelDoes) {
  auto [here, there] = make_socketpair();
  std::array<std::byte, 8> buffer{};
  recorded receive, close;
  receive.prepare_recv(here, buffer);
  io->submit(receive);
  io->drive();
  close.prepare_close(std::exchange(here.fd, -1));
  EXPECT_EQ(run(close), 0);
  io->drive();
  EXPECT_TRUE(receive.in_flight());
  io->cancel(receive);
  finish(receive);
  EXPECT_EQ(receive.results, std::vector<int>{-ECANCELED});
}

TEST_P(SocketTest, ANumberThatIsUsedAgainDoesNotMixUpOperations) {
  auto first = make_socketpair();
  const int number = first.first;
  std::array<std::byte, 8> old_buffer{};
  std::array<std::byte, 8> new_buffer{};
  recorded old_receive, new_receive;
  old_receive.prepare_recv(number, old_buffer);
  io->submit(old_receive);
  io->drive();
  const owned_fd same_file(::dup(number));  // the old file lives on elsewhere
  auto second = make_socketpair();
  ASSERT_EQ(::dup2(second.first, number), number);  // and its number now means another one
  ASSERT_EQ(::send(second.second, "new", 3, 0), 3);
  ASSERT_EQ(::send(first.second, "old", 3, 0), 3);
  io->drive();
  io->drive();
  new_receive.prepare_recv(number, new_buffer);
  io->submit(new_receive);
  finish(new_receive);
  EXPECT_EQ(text(new_buffer, new_receive.results[0]), "new");
  if (old_receive.in_flight()) io->cancel(old_receive);
  finish(old_receive);
  if (old_receive.results[0] != -ECANCELED) {
    EXPECT_EQ(text(old_buffer, old_receive.results[0]), "old");
  }
}

TEST_P(SocketTest, ADescriptorClosedAndOpenedBetweenOperationsIsSeenAnew) {
  for (int round = 0; round < 50; ++round) {
    auto [here, there] = make_socketpair();  // the same numbers every time
    std::array<std::byte, 8> buffer{};
    recorded receive;
    receive.prepare_recv(here, buffer);
    io->submit(receive);
    io->drive();
    ASSERT_EQ(::send(there, "x", 1, 0), 1);
    finish(receive);
    ASSERT_EQ(receive.results, std::vector<int>{1});
  }
}

}  // namespace
}  // namespace faio::ioengine::testing
