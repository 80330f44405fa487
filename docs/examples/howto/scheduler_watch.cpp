// scheduler_watch -- a callback whenever a descriptor of some other library has something to read.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <faio/scheduler/runtime_poller.hpp>
#include <semaphore>

namespace scheduler = faio::scheduler;

int main() {
  scheduler::runtime rt({.workers = 2});
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return 1;

  eventfd_t total = 0;  // the callback runs on one worker, never twice at once
  std::binary_semaphore heard(0);
  auto watching = rt.watch(fd, POLLIN, [&](int) {
    eventfd_t value = 0;
    if (::eventfd_read(fd, &value) != 0) return;  // it was read before: ready is a hint
    total += value;
    heard.release();
  });
  if (!watching) return std::printf("%s\n", watching.error().message().c_str()), 1;

  for (eventfd_t i = 1; i <= 3; ++i) {
    if (::eventfd_write(fd, i) != 0) return 1;
    heard.acquire();
  }
  watching->reset();  // not called again after this: now the descriptor may go
  ::close(fd);
  std::printf("1 + 2 + 3 = %llu\n", static_cast<unsigned long long>(total));
  return total == 6 ? 0 : 1;
}
