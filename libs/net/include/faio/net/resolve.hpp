// resolve -- the addresses of a name, asked on a thread that may block.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "faio/context/task.hpp"
#include "faio/net/endpoint.hpp"

namespace faio::net {

/// Call from: a task. errc::name_not_found, errc::resolver_failed; timed_out, operation_canceled: the question is left to itself, and
/// its thread with it, until the system gives up.
FAIO_NET_API task<result<std::vector<endpoint>>> resolve(std::string host, std::string service,
                                                         std::chrono::nanoseconds limit = std::chrono::seconds(30));

}  // namespace faio::net
