// allocation_test -- a waiter lives in its coroutine's frame: waiting allocates nothing. And where there is no memory to begin a wait with, nothing is
// lost by that.
#include <cstdlib>
#include <new>

#include "faio/sync/sync.hpp"
#include "scene.hpp"

namespace {
// Of this thread: with one worker that is all that the tasks do.
thread_local long allocations = 0;
thread_local bool none_left = false;

void* count_and_allocate(std::size_t size) {
  ++allocations;
  void* const memory = none_left ? nullptr : std::malloc(size);
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
      while (!over) {
        co_await wait();
        ++waits;
      }
    });
    for (int rounds = 0; made != 0 && rounds < 20; ++rounds) {
      const long before = allocations;
      const int until = waits + 200;
      while (waits < until) {
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
                                           ::operator delete(::operator new(1));  // a new-expression may be left out
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

/// Runs `what` on one worker in a task to whose scope, and to several above it, no stop request finds its way yet: the first wait makes that way,
/// and needs memory for it.
void far_from_all_stops(task<> what) {
  runtime_context ctx{{.workers = 1}};
  const auto deeper = [](auto& self, int levels, task<> last) -> task<> {
    auto beneath = levels == 0 ? spawn(std::move(last)) : spawn(self(self, levels - 1, std::move(last)));
    while (!beneath.done()) co_await yield();  // and does not wait, which would make its part of the way
    co_await std::move(beneath);
  };
  ctx.block_on(deeper(deeper, 3, std::move(what)));
}

/// Whether a wait that finds no memory says so.
template <class T>
task<bool> has_no_memory_for(task<T> wait) {
  none_left = true;
  try {
    (void)co_await std::move(wait);
  } catch (const std::bad_alloc&) {
    none_left = false;
    co_return true;
  }
  none_left = false;
  co_return false;
}

TEST(SyncMemoryTest, AConditionVariableLeavesTheLockWithItsHolder) {
  mutex lock;
  condition_variable changed;
  far_from_all_stops([](mutex& its, condition_variable& on) -> task<> {
    auto guard = co_await its.lock();
    EXPECT_TRUE(co_await has_no_memory_for(on.wait(guard)));
    EXPECT_TRUE(guard);
    EXPECT_FALSE(its.try_lock());
  }(lock, changed));
  EXPECT_TRUE(lock.try_lock()) << "the guard gave it back";
}

TEST(SyncMemoryTest, NothingIsTakenAndNobodyStaysInLine) {
  mutex lock;
  semaphore permits(0);
  event happened(reset::automatic);
  barrier at(2);
  channel<int> numbers(0);
  broadcast<int> news(1);
  auto held = lock.blocking_lock();
  far_from_all_stops([](mutex& m) -> task<> {
    EXPECT_TRUE(co_await has_no_memory_for([](mutex& its) -> task<> { (void)co_await its.lock(); }(m)));
  }(lock));
  far_from_all_stops([](semaphore& s) -> task<> {
    EXPECT_TRUE(co_await has_no_memory_for([](semaphore& its) -> task<> { (void)co_await its.acquire(); }(s)));
  }(permits));
  far_from_all_stops([](event& e) -> task<> {
    EXPECT_TRUE(co_await has_no_memory_for([](event& its) -> task<> { (void)co_await its.wait(); }(e)));
  }(happened));
  far_from_all_stops([](barrier& b) -> task<> {
    EXPECT_TRUE(co_await has_no_memory_for([](barrier& its) -> task<> { (void)co_await its.arrive_and_wait(); }(b)));
  }(at));
  far_from_all_stops([](channel<int>& c) -> task<> {
    EXPECT_TRUE(co_await has_no_memory_for([](channel<int>& its) -> task<> { (void)co_await its.recv(); }(c)));
  }(numbers));
  far_from_all_stops([](broadcast<int>& b) -> task<> {
    auto reader = b.subscribe();
    EXPECT_TRUE(co_await has_no_memory_for(reader.recv()));
  }(news));
  held.unlock();
  EXPECT_TRUE(lock.try_lock());
  permits.release();
  EXPECT_TRUE(permits.try_acquire());
  happened.set();
  EXPECT_TRUE(happened.try_wait());
  EXPECT_TRUE(failed_with(numbers.try_send(1), errc::would_block)) << "nobody receives";
  EXPECT_TRUE(news.send(1));
  at.arrive_and_drop();  // one is left, who has not arrived
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([&]() -> task<> { EXPECT_TRUE(co_await at.arrive_and_wait()); });
}

}  // namespace
}  // namespace faio::sync
