// stopping -- the third chapter of docs/tutorial.md.
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>

using namespace std::chrono_literals;

// A wait that is asked to stop says so in its result; code that calculates asks its token.
faio::task<int> work_until_stopped() {
  const auto token = co_await faio::current_stop_token();
  int rounds = 0;
  while (!token.stop_requested()) {
    auto slept = co_await faio::sleep_for(1ms);
    if (!slept) break;  // std::errc::operation_canceled
    ++rounds;
  }
  co_return rounds;
}

faio::task<int> slow_answer() {
  co_await faio::sleep_for(1h);
  co_return 42;
}
faio::task<int> quick_answer() {
  co_await faio::sleep_for(1ms);
  co_return 7;
}

faio::task<void> program() {
  // By hand.
  auto worker = faio::spawn(work_until_stopped());
  co_await faio::sleep_for(20ms);
  worker.request_stop();
  std::printf("it worked: %s\n", co_await std::move(worker) > 0 ? "yes" : "no");

  // By the clock. When the time is up the task has been stopped and has ended: nothing of it is left.
  auto late = co_await faio::timeout(5ms, slow_answer());
  std::printf("the answer: %s\n", late ? "came" : late.error().message().c_str());

  // By a faster one.
  auto first = co_await faio::when_any(slow_answer(), quick_answer());
  std::printf("number %zu was first\n", first.index);
}

int main() {
  faio::runtime_context ctx;
  ctx.block_on(program());
}
