// frame_test -- coroutine frames: recycled, freed on other workers than they came from, and given back after a burst.
#include <gtest/gtest.h>

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "faio/scheduler/frame_allocator.hpp"
#include "runtimes.hpp"

namespace faio::tests {
namespace {

/// Resident memory in KiB.
std::size_t resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}

task<const void*> address_of_a_local() {
  const int local = 0;
  co_await yield();
  co_return &local;
}

TEST(FrameTest, AFrameIsUsedAgain) {
  if (!scheduler::recycles_frames()) GTEST_SKIP() << "off under the address sanitizer";
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<void> {
    std::set<const void*> addresses;
    for (int i = 0; i < 1000; ++i) addresses.insert(co_await address_of_a_local());
    EXPECT_LT(addresses.size(), 10U);
  });
}

TEST(FrameTest, AFrameMayEndOnAnotherWorker) {
  runtime_context ctx{{.workers = 4}};
  std::atomic<int> moved{0};
  std::atomic<int> ended{0};
  constexpr int rounds = 5;  // what the others give back is used again
  constexpr int many = sanitized ? 1'000 : 10'000;
  for (int round = 1; round <= rounds; ++round) {
    ctx.block_on([&]() -> task<void> {
      const auto made_on = this_worker::id();
      for (int i = 0; i < many; ++i) {
        (void)spawn([&, made_on]() -> task<void> {
          co_await yield();
          co_await sleep_for(100us);
          if (this_worker::id() != made_on) moved.fetch_add(1);
          count(ended);
        });
      }
      wait_for(ended, round * many);  // stands still: all of them run elsewhere
      co_return;
    });
  }
  EXPECT_EQ(moved.load(), rounds * many);
}

/// A million tasks at once, twice: the second time does not cost more, and most of it is given back.
TEST(FrameTest, MemoryShrinksAfterAMillionTasks) {
  static constexpr int many = sanitized ? 50'000 : 1'000'000;
  runtime_context ctx{{.workers = 2}};
  const std::size_t before = resident();
  std::size_t peak = 0;
  for (int round = 0; round < 2; ++round) {
    std::atomic<int> arrived{0};
    ctx.block_on([&]() -> task<void> {
      for (int i = 0; i < many; ++i) {
        (void)spawn([](std::atomic<int>& here) -> task<void> {
          here.fetch_add(1);
          while (here.load(std::memory_order_relaxed) < many) co_await sleep_for(20ms);
        }(arrived));
      }
      while (arrived.load() < many) co_await sleep_for(1ms);
      peak = std::max(peak, resident());
    });
    EXPECT_EQ(ctx.core().live.size(), 0U);
  }
  const std::size_t after = resident();
  std::printf("VmRSS in MiB: before %zu, peak %zu, after %zu\n", before / 1024, peak / 1024, after / 1024);
  if (sanitized) GTEST_SKIP() << "a sanitizer keeps freed memory for itself";
  EXPECT_GT(peak, before + 100 * 1024) << "a million tasks were there at once";
  EXPECT_LT(after - before, (peak - before) / 4);
}

}  // namespace
}  // namespace faio::tests
