// sync -- all of the primitives: one include.
#pragma once

#if __cplusplus < 202100L  // first, so that it is the first thing said
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include "faio/sync/broadcast.hpp"           // IWYU pragma: export
#include "faio/sync/channel.hpp"             // IWYU pragma: export
#include "faio/sync/condition_variable.hpp"  // IWYU pragma: export
#include "faio/sync/event.hpp"               // IWYU pragma: export
#include "faio/sync/mutex.hpp"               // IWYU pragma: export
#include "faio/sync/oneshot.hpp"             // IWYU pragma: export
#include "faio/sync/semaphore.hpp"           // IWYU pragma: export
