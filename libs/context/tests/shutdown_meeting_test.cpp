// shutdown_meeting_test -- the end of a runtime and others who are in touch with it: handles, another runtime, threads that spawn.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

TEST(ShutdownTest, AHandleOutlivesItsRuntime) {
  std::optional<join_handle<int>> value;
  std::optional<join_handle<int>> failed;
  std::optional<join_handle<int>> destroyed;
  {
    runtime_context ctx{{.workers = 1, .stop_grace = 1ms}};
    value = ctx.spawn([] { return 5; });
    failed = ctx.spawn([]() -> int { throw std::runtime_error("kept"); });
    destroyed = ctx.spawn([]() -> task<int> {
      co_await never();
      co_return 1;
    });
    value->wait_until_done();
    failed->wait_until_done();
  }
  EXPECT_EQ(value->get(), 5);
  EXPECT_THROW((void)failed->get(), std::runtime_error);
  EXPECT_TRUE(destroyed->done());
  EXPECT_FALSE(destroyed->request_stop() && destroyed->request_stop());
  EXPECT_THROW((void)destroyed->get(), std::system_error);
}

/// Each of two runtimes has tasks that wait for tasks of the other; either may go first, at any time.
TEST(ShutdownTest, RuntimesThatWaitForEachOtherEndInAnyOrder) {
  std::minstd_rand random(static_cast<unsigned>(seed()));
  for (int round = 0; round < (sanitized ? 50 : 300); ++round) {
    auto one = std::make_unique<runtime_context>(config{.workers = 1, .stop_grace = 1ms});
    auto other = std::make_unique<runtime_context>(config{.workers = 1, .stop_grace = 1ms});
    const auto waits_for_a_task_of = [](runtime_context& there, std::size_t turns) -> task<void> {
      bool stopped = false;
      try {
        auto handle = there.spawn([turns]() -> task<void> {
          for (std::size_t turn = 0; turn < turns; ++turn) co_await yield();
          if (turns > 20) co_await never();
        });
        co_await std::move(handle);
      } catch (const std::system_error&) {  // one of the two runtimes was
        stopped = true;
      }
      if (stopped) co_await never();
    };
    for (int i = 0; i < 5; ++i) (void)one->spawn(waits_for_a_task_of(*other, random() % 40));
    if (random() % 2 == 0) {
      one.reset();
      other.reset();
    } else {
      (void)other->stop(0ms);  // refuses from here on, and is there until nobody can ask it any more
      one.reset();
      other.reset();
    }
  }
}

/// A task that is refused while the end goes through those that are left: one of the two destroys it.
TEST(ShutdownTest, ASpawnFromOutsideAndTheEndMayMeet) {
  for (int round = 0; round < (sanitized ? 100 : 300); ++round) {
    runtime_context ctx{{.workers = 1, .stop_grace = 0ms}};
    std::atomic<int> spawning{0};
    std::vector<std::thread> others;
    for (int i = 0; i < 2; ++i) {
      others.emplace_back([&] {
        for (;;) {
          try {
            (void)ctx.spawn([held = std::make_unique<int>(1)]() -> task<void> {
              EXPECT_EQ(*held, 1);
              co_return;
            });
          } catch (const std::system_error&) {
            return;
          }
          ++spawning;
        }
      });
    }
    while (spawning < 10) std::this_thread::yield();
    (void)ctx.stop(0ms);
    for (auto& each : others) each.join();
  }
}

}  // namespace
}  // namespace faio::tests
