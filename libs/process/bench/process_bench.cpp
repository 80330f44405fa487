// process_bench -- what a child costs from spawn to wait, next to the same by posix_spawn and waitpid; and what a signal costs.
//
// Isolates: the way to a thread that may block and back, the pidfd, and the poll. Leaves out: pipes, and what the child does, /bin/true.
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "bars.hpp"
#include "faio/context/context.hpp"
#include "faio/process/process.hpp"

namespace {

namespace process = faio::process;

constexpr int batch = 16;

void by_hand(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < batch; ++i) {
      char name[] = "/bin/true";
      char* arguments[] = {name, nullptr};
      pid_t pid = -1;
      if (::posix_spawn(&pid, name, nullptr, nullptr, arguments, environ) != 0) state.SkipWithError("posix_spawn");
      ::waitpid(pid, nullptr, 0);
    }
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

faio::task<void> one() {
  auto made = co_await process::child::spawn(process::command("/bin/true"));
  if (made) (void)co_await made->wait();
}

void one_after_the_other(benchmark::State& state, faio::engine_kind engine) {
  faio::runtime_context ctx{{.workers = 1, .engine = engine}};
  for (auto _ : state) {
    ctx.block_on([]() -> faio::task<void> {
      for (int i = 0; i < batch; ++i) co_await one();
    });
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void all_at_once(benchmark::State& state) {
  faio::runtime_context ctx{{.workers = 1}};
  for (auto _ : state) {
    ctx.block_on([]() -> faio::task<void> {
      faio::task_group group;
      for (int i = 0; i < batch; ++i) group.spawn(one());
      co_await group.join();
    });
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

void signal_to_task(benchmark::State& state) {
  faio::runtime_context ctx{{.workers = 1}};
  auto set = process::signal_set::listen({SIGUSR1});
  for (auto _ : state) {
    ctx.block_on([&]() -> faio::task<void> {
      for (int i = 0; i < batch; ++i) {
        ::raise(SIGUSR1);
        (void)co_await set->next();
      }
    });
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

constexpr faio::bench::bar bars[] = {
    {"spawn and wait, against posix_spawn and waitpid", "child/one after the other", "child/posix_spawn, waitpid"},
    {"the same, all at once", "child/all at once", "child/posix_spawn, waitpid"},
};

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("child/posix_spawn, waitpid", by_hand)->UseRealTime();
  benchmark::RegisterBenchmark("child/one after the other", one_after_the_other, faio::engine_kind::automatic)
      ->UseRealTime();
  benchmark::RegisterBenchmark("child/one after the other, epoll", one_after_the_other, faio::engine_kind::epoll)
      ->UseRealTime();
  benchmark::RegisterBenchmark("child/all at once", all_at_once)->UseRealTime();
  benchmark::RegisterBenchmark("signal/raise to task", signal_to_task)->UseRealTime();
  return faio::bench::run(argc, argv, bars);
}
