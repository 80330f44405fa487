// errors -- what the network says that is no errno.
#pragma once

#include <system_error>

#include "faio/net/export.hpp"

namespace faio::net {

enum class errc {
  end_of_stream = 1,  ///< the peer has ended before all that was asked for came
  too_long,           ///< no delimiter within the limit
  bad_address,        ///< not an address that endpoint::parse knows
  name_not_found,     ///< resolve: there is no such host or service
  resolver_failed,    ///< resolve: the name service could not answer now
};

FAIO_NET_API const std::error_category& error_category() noexcept;
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), error_category()}; }

}  // namespace faio::net

template <>
struct std::is_error_code_enum<faio::net::errc> : std::true_type {};
