// faio -- all of it: one include, and the target faio::faio.
#pragma once

#include "faio/context/context.hpp"           // IWYU pragma: export
#include "faio/fs/fs.hpp"                     // IWYU pragma: export
#include "faio/ioengine/engine.hpp"           // IWYU pragma: export
#include "faio/net/net.hpp"                   // IWYU pragma: export
#include "faio/process/process.hpp"           // IWYU pragma: export
#include "faio/queue/queue.hpp"               // IWYU pragma: export
#include "faio/scheduler/runtime_poller.hpp"  // IWYU pragma: export
#include "faio/sync/sync.hpp"                 // IWYU pragma: export
