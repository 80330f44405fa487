// barrier_test -- rounds, parties that leave, arrivals that are taken back.
#include <atomic>
#include <stdexcept>

#include "faio/context/timeout.hpp"
#include "faio/sync/event.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

task<> arrive(barrier& at) { EXPECT_TRUE(co_await at.arrive_and_wait()); }

TEST(BarrierTest, NobodyIsInTheNextRoundBeforeAllHaveEndedThis) {
  runtime_context ctx{{.workers = 3}};
  static constexpr int parties = 5;
  static constexpr int rounds = 300;
  barrier b(parties);
  std::atomic<int> arrived{0};
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int t = 0; t < parties; ++t) {
      group.spawn([](barrier& at, std::atomic<int>& count) -> task<> {
        for (int round = 1; round <= rounds; ++round) {
          count.fetch_add(1);
          EXPECT_TRUE(co_await at.arrive_and_wait());
          EXPECT_GE(count.load(), round * parties);
          EXPECT_LT(count.load(), (round + 1) * parties);
          EXPECT_TRUE(co_await at.arrive_and_wait());
        }
      }(b, arrived));
    }
    co_await group.join();
  });
  EXPECT_EQ(arrived.load(), parties * rounds);
}

TEST(BarrierTest, AStopRequestTakesTheArrivalBack) {
  runtime_context ctx{{.workers = 1}};
  barrier b(2);
  auto gives_up = spawn_until_it_waits(ctx, [](barrier& at) -> task<> {
    EXPECT_TRUE(failed_with(co_await at.arrive_and_wait(), std::errc::operation_canceled));
  }(b));
  gives_up.request_stop();
  gives_up.get();
  auto first = spawn_until_it_waits(ctx, arrive(b));
  EXPECT_FALSE(first.done());  // it is the only one
  auto second = spawn_until_it_waits(ctx, arrive(b));
  first.get();
  second.get();
}

TEST(BarrierTest, ATimeoutTakesTheArrivalBackToo) {
  runtime_context ctx{{.workers = 1}};
  barrier b(2);
  ctx.block_on(
      [&]() -> task<> { EXPECT_TRUE(failed_with(co_await timeout(1ms, b.arrive_and_wait()), std::errc::timed_out)); });
  auto first = spawn_until_it_waits(ctx, arrive(b));
  EXPECT_FALSE(first.done());
  b.arrive_and_drop();
  first.get();
}

TEST(BarrierTest, APartyThatDropsOutIsNotWaitedForAnyMore) {
  runtime_context ctx{{.workers = 1}};
  barrier b(3);
  auto first = spawn_until_it_waits(ctx, arrive(b));
  auto second = spawn_until_it_waits(ctx, arrive(b));
  b.arrive_and_drop();
  first.get();
  second.get();
  auto third = spawn_until_it_waits(ctx, arrive(b));
  EXPECT_FALSE(third.done());
  auto fourth = spawn_until_it_waits(ctx, arrive(b));
  third.get();
  fourth.get();
}

TEST(BarrierTest, WithoutPartiesIsAnError) {
  EXPECT_THROW(barrier(0), std::invalid_argument);
  barrier b(1);
  b.arrive_and_drop();
  EXPECT_THROW(b.arrive_and_drop(), std::logic_error);
  runtime_context ctx{{.workers = 1}};
  EXPECT_THROW(ctx.block_on(arrive(b)), std::logic_error);
}

}  // namespace
}  // namespace faio::sync
