// descriptor_test -- whose number is it?
#include "faio/context/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace faio::tests {
namespace {

int open_something() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

TEST(DescriptorTest, GivesItsNumberBackOnce) {
  context::descriptor ours(open_something());
  ours.close();
  const int somebody_elses = open_something();
  ASSERT_EQ(somebody_elses, ours.fd()) << "the lowest number that is free";
  EXPECT_FALSE(ours.enter());
  ours.close();
  EXPECT_NE(::fcntl(somebody_elses, F_GETFD), -1);
  ::close(somebody_elses);
}

TEST(DescriptorTest, KeepsItsNumberUntilTheLastHasLeft) {
  context::descriptor ours(open_something());
  ASSERT_TRUE(ours.enter());
  ours.close();
  EXPECT_NE(::fcntl(ours.fd(), F_GETFD), -1);
  EXPECT_FALSE(ours.enter());
  ours.leave();
  EXPECT_EQ(::fcntl(ours.fd(), F_GETFD), -1);
}

}  // namespace
}  // namespace faio::tests
