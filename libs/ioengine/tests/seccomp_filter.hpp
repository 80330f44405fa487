// seccomp_filter -- makes chosen system calls of this process fail with a chosen errno: the fault injector of these tests.
// For one process and its children, and for ever: install it in a forked child only.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace faio::ioengine::testing {

/// One call that shall fail. With an argument's index, only if that argument has this value (its low 32 bits).
struct failing_call {
  long number;
  int error;
  int argument = -1;
  std::uint32_t value = 0;
};

/// False: the machine does not allow filters.
inline bool install_filter(const std::vector<failing_call>& calls) {
  std::vector<sock_filter> program;
  const auto load = [&](std::size_t offset) {
    program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  };
  for (const failing_call& call : calls) {
    const bool by_argument = call.argument >= 0;
    load(offsetof(seccomp_data, nr));
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call.number), 0,
                               static_cast<std::uint8_t>(by_argument ? 3 : 1)));
    if (by_argument) {
      load(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(call.argument));  // little endian: the low half
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.value, 0, 1));
    }
    program.push_back(
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(call.error) & 0xffffU)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace faio::ioengine::testing
