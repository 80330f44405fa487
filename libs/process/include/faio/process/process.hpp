// process -- all of this library: signals and children.
#pragma once

#include "faio/process/child.hpp"    // IWYU pragma: export
#include "faio/process/command.hpp"  // IWYU pragma: export
#include "faio/process/pipe.hpp"     // IWYU pragma: export
#include "faio/process/signal.hpp"   // IWYU pragma: export
