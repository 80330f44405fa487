// setup errors -- each refusal names the limit or the policy, its value, and a remedy; also those that this machine does not have.
#include "setup_errors.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace faio::ioengine::testing {
namespace {

bool has(const setup_error& error, const char* part) { return error.message.find(part) != std::string::npos; }

TEST(SetupErrors, NameTheSysctlThatForbidsAndItsRemedy) {
  const auto group = detail::explain_uring_refusal("io_uring_setup", EPERM, 64, 1);
  EXPECT_TRUE(has(group, "kernel.io_uring_disabled is 1")) << group.message;
  EXPECT_TRUE(has(group, "kernel.io_uring_group")) << group.message;
  const auto nobody = detail::explain_uring_refusal("io_uring_setup", EPERM, 64, 2);
  EXPECT_TRUE(has(nobody, "kernel.io_uring_disabled is 2")) << nobody.message;
  EXPECT_TRUE(has(nobody, "kernel.io_uring_disabled=0")) << nobody.message;
}

TEST(SetupErrors, NameSeccompWhereNoSysctlForbids) {
  const auto error = detail::explain_uring_refusal("io_uring_setup", EPERM, 64, 0);
  EXPECT_TRUE(has(error, "seccomp")) << error.message;
  EXPECT_TRUE(has(error, "--security-opt")) << error.message;
  EXPECT_EQ(error.code, std::errc::operation_not_permitted);
}

TEST(SetupErrors, NameTheMemoryLimitAndTheSizeThatWasAskedFor) {
  const auto error = detail::explain_uring_refusal("io_uring_setup", ENOMEM, 4096);
  EXPECT_TRUE(has(error, "RLIMIT_MEMLOCK")) << error.message;
  EXPECT_TRUE(has(error, "4096 entries")) << error.message;
  EXPECT_TRUE(has(error, "LimitMEMLOCK=")) << error.message;
}

TEST(SetupErrors, NameTheCall) {
  EXPECT_TRUE(has(detail::explain_uring_refusal("io_uring_enter", ENOSYS, 64), "io_uring_enter answered"));
  EXPECT_TRUE(has(detail::explain_call_refusal("eventfd", EMFILE), "RLIMIT_NOFILE"));
}

TEST(SetupErrors, SayThatAutomaticTakesEpollButNotToThoseWhoAskedForIt) {
  for (const int error : {EPERM, ENOSYS, ENOMEM, EINVAL}) {
    const auto refused = detail::explain_uring_refusal("io_uring_setup", error, 64);
    EXPECT_TRUE(has(refused, "engine_kind::automatic, which takes epoll")) << refused.message;
    const std::string rest = detail::without_other_way(refused.message);
    EXPECT_EQ(rest.find("engine_kind::automatic"), std::string::npos) << rest;
    EXPECT_EQ(rest.back(), '.') << rest;
  }
  const auto full = detail::explain_uring_refusal("io_uring_setup", EMFILE, 64);
  EXPECT_FALSE(has(full, "engine_kind::automatic")) << "epoll needs descriptors too: " << full.message;
  EXPECT_EQ(detail::without_other_way(full.message), full.message);
}

}  // namespace
}  // namespace faio::ioengine::testing
