// hosted_loop -- a worker inside an event loop that is not ours: how faio lives in a program with a user interface.
//
//   hosted_loop [address]     127.0.0.1:7070 unless it is told otherwise
//   nc 127.0.0.1 7070         each line that comes is counted in the window
//
// The loop below stands for that of a toolkit: it waits for several descriptors and calls whoever is concerned. One of them is the runtime's:
// readable means that run_once() has something to do on this thread. Connections are served by the other workers; what they want to show
// they post to this thread. So the window belongs to one thread alone, and has no lock.
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <faio/faio.hpp>
#include <string>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

// Touched by the loop's thread only.
struct window {
  int guests = 0;
  int lines = 0;
  void draw() const {
    std::printf("guests %d, lines %d\n", guests, lines);
    std::fflush(stdout);
  }
};

class timer {
 public:
  explicit timer(std::chrono::milliseconds period) : _fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
    const timespec each{.tv_sec = period.count() / 1000, .tv_nsec = period.count() % 1000 * 1'000'000};
    const itimerspec when{.it_interval = each, .it_value = each};
    if (::timerfd_settime(_fd, 0, &when, nullptr) != 0) std::perror("timerfd_settime");
  }
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer() { ::close(_fd); }
  [[nodiscard]] int native_handle() const noexcept { return _fd; }
  void clear() const {
    std::uint64_t ticks = 0;
    if (::read(_fd, &ticks, sizeof ticks) < 0) std::perror("timerfd");
  }

 private:
  int _fd;
};

int main(int argc, char** argv) {
  const auto where = endpoint::parse(argc > 1 ? argv[1] : "127.0.0.1:7070");
  if (!where) {
    std::fprintf(stderr, "usage: %s [address:port]\n", argv[0]);
    return 2;
  }
  auto ctrl_c = faio::process::signal_set::listen({SIGINT, SIGTERM}).value();  // heard from here on
  auto listener = tcp_listener::bind(*where);
  if (!listener) {
    std::fprintf(stderr, "hosted_loop: %s: %s\n", where->to_string().c_str(), listener.error().message().c_str());
    return 1;
  }
  const timer frames(50ms);
  window shown;
  faio::runtime_context ctx;

  ctx.run_once();  // from here on this thread is a worker too
  const std::size_t here = faio::this_worker::id().value();
  const auto count_lines = [&](tcp_stream client) -> faio::task<void> {
    ctx.post_to(here, [&] { ++shown.guests; });
    faio::net::buffered_reader in(client);
    for (;;) {
      auto line = co_await in.read_line();
      if (!line) break;
      ctx.post_to(here, [&] { ++shown.lines; });
    }
    ctx.post_to(here, [&] { --shown.guests; });
  };
  auto serving = ctx.spawn(faio::net::serve(*listener, count_lines, {.grace = 1s}));
  std::printf("hosted_loop: listening on %s\n", listener->local().to_string().c_str());
  std::fflush(stdout);

  auto stopping = ctx.spawn([&]() -> faio::task<void> {
    auto pressed = co_await ctrl_c.next();
    if (pressed) serving.request_stop();
  });

  // The foreign loop.
  std::array<pollfd, 2> sources{{{.fd = ctx.native_handle(), .events = POLLIN, .revents = 0},
                                 {.fd = frames.native_handle(), .events = POLLIN, .revents = 0}}};
  while (!serving.done()) {
    if (::poll(sources.data(), sources.size(), -1) < 0) continue;  // interrupted
    if (sources[0].revents != 0) ctx.run_once();
    if (sources[1].revents == 0) continue;
    frames.clear();
    shown.draw();
  }
  std::puts("hosted_loop: closed");
  return serving.get() ? 0 : 1;
}
