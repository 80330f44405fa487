// compare_load -- eight connections to a responder, one of which may ask for a millisecond of computing with each request; how long the
// others wait for their replies.
//
//   compare_load one_computes port=8080 compute=1 ms=1000     {"p50_us":..,"p99_us":..,"requests":..}
//
// Plain epoll, no faio. Seven connections send a request each millisecond, not in step, whether or not the last reply came late: a late
// one counts with its whole lateness. The eighth asks again as soon as it has its reply, for computing or for nothing.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/program.hpp"
#include "common/reply.hpp"

namespace compare {
namespace {

constexpr std::size_t others = 7;
constexpr std::size_t greedy = others;  // its index
constexpr std::chrono::microseconds period(1000);

int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  if (connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) fail("cannot connect");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

struct connection {
  int fd = -1;
  bool waiting = false;
  std::size_t got = 0;          // bytes of the reply
  clock::time_point due;        // when the request under way should have been sent
  clock::time_point next_send;  // of the seven
};

class load {
 public:
  load(std::uint16_t port, bool compute)
      : _greedy_request(compute ? "GET /c HTTP/1.1\r\n\r\n" : "GET / HTTP/1.1\r\n\r\n") {
    _epoll = epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i < _all.size(); ++i) {
      _all[i].fd = connect_to(port);
      watch(_all[i].fd, i);
    }
    _timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    watch(_timer, timer_tag);
  }

  std::vector<double> run(std::chrono::milliseconds length) {
    const auto began = clock::now();
    for (std::size_t i = 0; i < others; ++i) _all[i].next_send = began + i * period / others;
    send_request(_all[greedy], _greedy_request);
    std::array<epoll_event, 16> events{};
    while (clock::now() - began < length) {
      send_what_is_due();
      arm();
      const int count = epoll_wait(_epoll, events.data(), static_cast<int>(events.size()), 1000);
      if (count == 0) fail("the responder has not answered for a second");
      for (int i = 0; i < count; ++i) {
        const auto which = events[static_cast<std::size_t>(i)].data.u64;
        if (which == timer_tag) {
          std::uint64_t times = 0;
          (void)!read(_timer, &times, sizeof times);
        } else {
          receive(which);
        }
      }
    }
    return std::move(_micros);
  }

 private:
  static constexpr std::uint64_t timer_tag = 1000;
  static constexpr std::string_view light = "GET / HTTP/1.1\r\n\r\n";

  void watch(int fd, std::uint64_t tag) {
    epoll_event about{};
    about.events = EPOLLIN;
    about.data.u64 = tag;
    if (epoll_ctl(_epoll, EPOLL_CTL_ADD, fd, &about) != 0) fail("epoll_ctl");
  }
  void send_request(connection& on, std::string_view what) {
    if (send(on.fd, what.data(), what.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(what.size())) fail("cannot send");
    on.waiting = true;
    on.got = 0;
  }
  void send_what_is_due() {
    const auto now = clock::now();
    for (std::size_t i = 0; i < others; ++i) {
      auto& each = _all[i];
      if (each.waiting || each.next_send > now) continue;
      each.due = each.next_send;
      each.next_send += period;
      send_request(each, light);
    }
  }
  /// The timer, for the first that is due and not under way.
  void arm() {
    clock::time_point first = clock::time_point::max();
    for (std::size_t i = 0; i < others; ++i)
      if (!_all[i].waiting) first = std::min(first, _all[i].next_send);
    itimerspec at{};
    if (first != clock::time_point::max()) {
      const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(first.time_since_epoch()).count();
      at.it_value.tv_sec = nanos / 1'000'000'000;
      at.it_value.tv_nsec = nanos % 1'000'000'000;
    }
    timerfd_settime(_timer, TFD_TIMER_ABSTIME, &at, nullptr);
  }
  void receive(std::size_t which) {
    auto& from = _all[which];
    std::array<char, request_room> room;
    const ssize_t count = recv(from.fd, room.data(), room.size(), MSG_DONTWAIT);
    if (count <= 0) fail("the responder has gone");
    from.got += static_cast<std::size_t>(count);
    if (from.got < reply.size()) return;
    from.waiting = false;
    if (which == greedy) {
      send_request(from, _greedy_request);
    } else {
      _micros.push_back(std::chrono::duration<double, std::micro>(clock::now() - from.due).count());
    }
  }

  std::string_view _greedy_request;
  int _epoll = -1;
  int _timer = -1;
  std::array<connection, others + 1> _all;
  std::vector<double> _micros;
};

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  options wanted(argc, argv);
  if (wanted.workload != "one_computes") fail("no workload " + wanted.workload);
  const auto port = static_cast<std::uint16_t>(wanted.number("port", 0));
  const bool compute = wanted.number("compute", 1) != 0;
  const std::chrono::milliseconds length(wanted.number("ms", 1000));
  wanted.all_asked();
  auto micros = load(port, compute).run(length);
  report()
      .add("p50_us", percentile(micros, 0.5))
      .add("p99_us", percentile(micros, 0.99))
      .add("requests", static_cast<double>(micros.size()))
      .print();
}
