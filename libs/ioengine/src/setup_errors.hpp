// setup_errors -- sentences for what can refuse an engine: the limit or the policy, and the remedy.
#pragma once

#include <optional>
#include <string>

#include "faio/ioengine/engine_options.hpp"

namespace faio::ioengine::detail {

/// What the errno of io_uring_setup or io_uring_enter means on this machine. `uring_disabled`: the sysctl's value, if not as it is.
[[nodiscard]] setup_error explain_uring_refusal(const char* call, int error, unsigned ring_entries,
                                                std::optional<int> uring_disabled = {});

/// Of such a message what is left for those who have taken the advice that it ends with: to use engine_kind::automatic.
[[nodiscard]] std::string without_other_way(std::string message);

/// Any other call that an engine's setup needs.
[[nodiscard]] setup_error explain_call_refusal(const char* call, int error);

/// A value of the options that makes no sense; names the field.
[[nodiscard]] setup_error explain_bad_option(const char* field, const std::string& why);

}  // namespace faio::ioengine::detail
