// stream -- a file from front to back: `reader` reads the next block while this one is being used, `writer` gathers small writes.
//
//   reader    [ block in use |####......]   [ block that is being read ]      two blocks that change places
//
// Names and results are those of the streams in faio::net, but for the error, which names the path. One task at a time.
//
// The block that is read ahead is a child of the task that reads: whoever waits for that task waits for it too, and what stops the task stops it.
// It is then read again by the next who asks. So with a timeout around each single read nothing is read ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "faio/context/join_handle.hpp"
#include "faio/context/task.hpp"
#include "faio/fs/error.hpp"
#include "faio/fs/export.hpp"
#include "faio/fs/file.hpp"

namespace faio::fs {

struct stream_options {
  std::uint64_t offset = 0;        ///< where to begin
  std::size_t block = 128 * 1024;  ///< read, or written, at a time
};

/// Move-only. One that was moved from: every call gives bad_file_descriptor.
class FAIO_FS_API reader {
 public:
  /// Takes the file over.
  explicit reader(file from, stream_options options = {});
  [[nodiscard("co_await it")]] static task<result<reader>> open(std::filesystem::path path,
                                                                stream_options options = {});

  /// Call from: a task. At least one byte, as many as there are in the block; 0: the end. Stopped: operation_canceled, nothing was taken.
  [[nodiscard("co_await it")]] task<result<std::size_t>> read_some(std::span<std::byte> into);
  /// All of it. stream_errc::end_of_stream: the file ends before. Then, or stopped: nothing was taken; what is in `into` is not known.
  [[nodiscard("co_await it")]] task<result<void>> read_exactly(std::span<std::byte> into);
  /// Up to and with `delimiter`, at most `limit` bytes: stream_errc::too_long. end_of_stream: there is none; what there is stays to be read.
  [[nodiscard("co_await it")]] task<result<std::string>> read_until(std::string_view delimiter,
                                                                    std::size_t limit = 64 * 1024);
  /// Without a copy: what is left of the block, the next one if nothing is. Empty: the end. Valid until the next call of the reader.
  [[nodiscard("co_await it")]] task<result<std::span<const std::byte>>> next_block();

  // ---- end of the public interface ----

  struct state;
  reader(reader&&) noexcept;
  reader& operator=(reader&&) noexcept;
  ~reader();

 private:
  task<result<bool>> fill();
  std::unique_ptr<state> _state;
};

/// Move-only. What was not flushed when it is destroyed is lost: a destructor cannot wait. One that was moved from, or closed: every call
/// gives bad_file_descriptor.
class FAIO_FS_API writer {
 public:
  /// Takes the file over.
  explicit writer(file to, stream_options options = {});
  /// A new file, or one that is emptied.
  [[nodiscard("co_await it")]] static task<result<writer>> create(std::filesystem::path path, mode_t mode = 0666,
                                                                  stream_options options = {});

  /// Call from: a task. Keeps it, and writes when a block is full. After an error or a stop what is in the file is not known.
  [[nodiscard("co_await it")]] task<result<void>> write_all(std::span<const std::byte> from);
  [[nodiscard("co_await it")]] task<result<void>> write_all(std::string_view text) {
    return write_all(std::as_bytes(std::span(text)));
  }
  /// All that was given is in the file. With sync() of the file: on the device.
  [[nodiscard("co_await it")]] task<result<void>> flush();
  /// Flushes and closes it.
  [[nodiscard("co_await it")]] task<result<void>> close();
  [[nodiscard]] file& target() noexcept { return _to; }

 private:
  file _to;
  std::size_t _block;
  std::uint64_t _offset;
  std::string _kept;
};

}  // namespace faio::fs
