// child -- a program that runs beside this one: spawn, pipes, wait, kill. No zombie is left, no worker is blocked.
//
//   spawn()     on a thread that may block: the kernel holds the caller up until the program has been loaded
//   wait()      a poll on the child's pidfd, in the engine; then it is reaped
//   destroyed   while it runs: killed (SIGKILL). detach(): it goes on. Either way it is reaped when it has ended, behind the scenes.
//
// A child starts with no signal blocked, SIGPIPE at its default, and none of this process' descriptors but the three standard ones and
// those that are not close-on-exec.
//
// A program that ignores SIGCHLD, or reaps all children itself (waitpid(-1)), takes the status away from wait(): no_child_process.
//
// Rejected: SIGCHLD and a list of children: a process-wide handler that others, libraries too, replace.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/context/task.hpp"
#include "faio/process/command.hpp"
#include "faio/process/export.hpp"
#include "faio/process/pipe.hpp"

namespace faio::process {

/// How a child ended: with a code, or by a signal.
class exit_status {
 public:
  static constexpr exit_status exited(int code) noexcept { return {code, 0}; }
  static constexpr exit_status killed(int signal) noexcept { return {-1, signal}; }

  [[nodiscard]] constexpr bool success() const noexcept { return _code == 0; }
  /// What it returned; -1: a signal ended it.
  [[nodiscard]] constexpr int code() const noexcept { return _code; }
  /// The signal that ended it; 0: none did.
  [[nodiscard]] constexpr int signal() const noexcept { return _signal; }
  friend constexpr bool operator==(exit_status, exit_status) = default;

 private:
  constexpr exit_status(int code, int signal) noexcept : _code(code), _signal(signal) {}
  int _code;
  int _signal;
};

/// Move-only. Of one that was moved from, wait() gives no_child_process, kill() no_such_process, and pid() -1.
class FAIO_PROCESS_API child {
 public:
  /// Effect: starts the program. Call from: a task. Resumes when it has been loaded, or could not be.
  /// Errors: what exec or chdir says (no_such_file_or_directory, permission_denied, ...), or no descriptor, no process left.
  ///     auto made = co_await faio::process::child::spawn(command("sleep", "10"));             // tests/child_test.cpp
  [[nodiscard("co_await it")]] static task<result<child>> spawn(command what);

  /// Effect: waits until it has ended, and gives how; any number of times. Closes in() first: a child that reads to the end gets there.
  /// Call from: a task. Stop requested, or a timeout: operation_canceled (timed_out); the child runs on and can be waited for again.
  ///     auto status = co_await faio::timeout(1s, made->wait());
  [[nodiscard("co_await it")]] task<result<exit_status>> wait();
  /// Any thread. Sends it a signal. no_such_process: it has ended.
  result<void> kill(int signal = SIGKILL) noexcept;
  [[nodiscard]] pid_t pid() const noexcept;

  /// Our ends of its standard streams; empty where the command did not ask for a pipe.
  [[nodiscard]] pipe_writer& in() noexcept { return _in; }
  [[nodiscard]] pipe_reader& out() noexcept { return _out; }
  [[nodiscard]] pipe_reader& err() noexcept { return _err; }

  /// It goes on without us; our ends of its pipes are closed.
  void detach() && noexcept;

  // ---- end of the public interface ----

  class state;
  child(std::shared_ptr<state> of, pipe_writer in, pipe_reader out, pipe_reader err) noexcept
      : _of(std::move(of)), _in(std::move(in)), _out(std::move(out)), _err(std::move(err)) {}

 private:
  std::shared_ptr<state> _of;
  pipe_writer _in;
  pipe_reader _out;
  pipe_reader _err;
};

/// What a program has written, and how it ended.
struct collected {
  exit_status status;
  std::string out;
  std::string err;
};

/// Effect: runs it to its end; gives it `input`, and collects what it writes, both streams at once. Streams of the command that are set to something
/// other than inherit are left as they are; an inherited `in` is not: the child reads `input` and then the end.
/// Call from: a task. Stop requested, or a timeout: the child is killed. Errors: as spawn; stream_errc::too_long: it wrote more
/// than `limit` bytes to one of them, and was killed; those whom it has started are not, but their pipes are closed. A program that does not read
/// its input is no error.
///     auto list = co_await faio::process::output(command("ls", "/"));  // list->out            // tests/first_process.cpp
[[nodiscard("co_await it")]] FAIO_PROCESS_API task<result<collected>> output(command what, std::string input = {},
                                                                             std::size_t limit = 64 * 1024 * 1024);

}  // namespace faio::process
