// ioengine_time_limit -- an operation that may take so long and no longer.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <faio/ioengine/engine.hpp>

using namespace faio::ioengine;
using namespace std::chrono_literals;

struct time_limit : timer_entry {
  time_limit(engine& at, operation& what) : timer_entry(&due), io(at), limited(what) {}
  static void due(timer_entry& self) noexcept {
    auto& mine = static_cast<time_limit&>(self);
    mine.io.cancel(mine.limited);  // asks: it completes all the same, and only then is its buffer ours again
  }
  engine& io;
  operation& limited;
};

int main() {
  auto made = engine::create();
  if (!made) return std::fprintf(stderr, "%s\n", made.error().message.c_str()), 1;
  engine& io = **made;
  int line[2];
  if (::pipe2(line, O_CLOEXEC) != 0) return 1;

  std::array<std::byte, 64> buffer{};
  operation read([](operation&) noexcept {});
  read.prepare_read(line[0], buffer);  // nobody writes
  time_limit limit(io, read);
  io.submit(read);
  io.add_timer(limit, io.time().now() + 5ms);
  while (read.in_flight()) io.wait_and_drive();
  io.cancel_timer(limit);  // had the read been faster

  std::printf("the read: %s\n", std::strerror(-read.result()));
  ::close(line[0]), ::close(line[1]);
  return read.result() == -ECANCELED ? 0 : 1;
}
