// network_test -- what only a network shows: nobody there, packets that are lost, more connections than one would like.
//
// Namespaces: a thread leaves for a network of its own, and the runtime that it makes there has its workers there. That takes the right to
// make one; without it the test is skipped. Packets are lost by a filter on the receiving socket, which takes no right at all.
#include <linux/filter.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

/// The socket, and those that it accepts, lose so many of 100 packets that come in.
void lose_packets(int fd, std::uint32_t percent) {
  const auto random = static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_RANDOM);
  std::array<sock_filter, 5> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, random),
      BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, 100),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, percent, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, 0xffff'ffff),
  }};
  const sock_fprog all{static_cast<unsigned short>(program.size()), program.data()};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all) != 0) {
    ADD_FAILURE() << "SO_ATTACH_FILTER: " << std::strerror(errno);
  }
}

class NetworkTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(NetworkTest);

/// How many packets the system had to send again.
std::uint32_t sent_again(const tcp_stream& by) {
  tcp_info about{};
  socklen_t size = sizeof about;
  EXPECT_EQ(::getsockopt(by.native_handle(), IPPROTO_TCP, TCP_INFO, &about, &size), 0);
  return about.tcpi_total_retrans;
}

TEST_P(NetworkTest, WhatIsLostOnTheWayIsSentAgainAndArrivesInOrder) {
  auto listener = listening();
  lose_packets(listener.native_handle(), 10);
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    EXPECT_TRUE(both.client.set_no_delay().has_value());
    std::string sent;
    auto reader = spawn([&]() -> task<std::string> { co_return co_await read_to_end(both.server); });
    // In pieces of all sizes, until enough was sent and something of it lost.
    for (std::size_t size = 1; sent.size() < 256U << 10 || sent_again(both.client) == 0; size = size * 3 % 10007) {
      std::string piece;
      while (piece.size() < size) piece += std::to_string(sent.size() + piece.size());
      EXPECT_TRUE((co_await both.client.write_all(piece)).has_value());
      sent += piece;
    }
    EXPECT_TRUE(both.client.shutdown().has_value());
    EXPECT_TRUE(co_await std::move(reader) == sent);
  });
}

TEST_P(NetworkTest, AConnectThatNobodyAnswersHasATimeLimit) {
  auto listener = listening();
  lose_packets(listener.native_handle(), 100);
  const auto made = ctx().block_on(tcp_stream::connect(listener.local(), {.timeout = 50ms}));
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error(), std::errc::timed_out);
}

TEST_P(NetworkTest, AWriteToAPeerThatIsCutOffIsStoppedAndClosesTheStream) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    lose_packets(both.server.native_handle(), 100);
    const std::string much(64 << 20, 'w');
    const auto wrote = co_await timeout(50ms, both.client.write_all(much));
    EXPECT_FALSE(wrote.has_value());
    EXPECT_EQ(wrote.error(), std::errc::timed_out);
    EXPECT_FALSE(both.client.is_open());
  });
}

/// Runs it on a thread in a network of its own, where nothing but a loopback interface exists, and that is down. Gives why not, if not.
std::string in_an_own_network(const std::function<std::string()>& what) {
  std::string why = "this process may not make a network namespace (CAP_SYS_ADMIN)";
  std::thread([&] {
    if (::unshare(CLONE_NEWNET) == 0) why = what();
  }).join();
  return why;
}
/// In the network of the thread that calls it.
bool ip(const std::string& what) { return std::system(("ip " + what).c_str()) == 0; }
constexpr const char* no_ip = "there is no ip(8) to change a network with";

TEST_P(NetworkTest, SaysThatANetworkIsUnreachable) {
  const std::string why = in_an_own_network([&]() -> std::string {
    runtime_context inside{{.workers = 2, .engine = GetParam()}};
    for (const char* where : {"192.0.2.1:80", "[2001:db8::1]:80"}) {
      const auto made = inside.block_on(tcp_stream::connect(*endpoint::parse(where)));
      EXPECT_FALSE(made.has_value());
      EXPECT_TRUE(made.error() == std::errc::network_unreachable || made.error() == std::errc::address_not_available)
          << where << ": " << made.error().message();
    }
    auto socket = udp_socket::bind(endpoint::any(0));
    const auto sent =
        inside.block_on(socket->send_to(std::as_bytes(std::span("x", 1)), *endpoint::parse("192.0.2.1:9")));
    EXPECT_EQ(sent.error(), std::errc::network_unreachable);
    return {};
  });
  if (!why.empty()) GTEST_SKIP() << why;
}

TEST_P(NetworkTest, SaysThatAHostIsUnreachable) {
  const std::string why = in_an_own_network([&]() -> std::string {
    if (!ip("link set lo up") || !ip("route add unreachable 192.0.2.0/24")) return no_ip;
    runtime_context inside{{.workers = 2, .engine = GetParam()}};
    const auto made = inside.block_on(tcp_stream::connect(*endpoint::parse("192.0.2.1:80")));
    EXPECT_EQ(made.error(), std::errc::host_unreachable);
    return {};
  });
  if (!why.empty()) GTEST_SKIP() << why;
}

TEST_P(NetworkTest, AnInterfaceThatGoesDownIsSurvived) {
  const std::string why = in_an_own_network([&]() -> std::string {
    if (!ip("link set lo up")) return no_ip;
    runtime_context inside{{.workers = 2, .engine = GetParam()}};
    auto listener = listening();
    inside.block_on([&]() -> task<void> {
      auto both = co_await connected(listener);
      EXPECT_TRUE(ip("link set lo down"));
      EXPECT_TRUE((co_await both.client.write_all("through")).has_value());  // into the buffer: nobody knows yet
      std::array<std::byte, 7> got{};
      const auto none = co_await timeout(20ms, both.server.read_some(got));
      EXPECT_EQ(none.error(), std::errc::timed_out);
      EXPECT_TRUE(ip("link set lo up"));
      EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());  // sent again
    });
    return {};
  });
  if (!why.empty()) GTEST_SKIP() << why;
}

/// A name server that hears every question and answers none, and nothing else to ask: in this thread's network and view of the files.
class silent_name_server {
 public:
  silent_name_server() {
    const std::string file = testing::TempDir() + "faio-resolv-" + std::to_string(::getpid());
    std::ofstream(file) << "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n";
    ready = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            ::mount(file.c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr) == 0;
    ::unlink(file.c_str());
    if (auto bound = udp_socket::bind(endpoint::loopback(53))) _socket.emplace(std::move(*bound));
    ready = ready && _socket.has_value();
  }
  bool ready = false;

 private:
  std::optional<udp_socket> _socket;
};

TEST_P(NetworkTest, ANameServiceThatDoesNotAnswerHoldsNobodyUp) {
  const std::string why = in_an_own_network([&]() -> std::string {
    if (!ip("link set lo up")) return no_ip;
    const silent_name_server silence;
    if (!silence.ready) return "this process may not have an /etc/resolv.conf of its own";
    runtime_context inside{{.workers = 1, .engine = GetParam()}};
    const auto limited = inside.block_on(resolve("slow.example", "80", 20ms));
    EXPECT_FALSE(limited.has_value());
    EXPECT_EQ(limited.error(), std::errc::timed_out);
    auto stopped = inside.spawn(resolve("slow.example", "80"));
    inside.block_on([]() -> task<void> { co_await sleep_for(5ms); });  // the only worker is free meanwhile
    EXPECT_FALSE(stopped.done());
    stopped.request_stop();
    EXPECT_EQ(stopped.get().error(), std::errc::operation_canceled);
    const auto waited = inside.block_on(resolve("slow.example", "80"));
    EXPECT_EQ(waited.error(), make_error_code(errc::resolver_failed));
    return {};
  });
  if (!why.empty()) GTEST_SKIP() << why;
}

/// The other end of ten thousand connections, a process of its own: as many descriptors again would be too many for one.
/// All connect, all ask, all get their answer, all stay until the last has it. Exits with the number of the step that failed.
[[noreturn]] void be_many_clients(int port_from, std::size_t count) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) ::_exit(1);
  files.rlim_cur = files.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) ::_exit(1);
  endpoint to;
  if (::read(port_from, &to, sizeof to) != static_cast<ssize_t>(sizeof to)) ::_exit(2);
  std::vector<int> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (all.back() < 0 || ::connect(all.back(), to.data(), to.size()) != 0) ::_exit(3);
  }
  char one = 'a';
  for (const int each : all) {
    if (::write(each, &one, 1) != 1) ::_exit(4);
  }
  for (const int each : all) {
    if (::read(each, &one, 1) != 1 || one != 'a') ::_exit(5);
  }
  ::_exit(0);
}

class ManyTest : public testing::TestWithParam<engine_kind> {};
FAIO_ON_BOTH_ENGINES(ManyTest);

TEST_P(ManyTest, TenThousandConnectionsAtOnce) {
  constexpr std::size_t connections = 10'000;
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_max < connections + 100) GTEST_SKIP() << "only " << files.rlim_max << " open files are allowed";
  const rlimit before_limit = files;
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();  // before there are threads
  ASSERT_GE(child, 0);
  if (child == 0) be_many_clients(pipe_ends[0], connections);
  const std::size_t before = open_descriptors();
  {
    runtime_context ctx{{.workers = 2, .engine = GetParam()}};
    auto listener = std::move(tcp_listener::bind(endpoint::loopback(0), {.backlog = 4096}).value());
    std::atomic<std::size_t> now = 0;
    std::atomic<std::size_t> at_once = 0;
    auto serving = ctx.spawn(serve(listener, [&](tcp_stream peer) -> task<void> {
      const std::size_t with_me = ++now;
      std::size_t most = at_once;
      while (most < with_me && !at_once.compare_exchange_weak(most, with_me)) {
      }
      std::array<std::byte, 1> one{};
      for (;;) {
        auto got = co_await peer.read_exactly(one);
        if (!got) break;
        auto wrote = co_await peer.write_all(std::span<const std::byte>(one));
        if (!wrote) break;
      }
      --now;
    }));
    const endpoint here = listener.local();
    ASSERT_EQ(::write(pipe_ends[1], &here, sizeof here), static_cast<ssize_t>(sizeof here));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the step of be_many_clients that failed";
    EXPECT_EQ(at_once, connections);
    serving.request_stop();
    EXPECT_TRUE(serving.get().has_value());
    EXPECT_EQ(now, 0U);
  }
  EXPECT_EQ(open_descriptors(), before);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before_limit), 0);
}

}  // namespace
}  // namespace faio::net
