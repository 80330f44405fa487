// embedding -- the sixth chapter of docs/tutorial.md.
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>

using namespace std::chrono_literals;

int main() {
  faio::runtime_context ctx{{.workers = 1}};
  // The loop of a user interface, say: it polls its own descriptors, and one more.
  const int work = ctx.native_handle();
  auto handle = ctx.spawn([]() -> faio::task<int> {
    co_await faio::sleep_for(5ms);
    co_return 42;
  });
  while (!handle.done()) {
    pollfd ready{.fd = work, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 20) < 0 && errno != EINTR) return 1;
    ctx.run_once();  // this thread is a worker for as long as it takes
  }
  std::printf("%d\n", handle.get());
}
