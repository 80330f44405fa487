// sync_pool -- a pool of tasks that work off a channel; whoever fills it waits when they do not keep up.
#include <atomic>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/sync/channel.hpp>

faio::task<void> work_off(faio::sync::channel<int>& jobs, std::atomic<long>& sum) {
  for (;;) {
    auto job = co_await jobs.recv();
    if (!job) co_return;  // closed and empty, or we were asked to stop
    sum += *job;
  }
}

faio::task<long> program() {
  std::atomic<long> sum{0};
  faio::sync::channel<int> jobs(8);  // so many wait at most
  faio::task_group workers;
  for (int i = 0; i < 3; ++i) workers.spawn(work_off(jobs, sum));
  for (int i = 1; i <= 1000; ++i) {
    auto sent = co_await jobs.send(i);
    if (!sent) break;
  }
  jobs.close();  // what was sent is still worked off
  co_await workers.join();
  co_return sum.load();
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  const long sum = ctx.block_on(program());
  std::printf("%ld\n", sum);
  return sum == 500500 ? 0 : 1;
}
