// child -- waiting, killing, letting go; and output(), which does it all.
#include "faio/process/child.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "faio/context/hop.hpp"
#include "faio/context/io.hpp"
#include "faio/context/task_group.hpp"
#include "reaper.hpp"
#include "spawn.hpp"

namespace faio::process {

// ---- The process.

child::state::~state() {
  if (_ended) {
    (void)::close(pidfd);
    return;
  }
  if (!detached.load(std::memory_order_relaxed))
    (void)kill(SIGKILL);  // relaxed: whoever detached let go of it afterwards
  detail::reap_later(pidfd);
}

result<std::optional<exit_status>> child::state::try_reap() {
  const std::lock_guard lock(_mutex);
  if (_ended) return _ended;
  siginfo_t how{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &how, WEXITED | WNOHANG) != 0) return context::last_error();
  if (how.si_pid == 0) return std::nullopt;
  _ended = how.si_code == CLD_EXITED ? exit_status::exited(how.si_status) : exit_status::killed(how.si_status);
  return _ended;
}

result<void> child::state::kill(int signal) noexcept {
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) != 0) return context::last_error();
  return {};
}

// ---- What users hold.

task<result<child>> child::spawn(command what) {
  const auto start = [&what] { return spawn_now(what); };
  co_return co_await blocking(start);
}

task<result<exit_status>> child::wait() {
  const auto of = _of;  // the object may be moved meanwhile
  if (of == nullptr) co_return std::unexpected(std::make_error_code(std::errc::no_child_process));
  _in.close();
  for (;;) {
    const auto ended = of->try_reap();
    if (!ended) co_return std::unexpected(ended.error());
    if (*ended) co_return **ended;
    const auto ready =
        co_await context::io([&of](ioengine::operation& op) noexcept { op.prepare_poll(of->pidfd, POLLIN); });
    if (!ready) co_return std::unexpected(ready.error());
  }
}

result<void> child::kill(int signal) noexcept {
  if (_of == nullptr) return std::unexpected(std::make_error_code(std::errc::no_such_process));
  return _of->kill(signal);
}
pid_t child::pid() const noexcept { return _of != nullptr ? _of->pid : -1; }

void child::detach() && noexcept {
  const child gone = std::move(*this);
  if (gone._of != nullptr)
    gone._of->detached.store(true, std::memory_order_relaxed);  // relaxed: read by whoever lets go last
}

// ---- output()

namespace {

/// What the tasks around one child have come to.
struct conversation {
  child& with;
  result<std::string> out;
  result<std::string> err;
  task_group tasks;
};

task<void> tell(conversation& on, const std::string& input) {
  (void)co_await on.with.in().write_all(input);  // it need not read all of it, or any
  on.with.in().close();
}

task<void> listen(conversation& on, pipe_reader& from, result<std::string>& into, std::size_t limit) {
  if (!from.is_open()) co_return;
  into = co_await from.read_all(limit);
  if (into) co_return;
  // The kill ends the other streams only if nobody else has them: a child of the child lives on.
  (void)on.with.kill();
  on.tasks.request_stop();
}

/// What went wrong; none: nothing did. The stream that failed has had the other one stopped: that one's operation_canceled is not the reason.
std::error_code what_failed(const conversation& on) {
  std::error_code first;
  for (const auto* each : {&on.out, &on.err}) {
    if (!*each && (!first || first == std::errc::operation_canceled)) first = each->error();
  }
  return first;
}

}  // namespace

task<result<collected>> output(command what, std::string input, std::size_t limit) {
  if (what.in == stdio::inherit) what.in = stdio::pipe;
  if (what.out == stdio::inherit) what.out = stdio::pipe;
  if (what.err == stdio::inherit) what.err = stdio::pipe;
  auto made = co_await child::spawn(std::move(what));
  if (!made) co_return std::unexpected(made.error());
  conversation all{*made, {}, {}, {}};
  all.tasks.spawn(tell(all, input));
  all.tasks.spawn(listen(all, made->out(), all.out, limit));
  all.tasks.spawn(listen(all, made->err(), all.err, limit));
  co_await all.tasks.join();
  if (const auto error = what_failed(all)) co_return std::unexpected(error);
  const auto status = co_await made->wait();
  if (!status) co_return std::unexpected(status.error());
  co_return collected{*status, std::move(*all.out), std::move(*all.err)};
}

}  // namespace faio::process
