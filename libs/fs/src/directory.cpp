// directory -- the calls, each on a thread that may block.
#include "faio/fs/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "faio/context/descriptor.hpp"
#include "faio/context/hop.hpp"

namespace faio::fs {
namespace {

using context::last_error_code;
using std::filesystem::file_type;

result<void> as_result(std::error_code code, const char* doing, const std::filesystem::path& path,
                       const std::filesystem::path& second = {}) {
  if (!code) return {};
  return std::unexpected(error(code, doing, std::make_shared<const detail::subject>(path.string(), second.string())));
}

file_type type_of_mode(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return file_type::regular;
    case S_IFDIR:
      return file_type::directory;
    case S_IFLNK:
      return file_type::symlink;
    case S_IFBLK:
      return file_type::block;
    case S_IFCHR:
      return file_type::character;
    case S_IFIFO:
      return file_type::fifo;
    case S_IFSOCK:
      return file_type::socket;
    default:
      return file_type::unknown;
  }
}

/// The directory usually knows; some file systems do not say.
file_type type_of(DIR* folder, const dirent& one) noexcept {
  if (one.d_type != DT_UNKNOWN) return type_of_mode(static_cast<mode_t>(DTTOIF(one.d_type)));
  struct stat status{};
  if (::fstatat(::dirfd(folder), one.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return file_type::unknown;
  return type_of_mode(status.st_mode);
}

std::error_code read_names(const std::filesystem::path& path, std::vector<entry>& into) {
  const auto close = [](DIR* folder) { (void)::closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> folder(::opendir(path.c_str()));  // close-on-exec
  if (folder == nullptr) return last_error_code();
  for (;;) {
    errno = 0;  // readdir tells the end and an error by the same null
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the folder is this call's own
    const dirent* const one = ::readdir(folder.get());
    if (one == nullptr) return errno == 0 ? std::error_code() : last_error_code();
    const std::string_view name = one->d_name;
    if (name != "." && name != "..") into.push_back({std::string(name), type_of(folder.get(), *one)});
  }
}

}  // namespace

task<result<void>> remove(std::filesystem::path path) {
  const auto call = [&] { return ::remove(path.c_str()) == 0 ? std::error_code() : last_error_code(); };
  const auto code = co_await blocking(call);
  co_return as_result(code, "remove", path);
}

task<result<void>> rename(std::filesystem::path from, std::filesystem::path to) {
  const auto call = [&] { return ::rename(from.c_str(), to.c_str()) == 0 ? std::error_code() : last_error_code(); };
  const auto code = co_await blocking(call);
  co_return as_result(code, "rename", from, to);
}

task<result<void>> create_directories(std::filesystem::path path) {
  const auto call = [&] {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    return code;
  };
  const auto code = co_await blocking(call);
  co_return as_result(code, "create directory", path);
}

task<result<std::vector<entry>>> list(std::filesystem::path path) {
  std::vector<entry> names;
  const auto call = [&] { return read_names(path, names); };
  const auto code = co_await blocking(call);
  auto went = as_result(code, "list", path);
  if (!went) co_return std::unexpected(std::move(went).error());
  co_return names;
}

}  // namespace faio::fs
