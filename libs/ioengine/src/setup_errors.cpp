// setup_errors -- reads the limits that may have refused, so that the sentence can say which one did.
#include "setup_errors.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <fstream>
#include <string_view>

namespace faio::ioengine::detail {

namespace {

constexpr std::string_view other_way = " Or use engine_kind::automatic, which takes epoll then.";

std::error_code code_of(int error) { return {error, std::system_category()}; }

std::string describe(const char* call, int error) {
  return std::string(call) + " answered \"" + code_of(error).message() + "\"";
}

// /proc/sys/kernel/io_uring_disabled: 0 for all, 1 only for the group io_uring_group, 2 for nobody. -1: kernels before 6.6.
int read_uring_disabled() {
  int value = -1;
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> value;
  return value;
}

std::string memlock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "unknown";
  if (limit.rlim_cur == RLIM_INFINITY) return "unlimited";
  return std::to_string(limit.rlim_cur / 1024) + " KiB";
}

std::string remedy_for_permission(int uring_disabled) {
  switch (uring_disabled) {
    case 1:
      return "The sysctl kernel.io_uring_disabled is 1: only the group in kernel.io_uring_group may use io_uring. Join "
             "that "
             "group, or set kernel.io_uring_disabled=0";
    case 2:
      return "The sysctl kernel.io_uring_disabled is 2: nobody may use io_uring. Set kernel.io_uring_disabled=0";
    default:
      return "A seccomp policy forbids io_uring, as containers do by default. Run with a profile that allows "
             "io_uring_setup, "
             "io_uring_enter and io_uring_register (docker: --security-opt seccomp=<profile>)";
  }
}

}  // namespace

setup_error explain_uring_refusal(const char* call, int error, unsigned ring_entries,
                                  std::optional<int> uring_disabled) {
  std::string text = describe(call, error) + ". ";
  switch (error) {
    case EPERM:
    case EACCES:
      text += remedy_for_permission(uring_disabled.value_or(read_uring_disabled())) + ".";
      break;
    case ENOSYS:
      text +=
          "The kernel has no io_uring (built without CONFIG_IO_URING, older than 5.11, or a policy hides it). Use a "
          "newer "
          "kernel.";
      break;
    case ENOMEM:
      text += "A ring of " + std::to_string(ring_entries) +
              " entries does not fit into the memory that may be locked, " + memlock_limit() +
              " (RLIMIT_MEMLOCK). Raise it (ulimit -l, LimitMEMLOCK= in a systemd unit, /etc/security/limits.conf), or "
              "make "
              "engine_options::ring_entries smaller.";
      break;
    case EMFILE:
    case ENFILE:
      text += "Too many open files: each engine needs a descriptor. Raise RLIMIT_NOFILE (ulimit -n).";
      return {code_of(error), std::move(text)};  // epoll needs them too
    default:
      text += "The kernel refused a ring of " + std::to_string(ring_entries) + " entries.";
  }
  text += other_way;
  return {code_of(error), std::move(text)};
}

std::string without_other_way(std::string message) {
  if (message.ends_with(other_way)) message.resize(message.size() - other_way.size());
  return message;
}

setup_error explain_call_refusal(const char* call, int error) {
  std::string text = describe(call, error) + ".";
  if (error == EMFILE || error == ENFILE) text += " Too many open files: raise RLIMIT_NOFILE (ulimit -n).";
  return {code_of(error), std::move(text)};
}

setup_error explain_bad_option(const char* field, const std::string& why) {
  return {code_of(EINVAL), std::string("engine_options::") + field + " " + why + "."};
}

}  // namespace faio::ioengine::detail
