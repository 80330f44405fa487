// thread_state -- is that of the thread which asks, also in a coroutine that has moved. Compiled with -O2 in every build: only then does a compiler keep addresses.
#include "faio/scheduler/thread_state.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <latch>
#include <thread>
#include <vector>

#include "faio/scheduler/frame_allocator.hpp"

namespace faio::scheduler {
namespace {

/// Runs until it suspends itself; whoever resumes it is the next thread.
struct wanderer {
  struct promise_type {
    wanderer get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

struct seen {
  const thread_state* state = nullptr;
  worker* current = nullptr;
  const void* frame = nullptr;
};

seen look() {
  void* const frame = allocate_frame(512);
  free_frame(frame, 512);
  return {&this_thread(), current_worker(), frame};
}

/// All in one function, with a suspension in a loop: whatever a compiler could keep, it would keep here.
wanderer look_often(seen* to, int times) {
  for (int i = 0; i < times; ++i) {
    void* const frame = allocate_frame(512);
    free_frame(frame, 512);
    to[i] = {&this_thread(), current_worker(), frame};
    co_await std::suspend_always{};
  }
}

worker* mark(std::uintptr_t number) { return reinterpret_cast<worker*>(number * alignof(std::max_align_t)); }

TEST(ThreadState, IsThatOfTheThreadAfterASuspension) {
  constexpr int times = 4;
  seen found[times];
  seen expected[times];
  wanderer one{};
  std::latch all_have_looked(times + 1);  // so that none has the place of one that has ended
  std::deque<std::latch> looks;
  std::vector<std::jthread> threads;
  for (int i = 0; i < times; ++i) {
    std::latch& has_looked = looks.emplace_back(1);
    threads.emplace_back([&, i] {
      this_thread().current = mark(static_cast<std::uintptr_t>(i) + 1);
      if (i == 0)
        one = look_often(found, times);
      else
        one.handle.resume();
      expected[i] = look();
      this_thread().current = nullptr;
      has_looked.count_down();
      all_have_looked.arrive_and_wait();
    });
    has_looked.wait();
  }
  all_have_looked.arrive_and_wait();
  threads.clear();
  one.handle.destroy();
  for (int i = 0; i < times; ++i) {
    EXPECT_EQ(found[i].state, expected[i].state) << i;
    EXPECT_EQ(found[i].current, mark(static_cast<std::uintptr_t>(i) + 1)) << i;
    if (recycles_frames()) {
      EXPECT_EQ(found[i].frame, expected[i].frame) << i << ": not from the thread's own list";
    }
  }
}

TEST(ThreadState, IsFoundByACallAsWell) {
  EXPECT_EQ(&find_thread_room(), &this_thread_room());
  std::thread([here = &this_thread_room()] {
    EXPECT_EQ(&find_thread_room(), &this_thread_room());
    EXPECT_NE(&this_thread_room(), here);
  }).join();
}

}  // namespace
}  // namespace faio::scheduler
