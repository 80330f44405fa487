// file -- opening, the read on the spot, and what has to go through a thread that may block.
#include "faio/fs/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "faio/context/descriptor.hpp"
#include "faio/context/hop.hpp"
#include "faio/context/stream_errors.hpp"

namespace faio::fs {

using context::last_error_code;

// ---- One operation.

namespace detail {

file_state::file_state(int descriptor, int flags, std::shared_ptr<const subject> about) noexcept
    : fd(descriptor), has_cache((flags & O_DIRECT) == 0), named(std::move(about)) {}

file_state::~file_state() {
  if (fd >= 0) (void)::close(fd);
}

const file_state& no_file() noexcept {
  static const file_state none(-1, 0, std::make_shared<const subject>());
  return none;
}

fs::result<int> file_awaiter::await_resume() noexcept {
  auto gave = io_awaiter::await_resume();
  if (!gave) return std::unexpected(error(gave.error(), _doing, _on.named));
  return *gave;
}

namespace {

/// So many reads in one system call cost less than a call for each; the one and only is done sooner on the spot. Reads of 4 KiB on two workers: of one
/// 1.14 us on the spot and 1.49 by the ring, of 32 each 1.29 and 1.08 us of processor time.
bool goes_with_others() noexcept {
  constexpr std::size_t several = 4;
  scheduler::worker& here = *scheduler::current_worker();
  return here.io().kind() == ioengine::engine_kind::uring && here.io().unsubmitted() + here.queue_length() >= several;
}

}  // namespace

/// RWF_NOWAIT: what is in the page cache, or EAGAIN. A read of less than was asked may have met a page that is not there; only the end of the file
/// makes it an answer.
bool read_awaitable::awaiter::read_cached(const context::scope& whose) noexcept {
  // relaxed: a hint. The engine takes over when a worker's turn has been long enough, and tells a task that it was asked to stop.
  if (!on().has_cache.load(std::memory_order_relaxed) || goes_with_others() || whose.stop_requested() ||
      !context::may_go_on())
    return false;
  const auto read_from = [this](std::span<std::byte> into, std::uint64_t offset) {
    const iovec one{into.data(), into.size()};
    return ::preadv2(on().fd, &one, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  };
  const ssize_t got = read_from(_into, _offset);
  if (got < 0) {
    // Not a file of that kind: no need to ask again. EBADF and the like are the engine's to tell.
    if (errno == EOPNOTSUPP || errno == ESPIPE) on().has_cache.store(false, std::memory_order_relaxed);
    return false;
  }
  if (got > 0 && static_cast<std::size_t>(got) < _into.size()) {
    std::byte probe{};
    if (read_from({&probe, 1}, _offset + static_cast<std::uint64_t>(got)) != 0) return false;
  }
  _had = got;
  return true;
}

namespace {

/// Closes what nobody took: the frame of a task that the end of its runtime destroys.
class open_awaiter : public context::io_awaiter {
 public:
  open_awaiter(const char* path, int flags, mode_t mode) noexcept {
    prepare_openat(AT_FDCWD, path, flags | O_CLOEXEC, mode);
  }
  open_awaiter(const open_awaiter&) = delete;
  open_awaiter& operator=(const open_awaiter&) = delete;
  ~open_awaiter() {
    if (_begun && operation::result() >= 0) (void)::close(operation::result());
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    io_awaiter::await_suspend(waiting);
    _begun = in_flight();  // false: stop was requested before
  }
  faio::result<int> await_resume() noexcept {
    _begun = false;
    return io_awaiter::await_resume();
  }

 private:
  bool _begun = false;
};

struct open_awaitable {
  const char* path;
  int flags;
  mode_t mode;
  open_awaiter operator co_await() const noexcept { return {path, flags, mode}; }
};

}  // namespace
}  // namespace detail

// ---- The file.

task<result<file>> file::open(std::filesystem::path path, int flags, mode_t mode) {
  auto named = std::make_shared<const detail::subject>(path.string());
  // Nonblocking, so that neither the ring, which opens that way on its first try, nor a thread of the epoll engine waits for the other end
  // of a pipe. To reads and writes it makes no difference: the engines wait whatever the descriptor says.
  auto opened = co_await detail::open_awaitable{named->path.c_str(), flags | O_NONBLOCK, mode};
  if (!opened && opened.error() == std::errc::resource_unavailable_try_again) {
    // Somebody has a lease on it, and is asked to give it up.
    const auto wait_for_it = [&]() -> faio::result<int> {
      const int fd = ::open(named->path.c_str(), flags | O_CLOEXEC, mode);
      if (fd < 0) return context::last_error();
      return fd;
    };
    opened = co_await blocking(wait_for_it);
  }
  if (!opened) co_return std::unexpected(error(opened.error(), "open", std::move(named)));
  co_return file(std::make_unique<detail::file_state>(*opened, flags, std::move(named)));
}

task<result<void>> file::read_exactly_at(std::span<std::byte> into, std::uint64_t offset) const {
  if (!is_open()) co_return std::unexpected(failed(std::make_error_code(std::errc::bad_file_descriptor), "read"));
  for (std::size_t done = 0; done < into.size();) {
    auto more = co_await read_at(into.subspan(done), offset + done);
    if (!more) co_return std::unexpected(std::move(more).error());
    if (*more == 0) co_return std::unexpected(failed(make_error_code(stream_errc::end_of_stream), "read"));
    done += *more;
  }
  co_return result<void>{};
}

task<result<void>> file::write_all_at(std::span<const std::byte> from, std::uint64_t offset) const {
  if (!is_open()) co_return std::unexpected(failed(std::make_error_code(std::errc::bad_file_descriptor), "write"));
  for (std::size_t done = 0; done < from.size();) {
    auto more = co_await write_at(from.subspan(done), offset + done);
    if (!more) co_return std::unexpected(std::move(more).error());
    if (*more == 0) co_return std::unexpected(failed(std::make_error_code(std::errc::io_error), "write"));
    done += *more;
  }
  co_return result<void>{};
}

task<result<std::uint64_t>> file::size() const {
  struct stat status{};
  const int fd = state().fd;
  const auto ask = [fd, &status] { return ::fstat(fd, &status) == 0 ? std::error_code() : last_error_code(); };
  const auto error = co_await blocking(ask);
  if (error) co_return std::unexpected(failed(error, "stat"));
  co_return static_cast<std::uint64_t>(status.st_size);
}

task<result<void>> file::truncate(std::uint64_t size) const {
  const int fd = state().fd;
  const auto cut = [fd, size] {
    return ::ftruncate(fd, static_cast<off_t>(size)) == 0 ? std::error_code() : last_error_code();
  };
  const auto error = co_await blocking(cut);
  if (error) co_return std::unexpected(failed(error, "truncate"));
  co_return result<void>{};
}

task<result<void>> file::advise(int advice, std::uint64_t offset, std::uint64_t length) const {
  const int fd = state().fd;
  const auto tell = [=] {
    return ::posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(length), advice);  // gives the errno
  };
  const int error = co_await blocking(tell);
  if (error != 0) co_return std::unexpected(failed({error, std::system_category()}, "advise"));
  co_return result<void>{};
}

task<result<void>> file::close() {
  const int fd = _state != nullptr ? std::exchange(_state->fd, -1) : -1;
  const auto close_it = [fd] { return ::close(fd) == 0 ? std::error_code() : last_error_code(); };
  const auto error = co_await blocking(close_it);
  if (error) co_return std::unexpected(failed(error, "close"));
  co_return result<void>{};
}

}  // namespace faio::fs
