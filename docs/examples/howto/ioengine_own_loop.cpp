// ioengine_own_loop -- an engine inside an event loop that is there already: one more descriptor to poll.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <faio/ioengine/engine.hpp>

using namespace faio::ioengine;
using namespace std::chrono_literals;

// A timer is what it does and what it needs for that.
struct delayed_write : timer_entry {
  explicit delayed_write(int to) : timer_entry(&due), fd(to) {}
  static void due(timer_entry& self) noexcept {
    auto& mine = static_cast<delayed_write&>(self);
    mine.wrote = ::write(mine.fd, "hello", 5) == 5;
  }
  int fd;
  bool wrote = false;
};

int main() {
  auto made = engine::create();
  if (!made) return std::fprintf(stderr, "%s\n", made.error().message.c_str()), 1;
  engine& io = **made;
  int line[2];
  if (::pipe2(line, O_CLOEXEC) != 0) return 1;

  std::array<std::byte, 64> buffer{};
  operation read([](operation& done) noexcept { std::printf("read %d bytes\n", done.result()); });
  read.prepare_read(line[0], buffer);
  io.submit(read);
  delayed_write later(line[1]);
  io.add_timer(later, io.time().now() + 5ms);
  io.drive();  // after each submit, so that it is under way before the loop sleeps

  while (read.in_flight()) {
    pollfd all[] = {{.fd = io.native_handle(), .events = POLLIN, .revents = 0}};  // and the loop's own
    (void)::poll(all, 1, -1);                                                     // EINTR is a reason to look, too
    if (all[0].revents != 0) io.drive();
  }
  ::close(line[0]), ::close(line[1]);
  return later.wrote && read.result() == 5 ? 0 : 1;
}
