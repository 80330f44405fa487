// scheduler_post -- callbacks on the workers, long computations beside them, and how plain code waits for both.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <faio/scheduler/runtime_poller.hpp>
#include <latch>

namespace scheduler = faio::scheduler;

int main() {
  scheduler::runtime rt({.workers = 2});
  std::atomic<int> small{0};
  std::atomic<std::uint64_t> large{0};
  std::latch all(101);

  for (int i = 0; i < 100; ++i) {
    rt.post([&] {
      ++small;
      all.count_down();
    });
  }
  rt.post([&] {  // a callback that finds that it has something long to do
    rt.post_compute([&] {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < 1'000'000; ++i) sum += i;
      large = sum;
      all.count_down();
    });
  });

  all.wait();  // this thread is no worker: it may block
  std::printf("%d callbacks, and %llu\n", small.load(), static_cast<unsigned long long>(large.load()));
  const bool ended = rt.stop();
  return ended && small == 100 && large == 499'999'500'000 ? 0 : 1;
}
