// result -- what everything gives that the outside world can make fail.
#pragma once

#include <concepts>
#include <expected>
#include <system_error>

#include "faio/ioengine/result.hpp"

namespace faio {

/// A value, or why there is none. Exceptions are for the user's own, and for misuse.
template <class T>
using result = ioengine::result<T>;

namespace context {

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<std::expected<T, std::error_code>> = true;
/// One whose error says more than its code, and can be made of one: it is not wrapped again either.
template <class T, class E>
  requires(std::derived_from<E, std::error_code> && std::constructible_from<E, std::error_code>)
inline constexpr bool is_result<std::expected<T, E>> = true;

inline std::error_code canceled() noexcept { return std::make_error_code(std::errc::operation_canceled); }

}  // namespace context
}  // namespace faio
