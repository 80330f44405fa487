// system_call -- an operation as plain system calls: tried without blocking, or done on a thread that may block.
#pragma once

#include "faio/ioengine/operation.hpp"

namespace faio::ioengine::detail {

/// How a try ended.
struct attempt {
  enum class outcome : std::uint8_t {
    done,    // `result` is what the operation completes with
    wait,    // try again when the descriptor is ready
    unsure,  // this kind of descriptor cannot be tried: wait until it is ready, then try as `ready`
    block,   // only a thread that may block can do it
    later,   // try again soon; nothing will tell when
  };
  outcome kind;
  int result = 0;
};

/// Any thread. Tries without blocking, whatever the descriptor's O_NONBLOCK says. `ready`: the descriptor was reported ready.
/// May write its progress into the operation.
[[nodiscard]] attempt try_now(operation& op, bool ready) noexcept;

/// Any thread. Does it, however long it takes.
[[nodiscard]] int do_blocking(operation& op) noexcept;

/// How many bytes it has moved so far, in tries that were not the last. When it is cancelled, that is its result, as on the ring.
[[nodiscard]] int progress_of(const operation& op) noexcept;
/// When it is started: it may have been before, and nobody has prepared it since.
void forget_progress(operation& op) noexcept;

/// The events that a waiting operation waits for.
[[nodiscard]] std::uint32_t awaited_events(const operation& op) noexcept;

}  // namespace faio::ioengine::detail
