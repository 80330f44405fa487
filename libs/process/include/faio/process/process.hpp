// process -- all of this library: signals and children.
#pragma once

#if __cplusplus < 202100L  // first, so that it is the first thing said
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include "faio/process/child.hpp"    // IWYU pragma: export
#include "faio/process/command.hpp"  // IWYU pragma: export
#include "faio/process/pipe.hpp"     // IWYU pragma: export
#include "faio/process/signal.hpp"   // IWYU pragma: export
