// refusal_test -- io_uring is forbidden by the kernel: a runtime that may choose works with epoll, one that may not says why.
//
// Seen when the original was run: EPERM from io_uring_setup was a segmentation fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

/// From here on this process gets `error` for every io_uring_setup.
bool forbid_io_uring(int error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{.len = sizeof code / sizeof code[0], .filter = code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int good = 0;
constexpr int no_filter = 77;

/// In a process of its own.
template <class F>
int in_a_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(RefusalTest, AutomaticFallsBackToEpollAndSaysSo) {
  for (const int error : {EPERM, ENOSYS}) {
    const int status = in_a_child([&] {
      if (!forbid_io_uring(error)) return no_filter;
      runtime_context ctx{{.workers = 2}};
      const bool slept = ctx.block_on([]() -> task<bool> { co_return (co_await sleep_for(2ms)).has_value(); });
      const auto metrics = ctx.metrics();
      return slept && metrics.engine == engine_kind::epoll && !metrics.engine_reason.empty() ? good : 1;
    });
    if (status == no_filter) GTEST_SKIP() << "seccomp is not there";
    EXPECT_EQ(status, good);
  }
}

TEST(RefusalTest, UringByNameIsAnErrorWithASentence) {
  const int status = in_a_child([] {
    if (!forbid_io_uring(EPERM)) return no_filter;
    try {
      const runtime_context ctx{{.workers = 2, .engine = engine_kind::uring}};
    } catch (const std::system_error& error) {
      return std::string(error.what()).size() > 20 && error.code() == std::errc::operation_not_permitted ? good : 2;
    }
    return 1;
  });
  if (status == no_filter) GTEST_SKIP() << "seccomp is not there";
  EXPECT_EQ(status, good);
}

}  // namespace
}  // namespace faio::tests
