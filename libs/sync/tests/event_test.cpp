// event_test -- set for all or for one.
#include "faio/sync/event.hpp"

#include <memory>
#include <thread>

#include "faio/context/timeout.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

task<> pass(event& e) { EXPECT_TRUE(co_await e.wait()); }

TEST(EventTest, LetsAllThroughWhileItIsSet) {
  runtime_context ctx{{.workers = 1}};
  event e;
  auto first = spawn_until_it_waits(ctx, pass(e));
  auto second = spawn_until_it_waits(ctx, pass(e));
  EXPECT_FALSE(first.done());
  EXPECT_FALSE(e.try_wait());
  e.set();
  first.get();
  second.get();
  EXPECT_TRUE(e.is_set());
  EXPECT_TRUE(e.try_wait());
  ctx.block_on(pass(e));
  e.reset();
  EXPECT_FALSE(e.is_set());
  auto third = spawn_until_it_waits(ctx, pass(e));
  EXPECT_FALSE(third.done());
  e.set();
  third.get();
}

TEST(EventTest, AnAutomaticOneLetsTheLongestWaitingThrough) {
  runtime_context ctx{{.workers = 1}};
  event e(reset::automatic);
  auto first = spawn_until_it_waits(ctx, pass(e));
  auto second = spawn_until_it_waits(ctx, pass(e));
  e.set();
  first.get();
  EXPECT_FALSE(second.done());
  EXPECT_FALSE(e.is_set());
  e.set();
  second.get();
}

TEST(EventTest, AnAutomaticOneThatIsSetTwiceLetsOneThrough) {
  event e(reset::automatic);
  e.set();
  e.set();
  EXPECT_TRUE(e.is_set());
  EXPECT_TRUE(e.try_wait());
  EXPECT_FALSE(e.try_wait());
}

TEST(EventTest, CanBeSetFromTheBeginning) {
  event e(reset::manual, true);
  EXPECT_TRUE(e.try_wait());
  e.blocking_wait();
}

TEST(EventTest, AStopRequestOrATimeoutEndsTheWait) {
  runtime_context ctx{{.workers = 1}};
  event e(reset::automatic);
  auto waiting = spawn_until_it_waits(
      ctx, [](event& on) -> task<> { EXPECT_TRUE(failed_with(co_await on.wait(), std::errc::operation_canceled)); }(e));
  waiting.request_stop();
  waiting.get();
  e.set();
  EXPECT_TRUE(e.try_wait());  // not spent on the one who gave up
  ctx.block_on([&]() -> task<> { EXPECT_TRUE(failed_with(co_await timeout(1ms, e.wait()), std::errc::timed_out)); });
}

TEST(EventTest, TellsThreadsToo) {
  event go(reset::automatic);
  event gone(reset::automatic);
  std::jthread thread([&] {
    for (int i = 0; i < 500; ++i) {
      go.blocking_wait();
      gone.set();
    }
  });
  for (int i = 0; i < 500; ++i) {
    go.set();
    gone.blocking_wait();
  }
}

TEST(EventTest, BlockingOnAWorkerIsAnErrorInsteadOfAHang) {
  runtime_context ctx{{.workers = 1}};
  event e;
  ctx.block_on([&] { EXPECT_THROW(e.blocking_wait(), std::system_error); });
}

/// An event on the stack of the one who waits, the usual way to wait for something: set() does not touch it any more then.
TEST(EventTest, WhoeverHasPassedMayDestroyIt) {
  runtime_context ctx{{.workers = 2}};
  for (int round = 0; round < 3000; ++round) {
    ctx.block_on([]() -> task<> {
      auto done = std::make_unique<event>();
      spawn([to = done.get()] { to->set(); });
      if (done->try_wait()) co_return;
      EXPECT_TRUE(co_await done->wait());
    });
  }
}

}  // namespace
}  // namespace faio::sync
