// frame_allocator -- what was freed is used again, moves between threads in batches, and goes back after a burst.
#include "faio/scheduler/frame_allocator.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "scheduler_fixture.hpp"

namespace faio::scheduler {
namespace {

using testing::sanitized;
using testing::scaled;

/// Recycling on or off for one test.
class switched {
 public:
  explicit switched(bool on) { recycle_frames(on); }
  switched(const switched&) = delete;
  switched& operator=(const switched&) = delete;
  ~switched() {
    trim_frames();
    recycle_frames(_before);
  }

 private:
  bool _before = recycles_frames();
};

TEST(FrameAllocator, IsOffWhereTheAddressSanitizerIs) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
  constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
  constexpr bool address_sanitizer = false;
#endif
  EXPECT_EQ(recycles_frames(), !address_sanitizer);
}

TEST(FrameAllocator, GivesTheFrameThatWasFreedLast) {
  const switched on(true);
  for (const std::size_t size : {1UZ, 64UZ, 65UZ, 500UZ, 1024UZ}) {
    void* const first = allocate_frame(size);
    free_frame(first, size);
    void* const second = allocate_frame(size);
    EXPECT_EQ(first, second) << size;
    free_frame(second, size);
  }
}

TEST(FrameAllocator, FramesAreAsLargeAsAskedForAndDoNotOverlap) {
  const switched on(true);
  std::vector<std::pair<unsigned char*, std::size_t>> frames;
  for (std::size_t size = 0; size < 1200; size += 7) {
    for (int i = 0; i < 3; ++i) frames.emplace_back(static_cast<unsigned char*>(allocate_frame(size)), size);
  }
  for (std::size_t i = 0; i < frames.size(); ++i)
    std::memset(frames[i].first, static_cast<int>(i % 251), frames[i].second);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (std::size_t at = 0; at < frames[i].second; ++at) ASSERT_EQ(frames[i].first[at], i % 251);
    free_frame(frames[i].first, frames[i].second);
  }
}

TEST(FrameAllocator, LargeFramesShareNoLine) {
  const switched on(true);
  free_frame(allocate_frame(1), 1);
  if (frame_memory() == 0) GTEST_SKIP() << "each frame is a malloc";
  constexpr std::uintptr_t line = 64;
  for (std::size_t size = 257; size <= 1024; ++size) {
    void* const first = allocate_frame(size);
    void* const second = allocate_frame(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % line, 0U) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % line, 0U) << size;
    free_frame(first, size);
    free_frame(second, size);
  }
}

TEST(FrameAllocator, TheSwitchMayBeTurnedWhileFramesAreOut) {
  const switched on(true);
  std::vector<void*> frames;
  for (int i = 0; i < 1000; ++i) {
    if (i % 100 == 0) recycle_frames(i % 200 == 0);
    frames.push_back(allocate_frame(128));
    if (i % 3 == 0) {
      free_frame(frames.back(), 128);
      frames.pop_back();
    }
  }
  for (void* each : frames) free_frame(each, 128);
}

std::size_t allocated() { return frame_memory(); }

TEST(FrameAllocator, MovesBatchesBetweenThreads) {
  if (sanitized) GTEST_SKIP() << "sanitizers have an allocator of their own: nothing to measure";
  const switched on(true);
  constexpr std::size_t size = 128;
  constexpr std::size_t frames = 1000;  // several batches
  std::vector<void*> all(frames);
  const std::size_t before = allocated();
  std::size_t most = 0;
  for (int round = 0; round < 50; ++round) {
    for (auto& each : all) each = allocate_frame(size);
    most = std::max(most, allocated());
    // Only frees; what it freed is found again by the one that only allocates.
    std::thread([&] {
      for (void* each : all) free_frame(each, size);
    }).join();
  }
  // The frames that are out, one thread's lists and the depot: not one set for each round.
  EXPECT_LT(most - before, 2 * frames * (size + 16) + (64U << 10));
  // They were found in the depot: the next ones come from there, without malloc.
  const std::size_t settled = allocated();
  void* const one = allocate_frame(size);
  EXPECT_LE(allocated(), settled);
  free_frame(one, size);
}

TEST(FrameAllocator, GivesMemoryBackAfterABurst) {
  if (sanitized) GTEST_SKIP() << "sanitizers have an allocator of their own: nothing to measure";
  const switched on(true);
  trim_frames();
  constexpr std::size_t size = 256;
  constexpr std::size_t frames = 200000;
  const std::size_t before = allocated();
  {
    std::vector<void*> all(frames);
    for (auto& each : all) each = allocate_frame(size);
    EXPECT_GT(allocated() - before, frames * size);
    for (void* each : all) free_frame(each, size);
  }
  // At most 64 KiB here and 16 batches of half of that in the depot, and malloc's own bytes for each.
  const std::size_t kept = (64U << 10) + 16 * (32U << 10);
  EXPECT_LT(allocated() - before, kept + kept / 4);
  trim_frames();
  EXPECT_LT(allocated() - before, 8192U);
}

/// Bytes of the process that are in memory.
std::size_t resident() {
  std::ifstream from("/proc/self/statm");
  std::size_t size = 0;
  std::size_t pages = 0;
  from >> size >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(FrameAllocator, KeepsThePagesOfABurstForTheNextButNotOfALargeOne) {
  if (sanitized) GTEST_SKIP() << "sanitizers have an allocator of their own: nothing to measure";
  const switched on(true);
  constexpr std::size_t size = 1024;
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const auto burst = [](std::size_t bytes) {
    std::vector<void*> all(bytes / size);
    for (auto& each : all) each = allocate_frame(size);
    for (void* each : all) free_frame(each, size);
  };
  burst(8 * mebibyte);
  trim_frames();
  const std::size_t before = resident();
  burst(8 * mebibyte);
  EXPECT_GT(resident() - before, 6 * mebibyte);
  burst(256 * mebibyte);
  EXPECT_LT(resident() - before, 40 * mebibyte);
  trim_frames();
  EXPECT_LT(resident(), before + 2 * mebibyte);
}

TEST(FrameAllocator, WithoutRecyclingEachFrameGoesBackAtOnce) {
  if (sanitized) GTEST_SKIP() << "there every frame may be a malloc: nothing to measure";
  const switched off(false);
  trim_frames();
  const std::size_t before = frame_memory();
  std::vector<void*> all(10'000);
  for (auto& each : all) each = allocate_frame(1000);
  EXPECT_GE(frame_memory() - before, all.size() * 1000);
  // Every other one first: slabs that are half empty give their room again before there is a new one.
  for (std::size_t i = 0; i < all.size(); i += 2) free_frame(all[i], 1000);
  const std::size_t half_empty = frame_memory();
  for (std::size_t i = 0; i < all.size(); i += 2) all[i] = allocate_frame(1000);
  EXPECT_EQ(frame_memory(), half_empty);
  for (void* each : all) free_frame(each, 1000);
  EXPECT_EQ(frame_memory(), before);
}

TEST(FrameAllocator, AThreadThatEndsKeepsNothing) {
  if (sanitized) GTEST_SKIP() << "sanitizers have an allocator of their own: nothing to measure";
  const switched on(true);
  trim_frames();
  std::thread([] {}).join();
  const std::size_t before = allocated();
  for (int round = 0; round < 100; ++round) {
    std::thread([] {
      std::array<void*, 100> all{};
      for (auto& each : all) each = allocate_frame(1024);
      for (void* each : all) free_frame(each, 1024);
    }).join();
  }
  trim_frames();
  EXPECT_LT(allocated() - before, 64U << 10);
}

TEST(FrameAllocator, ManyThreadsPassFramesAround) {
  const switched on(true);
  const std::size_t many = scaled(200000);
  std::array<std::atomic<void*>, 64> mailbox{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < many; ++i) {
          auto* const frame = static_cast<std::size_t*>(allocate_frame(192));
          *frame = i;
          if (void* const other = mailbox[(i * 7 + t) % mailbox.size()].exchange(frame)) free_frame(other, 192);
        }
      });
    }
  }
  for (auto& each : mailbox) {
    if (each != nullptr) free_frame(each, 192);
  }
}

}  // namespace
}  // namespace faio::scheduler
