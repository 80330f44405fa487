// process_ctrl_c -- a program that ends in good order on Ctrl-C, and at once on the second one.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/process/process.hpp>

using namespace std::chrono_literals;
namespace process = faio::process;

faio::task<int> work() {
  int rounds = 0;
  for (;;) {
    auto slept = co_await faio::sleep_for(1ms);
    if (!slept) co_return rounds;                 // we were asked to stop
    if (++rounds == 5) (void)std::raise(SIGINT);  // here in place of a user
  }
}

faio::task<bool> program(process::signal_set& ctrl_c) {
  auto working = faio::spawn(work());
  auto which = co_await ctrl_c.next();
  if (!which) co_return false;
  process::forget({SIGINT, SIGTERM});  // the next one does what it does by default
  working.request_stop();
  const int rounds = co_await std::move(working);
  std::printf("signal %d after %d rounds\n", *which, rounds);
  co_return *which == SIGINT&& rounds >= 5;
}

int main() {
  auto ctrl_c = process::signal_set::listen({SIGINT, SIGTERM});  // from here on: none is lost while we start
  if (!ctrl_c) return 1;
  faio::runtime_context ctx{{.workers = 2}};
  return ctx.block_on(program(*ctrl_c)) ? 0 : 1;
}
