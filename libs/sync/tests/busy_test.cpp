// busy_test -- what is always ready does not keep the thread: a loop around it comes by the worker's loop, where others get their turn.
#include <atomic>

#include "faio/sync/sync.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

/// On one worker: loops until another task, which is spawned before and waits for its turn, has run.
template <class Ready>
void others_get_their_turn(Ready ready) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([&]() -> task<> {
    bool other_ran = false;
    auto other = spawn([&]() -> task<> {
      co_await sleep_for(std::chrono::milliseconds(1));  // through the engine, and back
      other_ran = true;
    });
    constexpr int far_too_many = 100'000'000;
    int turns = 0;
    while (!other_ran && turns < far_too_many) {
      (void)co_await ready();
      ++turns;
    }
    EXPECT_TRUE(other_ran) << "a loop that never waits kept the thread";
    co_await std::move(other);
  });
}

TEST(BusyTest, ALockThatIsAlwaysFree) {
  mutex lock;
  others_get_their_turn([&]() -> task<> { EXPECT_TRUE(co_await lock.lock()); });
  others_get_their_turn([&] { return lock.lock(); });
}

TEST(BusyTest, ASemaphoreWithPermits) {
  semaphore permits(1);
  others_get_their_turn([&] {
    permits.release();
    return permits.acquire();
  });
}

TEST(BusyTest, AnEventThatIsSet) {
  event happened;
  happened.set();
  others_get_their_turn([&] { return happened.wait(); });
}

TEST(BusyTest, AChannelWithRoom) {
  channel<int> numbers(1);
  others_get_their_turn([&] {
    (void)numbers.try_recv();
    return numbers.send(1);
  });
}

TEST(BusyTest, AChannelWithValues) {
  channel<int> numbers(1);
  others_get_their_turn([&] {
    (void)numbers.try_send(1);
    return numbers.recv();
  });
}

TEST(BusyTest, AChannelThatIsClosed) {
  channel<int> numbers(1);
  numbers.close();
  others_get_their_turn([&] { return numbers.recv(); });
  others_get_their_turn([&] { return numbers.send(1); });
}

TEST(BusyTest, AConditionThatHolds) {
  mutex lock;
  condition_variable changed;
  auto guard = lock.blocking_lock();
  others_get_their_turn([&] { return changed.wait(guard, [] { return true; }); });
}

TEST(BusyTest, ALatchThatIsOpen) {
  latch done(0);
  others_get_their_turn([&] { return done.wait(); });
}

TEST(BusyTest, ABarrierThatWaitsForNobodyElse) {
  barrier at(1);
  others_get_their_turn([&] { return at.arrive_and_wait(); });
}

TEST(BusyTest, ALockThatIsShared) {
  shared_mutex lock;
  others_get_their_turn([&] { return lock.lock_shared(); });
}

TEST(BusyTest, ABroadcastWithValues) {
  broadcast<int> news(1);
  auto reader = news.subscribe();
  others_get_their_turn([&] {
    (void)news.send(1);
    return reader.recv();
  });
}

}  // namespace
}  // namespace faio::sync
