// net -- all of the network: one include.
#pragma once

#if __cplusplus < 202100L  // first, so that it is the first thing said
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include "faio/net/buffered.hpp"  // IWYU pragma: export
#include "faio/net/copy.hpp"      // IWYU pragma: export
#include "faio/net/endpoint.hpp"  // IWYU pragma: export
#include "faio/net/resolve.hpp"   // IWYU pragma: export
#include "faio/net/serve.hpp"     // IWYU pragma: export
#include "faio/net/tcp.hpp"       // IWYU pragma: export
#include "faio/net/udp.hpp"       // IWYU pragma: export
#include "faio/net/unix.hpp"      // IWYU pragma: export
