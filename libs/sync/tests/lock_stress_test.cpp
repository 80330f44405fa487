// lock_stress_test -- locks and permits under random stops and timeouts: never two inside, none lost.
//
//   FAIO_ROUNDS=10000000 FAIO_SEED=1 lock_stress_test
#include <atomic>
#include <random>
#include <thread>

#include "faio/context/timeout.hpp"
#include "faio/sync/mutex.hpp"
#include "faio/sync/semaphore.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using random_source = std::minstd_rand;
constexpr int tasks = 8;

random_source source(std::uint64_t seed, int which) {
  return random_source(
      static_cast<random_source::result_type>(seed * 31 + static_cast<std::uint64_t>(which) * 7919 + 1));
}

/// Spawned, and asked to stop some turns later, by when it may or may not have what it waited for.
template <class T>
task<T> stopped_soon(task<T> what, random_source& random) {
  auto handle = spawn(std::move(what));
  for (auto turns = random() % 4; turns != 0; --turns) co_await yield();
  handle.request_stop();
  co_return co_await std::move(handle);
}

/// A random way to wait for `make()`; an empty guard or an error when it gave up.
template <class Awaited, class Make>
task<bool> under_threat(Make make, Awaited& got, random_source& random) {
  const auto drawn = random() % 10;
  if (drawn == 0) {
    auto gave = co_await timeout(std::chrono::microseconds(random() % 3), make());
    if (!gave) co_return false;
    if constexpr (requires { got = std::move(*gave); }) got = std::move(*gave);
    co_return true;
  }
  if (drawn == 1) {
    got = co_await stopped_soon([](Make how) -> task<Awaited> { co_return co_await how(); }(make), random);
  } else {
    got = co_await make();
  }
  co_return got.has_value();
}

TEST(LockStressTest, AMutexIsHeldByOneAndNeverLost) {
  const std::uint64_t seed = seed_of_this_run();
  const std::uint64_t rounds = rounds_of_this_run(300'000) / tasks;
  runtime_context ctx{{.workers = 3}};
  mutex m;
  std::uint64_t counter = 0;  // of all who got in, and only the mutex guards it
  std::atomic<std::uint64_t> entered{0};
  std::atomic<std::uint64_t> given_up{0};
  std::jthread thread([&] {
    for (std::uint64_t i = 0; i < rounds / 10; ++i) {
      const auto guard = m.blocking_lock();
      ++counter;
      entered.fetch_add(1, std::memory_order_relaxed);
    }
  });
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < tasks; ++t) {
      group.spawn([](mutex& lock, std::uint64_t& shared, std::atomic<std::uint64_t>& in,
                     std::atomic<std::uint64_t>& out, std::uint64_t count, random_source random) -> task<> {
        for (std::uint64_t i = 0; i < count; ++i) {
          mutex::guard guard;
          if (!co_await under_threat([&lock] { return lock.lock(); }, guard, random)) {
            out.fetch_add(1, std::memory_order_relaxed);
            continue;
          }
          const std::uint64_t seen = shared;
          if (random() % 4 == 0) co_await yield();
          shared = seen + 1;
          in.fetch_add(1, std::memory_order_relaxed);
        }
      }(m, counter, entered, given_up, rounds, source(seed, t)));
    }
    co_await group.join();
  });
  thread.join();
  EXPECT_EQ(counter, entered.load());
  EXPECT_TRUE(m.try_lock());
  std::printf("%llu entered, %llu gave up\n", static_cast<unsigned long long>(entered.load()),
              static_cast<unsigned long long>(given_up.load()));
}

TEST(LockStressTest, ASemaphoreHasAllItsPermitsAfterwards) {
  const std::uint64_t seed = seed_of_this_run();
  const std::uint64_t rounds = rounds_of_this_run(300'000) / tasks;
  runtime_context ctx{{.workers = 3}};
  constexpr std::uint64_t all = 5;
  semaphore s(all);
  std::atomic<std::uint64_t> inside{0};
  std::atomic<bool> too_many{false};
  std::atomic<std::uint64_t> given_up{0};
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < tasks; ++t) {
      group.spawn([](semaphore& of, std::atomic<std::uint64_t>& now, std::atomic<bool>& wrong,
                     std::atomic<std::uint64_t>& out, std::uint64_t count, std::uint64_t most,
                     random_source random) -> task<> {
        for (std::uint64_t i = 0; i < count; ++i) {
          const std::uint64_t wanted = 1 + random() % most;
          result<void> got;
          if (!co_await under_threat([&of, wanted] { return of.acquire(wanted); }, got, random)) {
            out.fetch_add(1, std::memory_order_relaxed);
            continue;
          }
          if (now.fetch_add(wanted) + wanted > most) wrong = true;
          if (random() % 4 == 0) co_await yield();
          now.fetch_sub(wanted);
          of.release(wanted);
        }
      }(s, inside, too_many, given_up, rounds, all, source(seed, t)));
    }
    co_await group.join();
  });
  EXPECT_FALSE(too_many.load());
  EXPECT_EQ(s.available(), all);
  EXPECT_TRUE(s.try_acquire(all));
  std::printf("%llu gave up\n", static_cast<unsigned long long>(given_up.load()));
}

TEST(LockStressTest, ASharedMutexNeverHasAWriterWithOthers) {
  const std::uint64_t seed = seed_of_this_run();
  const std::uint64_t rounds = rounds_of_this_run(200'000) / tasks;
  runtime_context ctx{{.workers = 3}};
  shared_mutex m;
  std::atomic<int> readers{0};
  std::atomic<int> writers{0};
  std::atomic<bool> wrong{false};
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < tasks; ++t) {
      group.spawn([](shared_mutex& lock, std::atomic<int>& reading, std::atomic<int>& writing, std::atomic<bool>& bad,
                     std::uint64_t count, random_source random) -> task<> {
        for (std::uint64_t i = 0; i < count; ++i) {
          if (random() % 4 == 0) {
            shared_mutex::guard guard;
            if (!co_await under_threat([&lock] { return lock.lock(); }, guard, random)) continue;
            if (writing.fetch_add(1) != 0 || reading.load() != 0) bad = true;
            if (random() % 4 == 0) co_await yield();
            writing.fetch_sub(1);
          } else {
            shared_mutex::shared_guard guard;
            if (!co_await under_threat([&lock] { return lock.lock_shared(); }, guard, random)) continue;
            reading.fetch_add(1);
            if (writing.load() != 0) bad = true;
            if (random() % 4 == 0) co_await yield();
            reading.fetch_sub(1);
          }
        }
      }(m, readers, writers, wrong, rounds, source(seed, t)));
    }
    co_await group.join();
  });
  EXPECT_FALSE(wrong.load());
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

}  // namespace
}  // namespace faio::sync
