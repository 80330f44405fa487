// role_test -- a debug build stops a thread that plays the owner of another thread's queue.
#include "faio/queue/role.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <span>
#include <thread>
#include <vector>

#include "faio/queue/queue.hpp"

namespace faio::queue {
namespace {

void elsewhere(auto&& call) { std::thread(call).join(); }

#ifndef NDEBUG

TEST(RoleDeathTest, StopsAPopByAThreadThatIsNotTheOwner) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  local_queue<int*, 4> ring;
  ring.push_back(nullptr, no_overflow);
  EXPECT_DEATH(elsewhere([&] { ring.pop(); }), "local_queue::pop is for the owner");
  EXPECT_DEATH(elsewhere([&] { ring.push_back(nullptr, no_overflow); }), "local_queue::push_back is for the owner");
  EXPECT_DEATH(elsewhere([&] { ring.push_back_batch({}); }), "local_queue::push_back_batch is for the owner");
  EXPECT_DEATH(elsewhere([&] { (void)ring.free_room(); }), "local_queue::free_room is for the owner");

  deque<int*> stack;
  stack.push(nullptr);
  EXPECT_DEATH(elsewhere([&] { stack.pop(); }), "deque::pop is for the owner");
  EXPECT_DEATH(elsewhere([&] { stack.push(nullptr); }), "deque::push is for the owner");
  EXPECT_DEATH(elsewhere([&] { (void)stack.capacity(); }), "deque::capacity is for the owner");

  inbox<int*> box;
  box.drain();
  EXPECT_DEATH(elsewhere([&] { box.drain(); }), "inbox::drain is for the owner");
}

TEST(RoleDeathTest, StopsAStealIntoAnotherThreadsQueue) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  local_queue<int*, 4> victim, mine;
  mine.push_back(nullptr, no_overflow);
  EXPECT_DEATH(elsewhere([&] { victim.be_stolen_by(mine); }), "for its destination");

  deque<int*> other, own;
  own.push(nullptr);
  EXPECT_DEATH(elsewhere([&] { other.steal_batch(own); }), "for its destination");
}

TEST(RoleDeathTest, StopsTheOldOwnerAfterAHandOver) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  deque<int*> stack;
  stack.push(nullptr);
  stack.release_owner();
  std::latch taken(1), tried(1);
  std::thread heir([&] {
    stack.pop();
    taken.count_down();
    tried.wait();
  });
  taken.wait();
  EXPECT_DEATH(stack.pop(), "deque::pop is for the owner");
  tried.count_down();
  heir.join();
}

/// An overflow that calls the queue that it was called from.
template <class Call>
struct meddling {
  Call call;
  bool push_batch(std::span<int*>) {
    call();
    return true;
  }
};

TEST(RoleDeathTest, StopsAnOverflowThatUsesTheQueueItIsCalledFrom) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  local_queue<int*, 2> ring, other;
  while (ring.push_back(nullptr, no_overflow)) continue;
  const char* const why = "the overflow must not use the queue that it is called from";
  meddling pops{[&] { ring.pop(); }};
  meddling pushes{[&] { ring.push_back(nullptr, no_overflow); }};
  meddling steals{[&] { other.be_stolen_by(ring); }};
  EXPECT_DEATH(ring.push_back(nullptr, pops), why);
  EXPECT_DEATH(ring.push_back(nullptr, pushes), why);
  EXPECT_DEATH(ring.push_back(nullptr, steals), why);
  std::vector<int*> batch(3);
  EXPECT_DEATH(ring.push_back_batch(batch, pops), why);
  EXPECT_DEATH(ring.push_back_batch(batch, pushes), why);
}

#endif

TEST(Role, LetsAnOverflowUseAnotherQueueAndLookAtTheSizeOfThisOne) {
  local_queue<int*, 2> ring, other;
  while (ring.push_back(nullptr, no_overflow)) continue;
  struct {
    local_queue<int*, 2>&from, &to;
    bool push_batch(std::span<int*> batch) { return from.size() <= 2 && to.push_back_batch(batch) == batch.size(); }
  } overflow{ring, other};
  EXPECT_TRUE(ring.push_back(nullptr, overflow));
  EXPECT_EQ(other.size(), 2U);
  EXPECT_EQ(ring.pop(), nullptr);
  EXPECT_TRUE(ring.push_back(nullptr, no_overflow)) << "its call is over";
}

TEST(Role, LetsAQueueBeHandedOver) {
  local_queue<int*, 4> ring;
  int task = 0;
  ring.push_back(&task, no_overflow);
  ring.release_owner();
  elsewhere([&] { EXPECT_EQ(ring.pop(), &task); });
}

TEST(Role, LeavesTheQueuesOfAThreadThatEndedToTheNext) {
  local_queue<int*, 4> ring;
  deque<int*> stack;
  inbox<int*> box;
  int task = 0;
  elsewhere([&] {
    ring.push_back(&task, no_overflow);
    stack.push(&task);
    box.drain();
  });
  box.push(&task);
  EXPECT_EQ(ring.pop(), &task);
  EXPECT_EQ(stack.pop(), &task);
  EXPECT_EQ(box.drain().size(), 1U);
}

TEST(Role, LetsAnyThreadSteal) {
  deque<int*> stack;
  int task = 0;
  stack.push(&task);
  elsewhere([&] { EXPECT_EQ(stack.steal(), &task); });
}

}  // namespace
}  // namespace faio::queue
