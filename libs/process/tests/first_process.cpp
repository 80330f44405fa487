#include <csignal>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/process/process.hpp>

using namespace std::chrono_literals;
namespace process = faio::process;

faio::task<bool> work() {
  auto sorted = co_await process::output(process::command("sort", "-r"), "a\nc\nb\n");  // runs it to its end
  if (!sorted) co_return false;
  std::printf("%s", sorted->out.c_str());

  auto sleeper = co_await process::child::spawn(process::command("sleep", "1000"));
  if (!sleeper) co_return false;
  auto late = co_await faio::timeout(10ms, sleeper->wait());  // no thread waits
  std::printf("after 10 ms: %s\n", late.error().message().c_str());
  if (!sleeper->kill(SIGTERM)) co_return false;
  auto status = co_await sleeper->wait();
  std::printf("ended by signal %d\n", status->signal());
  co_return status->signal() == SIGTERM;
}

int main() {
  auto signals = process::signal_set::listen({SIGUSR1});  // from here on it is noted, not deadly
  if (!signals) return 1;
  faio::runtime_context ctx;
  std::raise(SIGUSR1);
  const auto [came, worked] = ctx.wait_all(signals->next(), work());
  return came == SIGUSR1 && worked ? 0 : 1;
}
