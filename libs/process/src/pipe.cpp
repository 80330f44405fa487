// pipe -- the loops over single reads and writes; and writing without SIGPIPE.
#include "faio/process/pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

namespace faio::process {
namespace {

std::unexpected<std::error_code> not_open() noexcept {
  return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
}

/// write(2), but a pipe that nobody reads is an error and nothing else. The signal that the kernel raises goes to this very thread: it is
/// blocked for the length of the call, and taken out again. Neither a handler nor the disposition of the process is touched.
ssize_t write_quietly(int fd, std::span<const std::byte> from) noexcept {
  sigset_t broken{};
  sigset_t before{};
  ::sigemptyset(&broken);
  ::sigaddset(&broken, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken, &before);
  ssize_t wrote = -1;
  do {
    wrote = ::write(fd, from.data(), from.size());
  } while (wrote < 0 && errno == EINTR);
  const int error = wrote < 0 ? errno : 0;
  if (::sigismember(&before, SIGPIPE) == 0) {
    if (error == EPIPE) {
      const timespec at_once{};
      (void)::sigtimedwait(&broken, nullptr, &at_once);  // none there: it is ignored, and was not raised
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  return error != 0 ? -error : wrote;
}

}  // namespace

task<result<std::size_t>> pipe_reader::read_some(std::span<std::byte> into) {
  if (_of == nullptr) co_return not_open();
  if (const std::size_t kept = std::min(into.size(), _kept.size()); kept != 0) {
    std::memcpy(into.data(), _kept.data(), kept);
    _kept.erase(0, kept);
    co_return kept;
  }
  co_return co_await context::perform<std::size_t>(
      *_of, [into](ioengine::operation& op, int fd) noexcept { op.prepare_read(fd, into); });
}

task<result<void>> pipe_reader::read_exactly(std::span<std::byte> into) {
  for (std::size_t got = 0; got < into.size();) {
    const auto more = co_await read_some(into.subspan(got));
    if (!more && got != 0) close();
    if (!more) co_return std::unexpected(more.error());
    if (*more == 0) co_return std::unexpected(make_error_code(stream_errc::end_of_stream));
    got += *more;
  }
  co_return result<void>{};
}

task<result<std::string>> pipe_reader::read_until(std::string_view delimiter, std::size_t limit) {
  for (std::size_t searched = 0;;) {
    if (const auto at = _kept.find(delimiter, searched); at != _kept.npos && at + delimiter.size() <= limit) {
      std::string line = _kept.substr(0, at + delimiter.size());
      _kept.erase(0, line.size());
      co_return line;
    }
    if (_kept.size() >= limit) co_return std::unexpected(make_error_code(stream_errc::too_long));
    searched = _kept.size() < delimiter.size() ? 0 : _kept.size() - delimiter.size() + 1;
    std::string kept = std::exchange(_kept, {});  // so that read_some reads behind it
    std::array<std::byte, 4096> piece;
    const auto more = co_await read_some(std::span(piece).first(std::min(piece.size(), limit - kept.size())));
    _kept = std::move(kept);
    if (!more) co_return std::unexpected(more.error());
    if (*more == 0) co_return std::unexpected(make_error_code(stream_errc::end_of_stream));
    _kept.append(reinterpret_cast<const char*>(piece.data()), *more);
  }
}

task<result<std::string>> pipe_reader::read_all(std::size_t limit) {
  constexpr std::size_t step = 64 * 1024;  // what a pipe holds by default
  std::string all;
  for (;;) {
    const std::size_t had = all.size();
    all.resize(had + std::min(step - 1, limit - had) + 1);  // one more than the limit allows: whether there is more
    const auto more = co_await read_some(std::as_writable_bytes(std::span(all)).subspan(had));
    if (!more) co_return std::unexpected(more.error());
    all.resize(had + *more);
    if (*more == 0) co_return all;
    if (all.size() > limit) co_return std::unexpected(make_error_code(stream_errc::too_long));
  }
}

pipe_writer::pipe_writer(int fd) : _of(std::make_unique<context::descriptor>(fd)) {
  // The child's end is a file of its own: it does not become nonblocking by this.
  (void)::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

task<result<std::size_t>> pipe_writer::write_some(std::span<const std::byte> from) {
  if (_of == nullptr || !_of->enter()) co_return not_open();
  struct use {
    context::descriptor& of;
    explicit use(context::descriptor& entered) noexcept : of(entered) {}
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use() { of.leave(); }
  } const entered(*_of);
  for (;;) {
    const ssize_t wrote = write_quietly(_of->fd(), from);
    if (wrote >= 0) co_return static_cast<std::size_t>(wrote);
    if (wrote != -EAGAIN) co_return std::unexpected(std::error_code(static_cast<int>(-wrote), std::system_category()));
    const auto room = co_await context::perform<int>(
        *_of, [](ioengine::operation& op, int fd) noexcept { op.prepare_poll(fd, POLLOUT); });
    if (!room) co_return std::unexpected(room.error());
  }
}

task<result<void>> pipe_writer::write_all(std::span<const std::byte> from) {
  for (std::size_t done = 0; done < from.size();) {
    const auto more = co_await write_some(from.subspan(done));
    if (!more && done != 0) close();
    if (!more) co_return std::unexpected(more.error());
    done += *more;
  }
  co_return result<void>{};
}

}  // namespace faio::process
