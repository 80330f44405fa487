// tokio -- the same with faio.
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>

using namespace std::chrono_literals;

faio::task<int> square(int n) {
  co_await faio::sleep_for(1ms);
  co_return n* n;
}

faio::task<void> tick_forever() {
  for (;;) {
    auto slept = co_await faio::sleep_for(1ms);
    if (!slept) co_return;  // stopped: a result says so, and the task ends itself
  }
}

faio::task<bool> program() {
  auto handle = faio::spawn(square(3));
  auto [a, b] = co_await faio::when_all(square(1), square(2));
  const int sum = co_await std::move(handle) + a + b;

  auto late = co_await faio::timeout(5ms, faio::sleep_for(1h));

  auto forever = faio::spawn(tick_forever());
  forever.request_stop();
  co_await std::move(forever);

  std::printf("%d, late: %s\n", sum, late ? "false" : "true");
  co_return sum == 14 && late.error() == std::errc::timed_out;
}

int main() {
  faio::runtime_context ctx;
  return ctx.block_on(program()) ? 0 : 1;
}
