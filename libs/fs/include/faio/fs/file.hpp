// file -- an open file: reads and writes at an offset, any number of them at once.
//
// A file outlives the operations on it, as a primitive outlives its calls. It may be moved meanwhile.
//
// How a read goes
//   in the page cache   done on the spot: the task is not suspended, no ring is involved
//   elsewhere           the engine's: io_uring, or the threads of the epoll engine; the task is suspended
// A task whose reads are all on the spot still comes by its worker's loop every few dozen of them.
//
// Short reads and writes: read_at and write_at are one operation each, and may do less than was asked, as pread and pwrite do: at the end of the file, on pipes
// and special files, when a signal comes, when a disk is full. read_exactly_at and write_all_at go on until all is done.
//
// Stopping: operation_canceled. What the kernel has begun on a disk it finishes first.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "faio/context/io.hpp"
#include "faio/context/task.hpp"
#include "faio/fs/error.hpp"
#include "faio/fs/export.hpp"

namespace faio::fs {

namespace detail {

/// What a file and its operations share.
struct FAIO_FS_API file_state {
  file_state(int descriptor, int flags, std::shared_ptr<const subject> about) noexcept;
  file_state(const file_state&) = delete;
  file_state& operator=(const file_state&) = delete;
  ~file_state();

  int fd;
  /// Whether a read can ask for what is cached. Found out by trying; not with O_DIRECT, which has no cache.
  mutable std::atomic<bool> has_cache;
  const std::shared_ptr<const subject> named;
};

/// That of a file that was moved from: the kernel refuses its descriptor.
FAIO_FS_API const file_state& no_file() noexcept;

/// One operation on a file, awaited: its error names the path.
class FAIO_FS_API file_awaiter : public context::io_awaiter {
 public:
  file_awaiter(const file_state& on, const char* doing) noexcept : _on(on), _doing(doing) {}
  fs::result<int> await_resume() noexcept;

 protected:
  [[nodiscard]] const file_state& on() const noexcept { return _on; }

 private:
  const file_state& _on;
  const char* _doing;
};

/// `Prepare` describes the operation; `Given` is made of what it gave.
template <class Given, class Prepare>
class [[nodiscard("co_await it")]] file_awaitable {
 public:
  file_awaitable(const file_state& on, const char* doing, Prepare prepare) noexcept
      : _on(&on), _doing(doing), _prepare(prepare) {}

  class awaiter : public file_awaiter {
   public:
    awaiter(const file_state& on, const char* doing, const Prepare& prepare) noexcept : file_awaiter(on, doing) {
      prepare(static_cast<ioengine::operation&>(*this), on.fd);
    }
    fs::result<Given> await_resume() noexcept {
      auto gave = file_awaiter::await_resume();
      if (!gave) return std::unexpected(std::move(gave).error());
      if constexpr (std::is_void_v<Given>) {
        return {};
      } else {
        return static_cast<Given>(*gave);
      }
    }
  };
  awaiter operator co_await() const noexcept { return awaiter(*_on, _doing, _prepare); }

 private:
  const file_state* _on;
  const char* _doing;
  Prepare _prepare;
};

/// A read: on the spot where it can be.
class [[nodiscard("co_await it")]] read_awaitable {
 public:
  read_awaitable(const file_state& on, std::span<std::byte> into, std::uint64_t offset) noexcept
      : _on(&on), _into(into), _offset(offset) {}

  class FAIO_FS_API awaiter : public file_awaiter {
   public:
    awaiter(const file_state& on, std::span<std::byte> into, std::uint64_t offset) noexcept
        : file_awaiter(on, "read"), _into(into), _offset(offset) {}
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      if (read_cached(waiting.promise().owner())) return false;
      prepare_read(on().fd, _into, _offset);
      io_awaiter::await_suspend(waiting);
      return true;
    }
    fs::result<std::size_t> await_resume() noexcept {
      if (_had >= 0) return static_cast<std::size_t>(_had);
      auto gave = file_awaiter::await_resume();
      if (!gave) return std::unexpected(std::move(gave).error());
      return static_cast<std::size_t>(*gave);
    }

   private:
    [[nodiscard]] bool read_cached(const context::scope& whose) noexcept;
    std::span<std::byte> _into;
    std::uint64_t _offset;
    ssize_t _had = -1;
  };
  awaiter operator co_await() const noexcept { return {*_on, _into, _offset}; }

 private:
  const file_state* _on;
  std::span<std::byte> _into;
  std::uint64_t _offset;
};

struct write_step {
  std::span<const std::byte> from;
  std::uint64_t offset;
  void operator()(ioengine::operation& op, int fd) const noexcept { op.prepare_write(fd, from, offset); }
};
struct read_vectored_step {
  std::span<const iovec> into;
  std::uint64_t offset;
  void operator()(ioengine::operation& op, int fd) const noexcept { op.prepare_readv(fd, into, offset); }
};
struct write_vectored_step {
  std::span<const iovec> from;
  std::uint64_t offset;
  void operator()(ioengine::operation& op, int fd) const noexcept { op.prepare_writev(fd, from, offset); }
};
struct sync_step {
  bool data_only;
  void operator()(ioengine::operation& op, int fd) const noexcept { op.prepare_fsync(fd, data_only); }
};

}  // namespace detail

/// Move-only. Destroyed: closed, without a word about what the kernel has to say to that; close() tells. One that was closed or moved from: every call
/// gives bad_file_descriptor.
class FAIO_FS_API file {
 public:
  /// Effect: opens it, close-on-exec. Call from: a task. `flags` and `mode` as open(2); O_DIRECT needs an aligned_buffer for each read and write.
  /// A named pipe is opened at once, as with O_NONBLOCK: no_such_device_or_address for one to write to that nobody reads. One to read from that nobody
  /// has written to yet waits for that on the epoll engine, and is at its end on io_uring; with O_RDWR it waits on both.
  /// Errors: no_such_file_or_directory, permission_denied, is_a_directory, ...; the message names the path.
  ///     auto opened = co_await faio::fs::file::open("log", O_WRONLY | O_CREAT | O_APPEND);    // tests/file_test.cpp
  [[nodiscard("co_await it")]] static task<result<file>> open(std::filesystem::path path, int flags = O_RDONLY,
                                                              mode_t mode = 0666);

  /// Call from: a task. Up to into.size() bytes from there, as a result<std::size_t>; 0: the end of the file.
  [[nodiscard]] detail::read_awaitable read_at(std::span<std::byte> into, std::uint64_t offset) const noexcept {
    return {state(), into, offset};
  }
  /// Call from: a task. Up to from.size() bytes to there, as a result<std::size_t>. no_space_on_device, file_too_large, ...
  [[nodiscard]] auto write_at(std::span<const std::byte> from, std::uint64_t offset) const noexcept {
    return detail::file_awaitable<std::size_t, detail::write_step>(state(), "write", {from, offset});
  }
  /// The same for text.
  [[nodiscard]] auto write_at(std::string_view text, std::uint64_t offset) const noexcept {
    return write_at(std::as_bytes(std::span(text)), offset);
  }
  /// As read_at, into several buffers. The array stays in place too.
  [[nodiscard]] auto read_vectored_at(std::span<const iovec> into, std::uint64_t offset) const noexcept {
    return detail::file_awaitable<std::size_t, detail::read_vectored_step>(state(), "read", {into, offset});
  }
  /// As write_at, from several buffers. The array stays in place too.
  [[nodiscard]] auto write_vectored_at(std::span<const iovec> from, std::uint64_t offset) const noexcept {
    return detail::file_awaitable<std::size_t, detail::write_vectored_step>(state(), "write", {from, offset});
  }
  /// All of it. stream_errc::end_of_stream: the file ends before.
  [[nodiscard("co_await it")]] task<result<void>> read_exactly_at(std::span<std::byte> into,
                                                                  std::uint64_t offset) const;
  /// All of it.
  [[nodiscard("co_await it")]] task<result<void>> write_all_at(std::span<const std::byte> from,
                                                               std::uint64_t offset) const;
  /// The same for text.
  [[nodiscard("co_await it")]] task<result<void>> write_all_at(std::string_view text, std::uint64_t offset) const {
    return write_all_at(std::as_bytes(std::span(text)), offset);
  }

  /// Call from: a task. result<void>: what was written is on the device; with sync_data, all that reading it needs.
  [[nodiscard]] auto sync() const noexcept {
    return detail::file_awaitable<void, detail::sync_step>(state(), "sync", {false});
  }
  /// As sync(), but for what reading it does not need, times say.
  [[nodiscard]] auto sync_data() const noexcept {
    return detail::file_awaitable<void, detail::sync_step>(state(), "sync", {true});
  }

  // On a thread that may block:

  /// In bytes.
  [[nodiscard("co_await it")]] task<result<std::uint64_t>> size() const;
  /// Cuts it off there, or adds a hole.
  [[nodiscard("co_await it")]] task<result<void>> truncate(std::uint64_t size) const;
  /// Tells the kernel what will be read: POSIX_FADV_SEQUENTIAL, _RANDOM, _WILLNEED, _DONTNEED, ... Length 0: to the end.
  [[nodiscard("co_await it")]] task<result<void>> advise(int advice, std::uint64_t offset = 0,
                                                         std::uint64_t length = 0) const;
  /// Closed in any case; an error tells of a write that went wrong afterwards, as on network file systems.
  [[nodiscard("co_await it")]] task<result<void>> close();

  /// False: closed, or moved from.
  [[nodiscard]] bool is_open() const noexcept { return _state != nullptr && _state->fd >= 0; }
  /// As it was given to open(). Empty: it was moved from.
  [[nodiscard]] const std::string& path() const noexcept { return state().named->path; }
  /// For calls that have no name here. The file's: do not close it. -1: it is not open.
  [[nodiscard]] int native_handle() const noexcept { return state().fd; }

  // ---- end of the public interface ----

 private:
  explicit file(std::unique_ptr<detail::file_state> made) noexcept : _state(std::move(made)) {}
  [[nodiscard]] const detail::file_state& state() const noexcept {
    return _state != nullptr ? *_state : detail::no_file();
  }
  [[nodiscard]] error failed(std::error_code code, const char* doing) const noexcept {
    return {code, doing, state().named};
  }
  std::unique_ptr<detail::file_state> _state;
};

}  // namespace faio::fs
