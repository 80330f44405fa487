// spawn -- posix_spawn with our descriptors in place, and a pidfd for the child.
#include "spawn.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "faio/context/descriptor.hpp"

namespace faio::process {
namespace {

using context::last_error;

class owned_fd {
 public:
  explicit owned_fd(int fd = -1) noexcept : _fd(fd) {}
  owned_fd(owned_fd&& other) noexcept : _fd(other.release()) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(_fd, other._fd);
    return *this;
  }
  ~owned_fd() {
    if (_fd >= 0) (void)::close(_fd);
  }
  [[nodiscard]] int get() const noexcept { return _fd; }
  int release() noexcept { return std::exchange(_fd, -1); }

 private:
  int _fd;
};

/// One standard stream: the child's side of it, and ours.
struct stream_ends {
  owned_fd theirs;  // -1: nothing to put in place
  owned_fd ours;
};

result<stream_ends> prepare(stdio how, bool child_reads) {
  stream_ends ends;
  if (how == stdio::inherit) return ends;
  if (how == stdio::pipe) {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) != 0) return last_error();
    ends.theirs = owned_fd(both[child_reads ? 0 : 1]);
    ends.ours = owned_fd(both[child_reads ? 1 : 0]);
  } else if (how == stdio::null) {
    ends.theirs = owned_fd(::open("/dev/null", (child_reads ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
    if (ends.theirs.get() < 0) return last_error();
  } else {
    ends.theirs = owned_fd(::fcntl(how.fd(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (ends.theirs.get() < 0) return last_error();
  }
  // The child's side goes above the numbers 0 to 2, which others are about to be copied over.
  if (ends.theirs.get() <= STDERR_FILENO) {
    owned_fd moved(::fcntl(ends.theirs.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (moved.get() < 0) return last_error();
    ends.theirs = std::move(moved);
  }
  return ends;
}

/// What posix_spawn is told. Its calls fail for want of memory only, with the errno as their value.
class spawn_plan {
 public:
  spawn_plan() {
    ::posix_spawn_file_actions_init(&_files);
    ::posix_spawnattr_init(&_attributes);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;
  ~spawn_plan() {
    ::posix_spawn_file_actions_destroy(&_files);
    ::posix_spawnattr_destroy(&_attributes);
  }

  int fill(const command& what, const std::array<stream_ends, 3>& streams) {
    if (!what.directory.empty()) {
      if (const int error = ::posix_spawn_file_actions_addchdir_np(&_files, what.directory.c_str())) return error;
    }
    for (int number = 0; number < 3; ++number) {
      const int from = streams[static_cast<std::size_t>(number)].theirs.get();
      if (from < 0) continue;
      if (const int error = ::posix_spawn_file_actions_adddup2(&_files, from, number)) return error;
    }
    // Not the mask of the thread that happens to spawn it, and not a SIGPIPE that this process ignores.
    sigset_t set{};
    ::sigemptyset(&set);
    if (const int error = ::posix_spawnattr_setsigmask(&_attributes, &set)) return error;
    ::sigaddset(&set, SIGPIPE);
    if (const int error = ::posix_spawnattr_setsigdefault(&_attributes, &set)) return error;
    return ::posix_spawnattr_setflags(&_attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  int spawn(const command& what, pid_t& pid) const {
    auto arguments = pointers(what.arguments, &what.program);
    if (!what.environment) {
      return ::posix_spawnp(&pid, what.program.c_str(), &_files, &_attributes, arguments.data(), environ);
    }
    auto environment = pointers(*what.environment, nullptr);
    return ::posix_spawnp(&pid, what.program.c_str(), &_files, &_attributes, arguments.data(), environment.data());
  }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& texts, const std::string* first) {
    std::vector<char*> all;
    all.reserve(texts.size() + 2);
    if (first != nullptr) all.push_back(const_cast<char*>(first->c_str()));
    for (const auto& each : texts) all.push_back(const_cast<char*>(each.c_str()));
    all.push_back(nullptr);
    return all;
  }
  posix_spawn_file_actions_t _files{};
  posix_spawnattr_t _attributes{};
};

}  // namespace

result<child> spawn_now(const command& what) {
  std::array<stream_ends, 3> streams;
  const std::array wanted{what.in, what.out, what.err};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    auto ends = prepare(wanted[i], i == STDIN_FILENO);
    if (!ends) return std::unexpected(ends.error());
    streams[i] = std::move(*ends);
  }
  spawn_plan plan;
  pid_t pid = -1;
  int error = plan.fill(what, streams);
  if (error == 0) error = plan.spawn(what, pid);
  if (error != 0) return std::unexpected(std::error_code(error, std::system_category()));

  // The number cannot be another process' yet: it has not been reaped.
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    const auto why = last_error();
    (void)::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return why;
  }
  const auto end_of = [&](std::size_t i) { return streams[i].ours.release(); };
  return child(std::make_shared<child::state>(pid, pidfd),
               what.in == stdio::pipe ? pipe_writer(end_of(0)) : pipe_writer(),
               what.out == stdio::pipe ? pipe_reader(end_of(1)) : pipe_reader(),
               what.err == stdio::pipe ? pipe_reader(end_of(2)) : pipe_reader());
}

void command::set_variable(std::string_view name, std::string_view value) {
  if (!environment) {
    environment.emplace();
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) environment->emplace_back(*each);
  }
  std::string begin(name);
  begin += '=';
  std::erase_if(*environment, [&](const std::string& each) { return each.starts_with(begin); });
  begin += value;
  environment->push_back(std::move(begin));
}

}  // namespace faio::process
