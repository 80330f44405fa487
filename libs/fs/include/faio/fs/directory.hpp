// directory -- names: remove, rename, create_directories, list. On threads that may block.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "faio/context/task.hpp"
#include "faio/fs/error.hpp"
#include "faio/fs/export.hpp"

namespace faio::fs {

/// One name in a directory.
struct entry {
  std::string name;                 ///< without the directory
  std::filesystem::file_type type;  ///< of the entry itself: a symbolic link is one
  [[nodiscard]] bool is_directory() const noexcept { return type == std::filesystem::file_type::directory; }
  [[nodiscard]] bool is_file() const noexcept { return type == std::filesystem::file_type::regular; }
};

// Call from: a task. A stop request does not interrupt them. The message of an error names the path.

/// A file, a link, or an empty directory. no_such_file_or_directory, directory_not_empty, ...
[[nodiscard("co_await it")]] FAIO_FS_API task<result<void>> remove(std::filesystem::path path);
/// In one step; a file that is at `to` is replaced. cross_device_link: on another file system.
[[nodiscard("co_await it")]] FAIO_FS_API task<result<void>> rename(std::filesystem::path from,
                                                                   std::filesystem::path to);
/// With those above it. One that is there already is as good. not_a_directory: a file is in the way.
[[nodiscard("co_await it")]] FAIO_FS_API task<result<void>> create_directories(std::filesystem::path path);
/// All names but . and .., in no order. no_such_file_or_directory, not_a_directory, permission_denied.
///     auto names = co_await faio::fs::list("/etc");                                           // tests/directory_test.cpp
[[nodiscard("co_await it")]] FAIO_FS_API task<result<std::vector<entry>>> list(std::filesystem::path path);

}  // namespace faio::fs
