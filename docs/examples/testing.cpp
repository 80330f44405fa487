// testing -- the eighth chapter of docs/tutorial.md.
#include <cassert>
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>

using namespace std::chrono_literals;

// What is tested: gives up after a second.
faio::task<bool> wait_for_answer(faio::sync::channel<int>& answers) {
  auto got = co_await faio::timeout(1s, answers.recv());
  co_return got.has_value();
}

int main() {
  // One worker, so tasks run one after the other; a seed, so random choices are the same each time.
  faio::runtime_context ctx{{.workers = 1, .seed = 1}};
  faio::sync::channel<int> answers(1);

  const bool answered = ctx.block_on([&]() -> faio::task<bool> {
    auto waiting = faio::spawn(wait_for_answer(answers));
    co_await faio::yield();  // it waits now
    co_await answers.send(42);
    co_return co_await std::move(waiting);
  });
  std::printf("answered: %s\n", answered ? "yes" : "no");

  // Ending is part of what is tested: whatever still waits is asked to stop, and the report names what did not end.
  auto forgotten = ctx.spawn(wait_for_answer(answers));
  const auto report = ctx.stop(1s);
  std::printf("all ended: %s\n", report.still_running.empty() ? "yes" : "no");
  return answered && report.finished ? 0 : 1;
}
