// config -- how a runtime is made. An aggregate in which everything has a default; a nonsensical value is an error that names
// its field.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <utility>

#include "faio/ioengine/clock.hpp"
#include "faio/ioengine/engine_options.hpp"
#include "faio/scheduler/export.hpp"

namespace faio::scheduler {

using ioengine::engine_kind;

/// Where spawned tasks go.
enum class discipline : std::uint8_t {
  fifo,  ///< the ring: oldest first, fair; for servers
  lifo,  ///< the deque: newest first, depth first; for fork-join
};

enum class worker_kind : std::uint8_t {
  io,       ///< has an engine of its own, steals
  compute,  ///< takes from the one compute queue, never touches a ring
};

/// Takes exceptions that nobody took: any callable with (std::exception_ptr) or (std::exception_ptr, std::source_location),
/// the place of the spawn or post. Called on a worker; what it throws ends the program.
class unhandled_handler {
 public:
  unhandled_handler() = default;
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, unhandled_handler> &&
             (std::invocable<F&, std::exception_ptr> || std::invocable<F&, std::exception_ptr, std::source_location>))
  unhandled_handler(F handler) {  // NOLINT(google-explicit-constructor): a lambda is what one writes there
    if constexpr (std::invocable<F&, std::exception_ptr, std::source_location>) {
      _call = std::move(handler);
    } else {
      _call = [call = std::move(handler)](const std::exception_ptr& what, const std::source_location&) mutable {
        call(std::exception_ptr(what));
      };
    }
  }
  explicit operator bool() const noexcept { return static_cast<bool>(_call); }
  void operator()(std::exception_ptr what, const std::source_location& where) const { _call(std::move(what), where); }

 private:
  std::function<void(std::exception_ptr, const std::source_location&)> _call;
};

///     faio::runtime_context ctx{{.workers = 4, .discipline = faio::discipline::lifo}};
struct config {
  /// Workers with an engine; 0: as many as the container may use (available_cpus.hpp). At most 1024.
  std::size_t workers = 0;
  /// Workers that only compute; 0: as many as the container may use, started when the first compute work comes. At most 1024.
  std::size_t compute_workers = 0;
  /// Where spawned tasks go: the ring for servers, the deque for fork-join.
  scheduler::discipline discipline = scheduler::discipline::fifo;
  /// What the I/O workers wait in; automatic: io_uring where the machine allows it, else epoll.
  engine_kind engine = engine_kind::automatic;
  /// Entries of each worker's submission ring, 1 to 32768.
  unsigned ring_entries = 256;
  /// Every so many tasks a worker looks for completions, even if it has more to run. At least 1.
  std::uint32_t io_interval = 61;
  /// Every so many tasks a worker takes from the global queue first. At least 1.
  std::uint32_t global_queue_interval = 61;
  /// How many tasks a worker keeps for itself before it spills to the global queue: 2 to 256.
  std::size_t local_queue_capacity = 256;
  /// Posts to the global queue from a worker are gathered and handed over once a turn.
  bool batch_posts = true;
  /// Each I/O worker stays on one of the processors that the process may use. Compute workers and threads that block run on any of them.
  bool pin_threads = false;
  /// Where its workers wait for processors that others use, connections live on as few of them as suffice (gathering.hpp). False: on all of them, always.
  bool gather_connections = true;
  /// Threads are called this and their number, those that block this and "-blocking". At most 11 characters, the kernel cuts at 15.
  std::string thread_name = "faio";
  /// Empty: one line on stderr. Counted in either case.
  unhandled_handler on_unhandled = {};
  /// How long stop() and the destructor wait for tasks to end before they report, or destroy, what is left.
  std::chrono::nanoseconds stop_grace = std::chrono::seconds(5);
  /// Must outlive the runtime. Null: the steady clock.
  const ioengine::clock* clock = nullptr;
  /// Where random choices start. Empty: from the machine.
  std::optional<std::uint64_t> seed = {};
};

/// Throws std::invalid_argument that names the field, what it may be and what it was.
FAIO_SCHEDULER_API void validate(const config& wanted);

}  // namespace faio::scheduler
