// engine_options -- which engine, and how big; and what it says when the machine refuses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "faio/ioengine/clock.hpp"
#include "faio/ioengine/export.hpp"

namespace faio::ioengine {

enum class engine_kind : std::uint8_t {
  automatic,  ///< uring where the machine allows it, else epoll. Only a wish: an engine's own kind is one of the others.
  uring,      ///< io_uring
  epoll,      ///< the same operations by readiness and a few blocking threads
  thread,     ///< a futex and timers, no file descriptor: for workers that only compute
};

/// Any thread. "automatic", "uring", "epoll", "thread".
[[nodiscard]] FAIO_IOENGINE_API std::string_view to_string(engine_kind kind) noexcept;

/// Everything has a default.
///     auto made = engine::create({.kind = engine_kind::epoll, .blocking_threads = 2});
struct engine_options {
  engine_kind kind = engine_kind::automatic;

  /// Entries of the submission ring, 1 to 32768, rounded up to a power of two. It bounds a batch, not what is in flight.
  unsigned ring_entries = 256;

  /// The epoll engine's threads for files (and whatever else can only block), 1 to 1024; started when first needed.
  unsigned blocking_threads = 4;

  /// Must outlive the engine. Null: the steady clock.
  const clock* time = nullptr;

  /// In a build with the address sanitizer: a buffer that the kernel may write into is poisoned until its operation has
  /// completed, so that a touch is reported at the touch. Does nothing in other builds.
  bool poison_buffers = true;
};

/// Why there is no engine: the errno, and a sentence that names the limit or the policy and what to do about it.
struct setup_error {
  std::error_code code;
  std::string message;
};

}  // namespace faio::ioengine
