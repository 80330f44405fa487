// context -- everything that programs write against: one include.
#pragma once

#if __cplusplus < 202100L  // first, so that it is the first thing said
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include "faio/context/hop.hpp"              // IWYU pragma: export
#include "faio/context/io.hpp"               // IWYU pragma: export
#include "faio/context/join_handle.hpp"      // IWYU pragma: export
#include "faio/context/result.hpp"           // IWYU pragma: export
#include "faio/context/runtime_context.hpp"  // IWYU pragma: export
#include "faio/context/shield.hpp"           // IWYU pragma: export
#include "faio/context/sleep.hpp"            // IWYU pragma: export
#include "faio/context/spawn.hpp"            // IWYU pragma: export
#include "faio/context/task.hpp"             // IWYU pragma: export
#include "faio/context/task_group.hpp"       // IWYU pragma: export
#include "faio/context/task_list.hpp"        // IWYU pragma: export
#include "faio/context/timeout.hpp"          // IWYU pragma: export
#include "faio/context/when_all.hpp"         // IWYU pragma: export
#include "faio/context/when_any.hpp"         // IWYU pragma: export
