// faio -- all of it: one include, and the target faio::faio.
#pragma once

#if __cplusplus < 202100L  // first, so that it is the first thing said
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include "faio/context/context.hpp"           // IWYU pragma: export
#include "faio/fs/fs.hpp"                     // IWYU pragma: export
#include "faio/ioengine/engine.hpp"           // IWYU pragma: export
#include "faio/net/net.hpp"                   // IWYU pragma: export
#include "faio/process/process.hpp"           // IWYU pragma: export
#include "faio/queue/queue.hpp"               // IWYU pragma: export
#include "faio/scheduler/runtime_poller.hpp"  // IWYU pragma: export
#include "faio/sync/sync.hpp"                 // IWYU pragma: export
