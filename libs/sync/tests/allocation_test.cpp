// allocation_test -- a waiter lives in its coroutine's frame: waiting allocates nothing.
#include <cstdlib>
#include <new>

#include "faio/sync/sync.hpp"
#include "scene.hpp"

namespace {
// Of this thread: with one worker that is all that the tasks do.
thread_local long allocations = 0;

void* count_and_allocate(std::size_t size) {
  ++allocations;
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

// Not inlined: g++ would see a free of what came from new.
[[gnu::noinline]] void* operator new(std::size_t size) { return count_and_allocate(size); }
[[gnu::noinline]] void* operator new[](std::size_t size) { return count_and_allocate(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace faio::sync {
namespace {

/// On one worker: a task waits again and again, another one ends each of its waits. `wait` and `wake` make tasks, whose frames come from the
/// worker's pool. How many allocations that took, once it was warm.
template <class Wait, class Wake>
long allocations_of_waits(Wait wait, Wake wake) {
  long made = -1;
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([&]() -> task<> {
    bool over = false;
    int waits = 0;
    auto waiting = spawn([&]() -> task<> {
      for (; !over; ++waits) co_await wait();
    });
    for (int rounds = 0; made != 0 && rounds < 20; ++rounds) {
      const long before = allocations;
      for (const int until = waits + 200; waits < until;) {
        co_await yield();  // now it waits
        co_await wake();
      }
      made = allocations - before;
    }
    over = true;
    while (!waiting.done()) {
      co_await wake();
      co_await yield();
    }
    co_await std::move(waiting);
  });
  return made;
}

TEST(SyncAllocationTest, TheCounterCounts) {
  const long made = allocations_of_waits([]() -> task<> { co_await yield(); },
                                         []() -> task<> {
                                           delete new int(1);
                                           co_return;
                                         });
  EXPECT_GE(made, 100);
}

TEST(SyncAllocationTest, WaitingForAMutex) {
  mutex lock;
  const auto hold = [&]() -> task<> {
    const auto guard = co_await lock.lock();
    co_await yield();  // the other one comes, and waits
  };
  EXPECT_EQ(allocations_of_waits(hold, hold), 0);
}

TEST(SyncAllocationTest, WaitingForASharedMutex) {
  shared_mutex lock;
  const auto read = [&]() -> task<> {
    const auto guard = co_await lock.lock_shared();
    co_await yield();
  };
  const auto write = [&]() -> task<> {
    const auto guard = co_await lock.lock();
    co_await yield();
  };
  EXPECT_EQ(allocations_of_waits(read, write), 0);
}

TEST(SyncAllocationTest, WaitingForASemaphore) {
  semaphore permits(0);
  EXPECT_EQ(allocations_of_waits([&]() -> task<> { (void)co_await permits.acquire(); },
                                 [&]() -> task<> {
                                   permits.release();
                                   co_return;
                                 }),
            0);
}

TEST(SyncAllocationTest, WaitingForAnEvent) {
  event happened(reset::automatic);
  EXPECT_EQ(allocations_of_waits([&]() -> task<> { (void)co_await happened.wait(); },
                                 [&]() -> task<> {
                                   happened.set();
                                   co_return;
                                 }),
            0);
}

TEST(SyncAllocationTest, WaitingForAConditionVariable) {
  mutex lock;
  condition_variable changed;
  EXPECT_EQ(allocations_of_waits(
                [&]() -> task<> {
                  auto guard = co_await lock.lock();
                  (void)co_await changed.wait(guard);
                },
                [&]() -> task<> {
                  changed.notify_one();
                  co_return;
                }),
            0);
}

TEST(SyncAllocationTest, WaitingForAChannel) {
  channel<int> numbers(0);
  EXPECT_EQ(allocations_of_waits([&]() -> task<> { (void)co_await numbers.recv(); },
                                 [&]() -> task<> {
                                   (void)numbers.try_send(1);
                                   co_return;
                                 }),
            0);
  EXPECT_EQ(allocations_of_waits([&]() -> task<> { (void)co_await numbers.send(1); },
                                 [&]() -> task<> {
                                   (void)numbers.try_recv();
                                   co_return;
                                 }),
            0);
}

}  // namespace
}  // namespace faio::sync
