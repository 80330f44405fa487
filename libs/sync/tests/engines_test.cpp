// engines_test -- each primitive on each engine: a wait that is stopped, one whose time is over, and one that another thread ends while all workers
// sleep. No descriptor is left open by any of them.
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "faio/context/timeout.hpp"
#include "faio/ioengine/engine.hpp"
#include "faio/sync/sync.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

class EnginesTest : public testing::TestWithParam<engine_kind> {
 protected:
  void SetUp() override {
    if (!ioengine::engine::create({.kind = GetParam()}))
      GTEST_SKIP() << to_string(GetParam()) << " is not allowed here";
    _before = open_descriptors();
    _ctx.emplace(config{.workers = 2, .engine = GetParam()});
  }
  void TearDown() override {
    if (!_ctx) return;
    _ctx.reset();
    EXPECT_EQ(open_descriptors(), _before);
  }

  /// `wait()` is a task that gives the error of a wait that only `wake()` ends, which is called until it has.
  template <class Wait, class Wake>
  void expect_ends(Wait wait, Wake wake) {
    _ctx->block_on([&]() -> task<> {
      auto stopped = spawn(wait());
      co_await yield();  // it may or may not wait by now
      stopped.request_stop();
      EXPECT_EQ(co_await std::move(stopped), std::errc::operation_canceled);
      const auto late = co_await timeout(1ms, wait());
      EXPECT_TRUE(failed_with(late, std::errc::timed_out));
    });
    auto woken = _ctx->spawn(wait());
    while (!woken.done()) {
      wake();
      std::this_thread::yield();
    }
    EXPECT_EQ(woken.get(), std::error_code());
  }
  runtime_context& ctx() { return *_ctx; }

  /// What it ended with.
  template <class T>
  static std::error_code error_of(const T& ended) {
    return ended.has_value() ? std::error_code() : ended.error();
  }

 private:
  std::size_t _before = 0;
  std::optional<runtime_context> _ctx;
};
INSTANTIATE_TEST_SUITE_P(Engines, EnginesTest, testing::Values(engine_kind::uring, engine_kind::epoll),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST_P(EnginesTest, AMutex) {
  mutex lock;
  auto held = lock.blocking_lock();
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await lock.lock()); }, [&] { held.unlock(); });
  EXPECT_TRUE(lock.try_lock());
}

TEST_P(EnginesTest, ASharedMutex) {
  shared_mutex lock;
  auto read = lock.blocking_lock_shared();
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await lock.lock()); }, [&] { read.unlock(); });
  auto written = lock.blocking_lock();
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await lock.lock_shared()); },
              [&] { written.unlock(); });
  EXPECT_TRUE(lock.try_lock());
}

TEST_P(EnginesTest, ASemaphore) {
  semaphore permits(1);
  bool given = false;
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await permits.acquire(2)); },
              [&] {
                if (!std::exchange(given, true)) permits.release();
              });
  EXPECT_EQ(permits.available(), 0U);
}

TEST_P(EnginesTest, AConditionVariable) {
  mutex lock;
  condition_variable changed;
  expect_ends(
      [&]() -> task<std::error_code> {
        auto guard = co_await lock.lock();
        // Asked to stop before it came to wait: then it need not have the lock.
        if (!guard) co_return guard.error();
        co_return error_of(co_await changed.wait(guard));
      },
      [&] { changed.notify_one(); });
  EXPECT_TRUE(lock.try_lock());
}

TEST_P(EnginesTest, AnEvent) {
  event happened(reset::automatic);
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await happened.wait()); },
              [&] { happened.set(); });
}

TEST_P(EnginesTest, ALatch) {
  latch done(1);
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await done.wait()); },
              [&] {
                if (!done.try_wait()) done.count_down();
              });
}

TEST_P(EnginesTest, ABarrier) {
  barrier at(2);
  std::optional<join_handle<void>> other;
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await at.arrive_and_wait()); },
              [&] {
                if (other) return;
                other = ctx().spawn([&]() -> task<> { EXPECT_TRUE(co_await at.arrive_and_wait()); });
              });
  other->get();
}

TEST_P(EnginesTest, AChannel) {
  channel<int> numbers(1);
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await numbers.recv()); },
              [&] { (void)numbers.try_send(1); });
  while (numbers.try_recv()) continue;
  EXPECT_TRUE(numbers.try_send(2));
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await numbers.send(3)); },
              [&] { (void)numbers.try_recv(); });
}

TEST_P(EnginesTest, AOneshot) {
  oneshot<int> answer;
  auto sender = answer.sender();
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await answer.recv()); },
              [&] { (void)sender.send(1); });
}

TEST_P(EnginesTest, ABroadcast) {
  broadcast<int> news(4);
  auto reader = news.subscribe();
  bool sent = false;
  expect_ends([&]() -> task<std::error_code> { co_return error_of(co_await reader.recv()); },
              [&] {
                if (!std::exchange(sent, true)) (void)news.send(1);
              });
}

}  // namespace
}  // namespace faio::sync
