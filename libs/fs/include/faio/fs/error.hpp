// error -- why something about a file failed: a std::error_code that also knows what was tried, and with which path.
//
//   auto text = co_await faio::fs::read_file("/etc/shadow");
//   if (!text) std::puts(text.error().message().c_str());                  // open /etc/shadow: Permission denied
//   if (text.error() == std::errc::permission_denied) ...
//
// It is a std::error_code: it compares with std::errc, and goes wherever one goes; an fs::result<T> becomes a faio::result<T> by itself, which leaves
// the path behind. Why so: docs/adr/0009.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <system_error>

#include "faio/fs/export.hpp"

namespace faio::fs {

namespace detail {

/// What an error is about. Shared by a file and its errors, so that telling the path copies no text.
struct subject {
  std::string path;
  std::string second = {};  // of a rename: its new name
};

}  // namespace detail

class FAIO_FS_API error : public std::error_code {
 public:
  error() = default;
  /// One that knows no path: timed_out, or the code of something else.
  error(std::error_code code) noexcept
      : error_code(code) {}  // NOLINT(google-explicit-constructor): as wide as its base
  error(std::error_code code, const char* doing, std::shared_ptr<const detail::subject> with) noexcept
      : error_code(code), _doing(doing), _with(std::move(with)) {}

  /// Empty: there is none.
  [[nodiscard]] const std::string& path() const noexcept;
  /// "open", "read", ...; empty: not known.
  [[nodiscard]] const char* doing() const noexcept { return _doing; }
  /// What was tried, with which path, and the sentence of the code: "open /etc/shadow: Permission denied".
  [[nodiscard]] std::string message() const;

 private:
  const char* _doing = "";
  std::shared_ptr<const detail::subject> _with;
};

/// A value, or an error that names the path.
template <class T>
using result = std::expected<T, error>;

}  // namespace faio::fs
