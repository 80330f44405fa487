// first_context -- the example of README.md: tasks that spawn, wait, sleep and stop.
#include <chrono>
#include <cstdio>
#include <faio/context/context.hpp>

using namespace std::chrono_literals;

faio::task<int> add(int a, int b) {
  co_await faio::sleep_for(1ms);  // the worker runs others meanwhile
  co_return a + b;
}

faio::task<int> parent() {
  faio::spawn([] { std::puts("a child: block_on waits for it too"); });
  auto handle = faio::spawn(add(3, 4));                                 // runs at once
  auto [x, y] = co_await faio::when_all(add(1, 1), add(2, 2));          // so do these
  auto late = co_await faio::timeout(5ms, faio::sleep_for(1h));         // stopped, and waited for
  std::printf("the long sleep: %s\n", late.error().message().c_str());
  co_return co_await std::move(handle) + x + y;
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  std::printf("%d\n", ctx.block_on(parent()));
}
