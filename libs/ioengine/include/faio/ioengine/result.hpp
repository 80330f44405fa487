// result -- what an operation gives when the outside world can make it fail.
#pragma once

#include <expected>
#include <system_error>

namespace faio::ioengine {

/// A value, or the errno of what refused it as an error_code of the system category.
template <class T>
using result = std::expected<T, std::error_code>;

/// Any thread. Turns what an operation completed with (>= 0, or a negative errno) into a result.
[[nodiscard]] inline result<int> to_result(int completed_with) noexcept {
  if (completed_with >= 0) return completed_with;
  return std::unexpected(std::error_code(-completed_with, std::system_category()));
}

}  // namespace faio::ioengine
