// sync -- all of the primitives: one include.
#pragma once

#include "faio/sync/broadcast.hpp"           // IWYU pragma: export
#include "faio/sync/channel.hpp"             // IWYU pragma: export
#include "faio/sync/condition_variable.hpp"  // IWYU pragma: export
#include "faio/sync/event.hpp"               // IWYU pragma: export
#include "faio/sync/mutex.hpp"               // IWYU pragma: export
#include "faio/sync/oneshot.hpp"             // IWYU pragma: export
#include "faio/sync/semaphore.hpp"           // IWYU pragma: export
