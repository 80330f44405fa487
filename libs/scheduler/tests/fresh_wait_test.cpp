// fresh_wait_test -- waits that are over before others hear of them, and waits that are not.
#include "faio/scheduler/fresh_wait.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <deque>

namespace faio::scheduler {
namespace {

struct wait_of_a_test final : fresh_wait {
  wait_of_a_test() noexcept : fresh_wait(&told) {}
  static void told(fresh_wait& wait) noexcept { ++static_cast<wait_of_a_test&>(wait).settled; }
  int settled = 0;
};

TEST(FreshWaitTest, IsSettledOnceUnlessItWasOverBefore) {
  fresh_waits all;
  std::deque<wait_of_a_test> some(3);
  for (auto& each : some) {
    EXPECT_FALSE(each.is_fresh());
    all.add(each);
    EXPECT_TRUE(each.is_fresh());
  }
  some[1].forget();
  EXPECT_FALSE(some[1].is_fresh());
  all.settle_all();
  all.settle_all();
  EXPECT_EQ(some[0].settled, 1);
  EXPECT_EQ(some[1].settled, 0);
  EXPECT_EQ(some[2].settled, 1);
  for (const auto& each : some) EXPECT_FALSE(each.is_fresh());
}

TEST(FreshWaitTest, MayBeAddedAgain) {
  fresh_waits all;
  wait_of_a_test one;
  all.add(one);
  one.forget();
  all.add(one);
  all.settle_all();
  EXPECT_EQ(one.settled, 1);
  all.add(one);
  all.settle_all();
  EXPECT_EQ(one.settled, 2);
}

TEST(FreshWaitTest, ThereMayBeMoreThanThereIsRoomFor) {
  constexpr std::size_t many = 1000;
  fresh_waits all;
  std::deque<wait_of_a_test> waits(many);
  for (auto& each : waits) all.add(each);
  all.settle_all();
  for (const auto& each : waits) EXPECT_EQ(each.settled, 1);
}

}  // namespace
}  // namespace faio::scheduler
