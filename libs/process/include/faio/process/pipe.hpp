// pipe -- the ends of a child's standard streams: bytes in order, one way. Names and results are those of the streams in faio::net.
//
// Stopping and time limits: a read that is stopped has taken nothing. A write_all or read_exactly that is stopped in the middle closes
// the pipe, so that nobody goes on with half a message. One task at a time uses an end; another one may close it, which takes
// effect when what is in flight has ended.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "faio/context/descriptor.hpp"
#include "faio/context/result.hpp"
#include "faio/context/stream_errors.hpp"
#include "faio/context/task.hpp"
#include "faio/process/export.hpp"

namespace faio::process {

/// What a child writes. Move-only; destroyed: closed. Empty: every call gives bad_file_descriptor.
class FAIO_PROCESS_API pipe_reader {
 public:
  pipe_reader() = default;
  /// Takes the descriptor over.
  explicit pipe_reader(int fd) : _of(std::make_unique<context::descriptor>(fd)) {}

  /// Call from: a task. At least one byte, as many as there are; 0: all who could write have closed. Stopped: operation_canceled.
  task<result<std::size_t>> read_some(std::span<std::byte> into);
  /// All of it. stream_errc::end_of_stream: it ended before.
  task<result<void>> read_exactly(std::span<std::byte> into);
  /// Up to and with `delimiter`, at most `limit` bytes: stream_errc::too_long. What came behind it is for the next read.
  task<result<std::string>> read_until(std::string_view delimiter, std::size_t limit = 64 * 1024);
  /// All until the end, at most `limit` bytes: stream_errc::too_long.
  task<result<std::string>> read_all(std::size_t limit);

  /// Any thread, any number of times. The child is told by SIGPIPE when it writes on.
  void close() noexcept {
    if (_of != nullptr) _of->close();
  }
  [[nodiscard]] bool is_open() const noexcept { return _of != nullptr && !_of->closed(); }

 private:
  std::unique_ptr<context::descriptor> _of;
  std::string _kept;  // behind the last delimiter
};

/// What a child reads. Move-only; destroyed: closed. Empty: every call gives bad_file_descriptor.
class FAIO_PROCESS_API pipe_writer {
 public:
  pipe_writer() = default;
  /// Takes the descriptor over, and makes it nonblocking.
  explicit pipe_writer(int fd);

  /// Call from: a task. At least one byte, as many as there is room for. broken_pipe: nobody reads. Never raises SIGPIPE.
  task<result<std::size_t>> write_some(std::span<const std::byte> from);
  /// All of it.
  task<result<void>> write_all(std::span<const std::byte> from);
  task<result<void>> write_all(std::string_view text) { return write_all(std::as_bytes(std::span(text))); }

  /// Any thread, any number of times. The child reads to the end.
  void close() noexcept {
    if (_of != nullptr) _of->close();
  }
  [[nodiscard]] bool is_open() const noexcept { return _of != nullptr && !_of->closed(); }

 private:
  std::unique_ptr<context::descriptor> _of;
};

}  // namespace faio::process
