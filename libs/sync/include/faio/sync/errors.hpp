// errors -- what a channel says when there is nothing more to come, or when a reader was too slow.
#pragma once

#include <system_error>

#include "faio/sync/export.hpp"

namespace faio::sync {

enum class errc {
  closed = 1,   ///< nobody will send any more, or nobody will receive
  would_block,  ///< a try_ call: it would have to wait
  lagged,       ///< a broadcast reader was overtaken; receiver::missed() says by how much
};

FAIO_SYNC_API const std::error_category& error_category() noexcept;
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

}  // namespace faio::sync

template <>
struct std::is_error_code_enum<faio::sync::errc> : std::true_type {};
