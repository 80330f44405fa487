// engine_factory -- the makers of the three kinds. Each makes an engine for the calling thread.
#pragma once

#include <expected>
#include <memory>

#include "faio/ioengine/engine.hpp"

namespace faio::ioengine::detail {

using made_engine = std::expected<std::unique_ptr<engine>, setup_error>;

[[nodiscard]] made_engine make_uring_engine(const engine_options& options);
/// `reason`: what kind_reason() will say.
[[nodiscard]] made_engine make_epoll_engine(const engine_options& options, std::string reason);
[[nodiscard]] made_engine make_thread_engine(const engine_options& options);

}  // namespace faio::ioengine::detail
