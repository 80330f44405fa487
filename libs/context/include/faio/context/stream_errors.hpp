// stream_errors -- what a stream of bytes says that is no errno: pipes and files.
#pragma once

#include <system_error>

#include "faio/context/export.hpp"

namespace faio {

enum class stream_errc {
  end_of_stream = 1,  ///< it has ended before all that was asked for came
  too_long,           ///< more than the limit, or no delimiter within it
};

FAIO_CONTEXT_API const std::error_category& stream_error_category() noexcept;
inline std::error_code make_error_code(stream_errc code) noexcept {
  return {static_cast<int>(code), stream_error_category()};
}

}  // namespace faio

template <>
struct std::is_error_code_enum<faio::stream_errc> : std::true_type {};
