// several_runtimes_test -- one primitive between tasks of two runtimes and plain threads.
#include <atomic>
#include <thread>

#include "faio/sync/sync.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

/// Runs `of(which)` as a task on two runtimes, twice on each, and `plain` on a thread, all at once.
template <class MakeTask, class Plain>
void on_two_runtimes_and_a_thread(MakeTask of, Plain plain) {
  runtime_context first{{.workers = 2}};
  runtime_context second{{.workers = 1}};
  std::jthread thread(plain);
  std::vector<join_handle<void>> all;
  for (int i = 0; i < 2; ++i) {
    all.push_back(first.spawn(of()));
    all.push_back(second.spawn(of()));
  }
  for (auto& each : all) each.get();
}

TEST(SeveralRuntimesTest, AMutexIsHeldByOneOfAll) {
  mutex m;
  int counter = 0;
  on_two_runtimes_and_a_thread(
      [&]() {
        return [](mutex& lock, int& count) -> task<> {
          for (int i = 0; i < 1000; ++i) {
            const auto guard = co_await lock.lock();
            ++count;
          }
        }(m, counter);
      },
      [&] {
        for (int i = 0; i < 1000; ++i) {
          const auto guard = m.blocking_lock();
          ++counter;
        }
      });
  EXPECT_EQ(counter, 5000);
}

TEST(SeveralRuntimesTest, ASemaphoreLetsSoManyInFromAll) {
  semaphore s(2);
  std::atomic<int> inside{0};
  on_two_runtimes_and_a_thread(
      [&]() {
        return [](semaphore& of, std::atomic<int>& now) -> task<> {
          for (int i = 0; i < 1000; ++i) {
            EXPECT_TRUE(co_await of.acquire());
            EXPECT_LE(now.fetch_add(1), 1);
            now.fetch_sub(1);
            of.release();
          }
        }(s, inside);
      },
      [&] {
        for (int i = 0; i < 1000; ++i) {
          s.blocking_acquire();
          EXPECT_LE(inside.fetch_add(1), 1);
          inside.fetch_sub(1);
          s.release();
        }
      });
  EXPECT_EQ(s.available(), 2U);
}

TEST(SeveralRuntimesTest, AChannelBringsValuesFromOneToTheOther) {
  runtime_context first{{.workers = 2}};
  runtime_context second{{.workers = 2}};
  channel<int> numbers(4);
  std::atomic<long> sum{0};
  const auto receive = [](channel<int>& from, std::atomic<long>& into) -> task<> {
    while (const auto got = co_await from.recv()) into += *got;
  };
  const auto send = [](channel<int>& to) -> task<> {
    for (int i = 1; i <= 1000; ++i) EXPECT_TRUE(co_await to.send(i));
  };
  auto one = second.spawn(receive(numbers, sum));
  auto two = second.spawn(receive(numbers, sum));
  std::jthread thread([&] {
    while (const auto got = numbers.blocking_recv()) sum += *got;
  });
  first.wait_all(send(numbers), send(numbers), send(numbers));
  for (int i = 1; i <= 1000; ++i) EXPECT_TRUE(numbers.blocking_send(i));
  numbers.close();
  one.get();
  two.get();
  thread.join();
  EXPECT_EQ(sum.load(), 4L * 500500);
}

/// The runtime whose task was woken is gone while the waker may still be about to wake it.
TEST(SeveralRuntimesTest, ARuntimeMayEndAsSoonAsItsTaskWasWoken) {
  for (int round = 0; round < 200; ++round) {
    event done;
    std::jthread thread;
    runtime_context ctx{{.workers = 1}};
    thread = std::jthread([&] { done.set(); });
    ctx.block_on([&]() -> task<> { EXPECT_TRUE(co_await done.wait()); });
  }
}

}  // namespace
}  // namespace faio::sync
