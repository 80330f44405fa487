// whole -- a file as one piece: read_file, and write_file, after which there is the old content or the new one, never a mixture.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "faio/context/task.hpp"
#include "faio/fs/error.hpp"
#include "faio/fs/export.hpp"

namespace faio::fs {

/// Effect: all that is in it; works for /proc and pipes too. Call from: a task. Stop requested: operation_canceled.
/// Errors: as file::open; is_a_directory; stream_errc::too_long: more than `limit` bytes.
///     auto text = co_await faio::fs::read_file("/etc/hostname");                              // tests/first_fs.cpp
[[nodiscard("co_await it")]] FAIO_FS_API task<result<std::string>> read_file(
    std::filesystem::path path, std::size_t limit = std::numeric_limits<std::size_t>::max());

struct write_options {
  mode_t mode = 0666;  ///< of a new file, less the umask; one that is there keeps its own
  bool durable =
      true;  ///< false: without the two syncs. Still old or new for every reader, but perhaps the old one after a power cut
};

/// Effect: writes a file in one step: into a temporary one beside it, which is synced and renamed over `path`; then the directory is synced. Whoever opens `path`, at any
/// time, also after a crash, finds all of the old content or all of the new. A symbolic link is followed. The bytes stay in place until it is done.
/// Call from: a task; runs on a thread that may block. Stop requested: between two pieces of 1 MiB, operation_canceled. Errors: no_space_on_device,
/// permission_denied, is_a_directory, ...; then the temporary file is removed and the old content is there. But for one: when the sync of the directory
/// fails, which comes last, the new content is there, and after a power cut perhaps the old one; its doing() is "sync the directory of".
///     auto wrote = co_await faio::fs::write_file("settings", text);                           // tests/first_fs.cpp
[[nodiscard("co_await it")]] FAIO_FS_API task<result<void>> write_file(std::filesystem::path path,
                                                                       std::span<const std::byte> bytes,
                                                                       write_options options = {});
[[nodiscard("co_await it")]] inline task<result<void>> write_file(std::filesystem::path path, std::string_view text,
                                                                  write_options options = {}) {
  return write_file(std::move(path), std::as_bytes(std::span(text)), options);
}

}  // namespace faio::fs
