// process_limit -- run a program, collect what it writes, and be rid of it when it takes too long.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/process/process.hpp>
#include <string>
#include <system_error>

using namespace std::chrono_literals;
namespace process = faio::process;

// Asked to end first, killed if it does not.
faio::task<faio::result<process::exit_status>> run_at_most(std::chrono::nanoseconds limit, process::command what) {
  auto child = co_await process::child::spawn(std::move(what));
  if (!child) co_return std::unexpected(child.error());
  auto status = co_await faio::timeout(limit, child->wait());
  if (status || status.error() != std::errc::timed_out) co_return status;  // asked to stop: dropped, and so killed
  (void)child->kill(SIGTERM);
  status = co_await faio::timeout(10s, child->wait());
  if (!status) (void)child->kill(SIGKILL);
  co_return co_await child->wait();
}

faio::task<bool> program() {
  // The output of one that ends. Its status, standard output and standard error; at most a MiB of them.
  auto listed = co_await faio::timeout(10s, process::output(process::command("echo", "hello"), "", 1 << 20));
  if (!listed) co_return false;
  std::printf("%d: %s", listed->status.code(), listed->out.c_str());

  auto slow = co_await run_at_most(10ms, process::command("sleep", "1000"));
  if (!slow) co_return false;
  std::printf("ended by signal %d\n", slow->signal());
  co_return listed->status.success() && listed->out == "hello\n" && slow->signal() == SIGTERM;
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  return ctx.block_on(program()) ? 0 : 1;
}
