// whole -- reading to the end; writing beside, and renaming.
#include "faio/fs/whole.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <random>
#include <stop_token>
#include <utility>

#include "faio/context/descriptor.hpp"
#include "faio/context/hop.hpp"
#include "faio/context/stream_errors.hpp"
#include "faio/fs/file.hpp"

namespace faio::fs {

using context::last_error_code;

task<result<std::string>> read_file(std::filesystem::path path, std::size_t limit) {
  // Most files are small; larger ones are read in growing pieces. Without asking for the size: /proc does not know it, and a file may grow.
  constexpr std::size_t least = 16 * 1024;
  constexpr std::size_t most = 1024 * 1024;
  auto opened = co_await file::open(std::move(path));
  if (!opened) co_return std::unexpected(std::move(opened).error());
  std::string all;
  for (;;) {
    const std::size_t had = all.size();
    // At most one byte more than the limit allows: whether there is more.
    all.resize(had + std::min(std::clamp(had, least, most) - 1, limit - had) + 1);
    auto more = co_await opened->read_at(std::as_writable_bytes(std::span(all)).subspan(had), had);
    if (!more) co_return std::unexpected(std::move(more).error());
    all.resize(had + *more);
    if (*more == 0) co_return all;
    if (all.size() > limit) {
      const auto named = std::make_shared<const detail::subject>(opened->path());
      co_return std::unexpected(error(make_error_code(stream_errc::too_long), "read", named));
    }
  }
}

namespace {

/// A file that is removed again unless it was renamed.
class temporary {
 public:
  temporary() = default;
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  ~temporary() {
    if (_fd >= 0) (void)::close(_fd);
    if (!_path.empty()) (void)::unlink(_path.c_str());
  }

  std::error_code create(const std::filesystem::path& beside, mode_t mode) {
    std::random_device random;
    for (;;) {
      std::array<char, 16> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), random(), 36).ptr;
      // Not the whole name in front: it may be as long as a name can be.
      auto name = beside.parent_path() / (".faio-" + std::string(digits.data(), end) + ".tmp");
      _fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (_fd >= 0) {
        _path = std::move(name);
        return {};
      }
      if (errno != EEXIST && errno != EINTR) return last_error_code();
    }
  }
  std::error_code rename_to(const std::filesystem::path& name) {
    if (::close(std::exchange(_fd, -1)) != 0) return last_error_code();
    if (::rename(_path.c_str(), name.c_str()) != 0) return last_error_code();
    _path.clear();
    return {};
  }
  [[nodiscard]] int fd() const noexcept { return _fd; }

 private:
  int _fd = -1;
  std::filesystem::path _path;
};

std::error_code write_out(int fd, std::span<const std::byte> bytes, const std::stop_token& stop) {
  constexpr std::size_t piece = 1024 * 1024;
  while (!bytes.empty()) {
    if (stop.stop_requested()) return context::canceled();
    const ssize_t wrote = ::write(fd, bytes.data(), std::min(piece, bytes.size()));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return last_error_code();
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return {};
}

/// Where a name is; empty: errno says why not.
std::optional<context::descriptor> open_directory_of(const std::filesystem::path& name) {
  const auto folder = name.parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd >= 0 ? std::optional<context::descriptor>(std::in_place, fd) : std::nullopt;
}

/// What went wrong, and while doing what.
struct trouble {
  std::error_code code;
  const char* doing = "";
};

trouble replace(std::filesystem::path path, std::span<const std::byte> bytes, write_options options,
                const std::stop_token& stop) {
  std::error_code ignored;  // not a link, or one to nothing: it is taken as it is
  if (std::filesystem::is_symlink(path, ignored)) {
    if (auto target = std::filesystem::canonical(path, ignored); !ignored) path = std::move(target);
  }
  struct stat old{};
  const bool is_there = ::stat(path.c_str(), &old) == 0;
  if (is_there && S_ISDIR(old.st_mode)) return {std::make_error_code(std::errc::is_a_directory), "write"};

  // Before anything is replaced: from the rename on only the sync itself can fail.
  const auto folder = options.durable ? open_directory_of(path) : std::nullopt;
  if (options.durable && !folder) return {last_error_code(), "open the directory of"};

  temporary fresh;
  if (auto error = fresh.create(path, options.mode)) return {error, "create a temporary file beside"};
  if (is_there && ::fchmod(fresh.fd(), old.st_mode & 07777) != 0) return {last_error_code(), "set the mode of"};
  if (auto error = write_out(fresh.fd(), bytes, stop)) return {error, "write"};
  if (options.durable && ::fsync(fresh.fd()) != 0) return {last_error_code(), "sync"};
  if (auto error = fresh.rename_to(path)) return {error, "replace"};
  if (options.durable && ::fsync(folder->fd()) != 0) return {last_error_code(), "sync the directory of"};
  return {};
}

}  // namespace

task<result<void>> write_file(std::filesystem::path path, std::span<const std::byte> bytes, write_options options) {
  const auto stop = co_await current_stop_token();
  const auto write_it = [&] { return replace(path, bytes, options, stop); };
  const auto went = co_await blocking(write_it);
  if (!went.code) co_return result<void>{};
  co_return std::unexpected(error(went.code, went.doing, std::make_shared<const detail::subject>(path.string())));
}

}  // namespace faio::fs
