// scheduler_workers -- workers that come and go while the runtime works, and the calling thread as one of them.
#include <atomic>
#include <cstdio>
#include <faio/scheduler/runtime_poller.hpp>

namespace scheduler = faio::scheduler;

int main() {
  scheduler::runtime rt({.workers = 1});
  std::atomic<int> done{0};

  const auto extra = rt.attach_worker();  // for the rush hour
  if (!extra) return 1;
  for (int i = 0; i < 1000; ++i) rt.post([&] { ++done; });
  const auto left = rt.detach_worker(*extra);  // what it had not done goes to the others
  if (!left) return std::printf("%s\n", left.error().message().c_str()), 1;

  while (done < 1000) rt.run_once(std::chrono::milliseconds(10));  // this thread helps, instead of waiting only
  std::printf("%d done, %zu workers\n", done.load(), rt.metrics().workers.size());
  return rt.stop() ? 0 : 1;
}
