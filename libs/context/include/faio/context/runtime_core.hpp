// runtime_core -- one runtime: its workers, the root of its scopes, and the list of its live tasks.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <source_location>
#include <vector>

#include "faio/context/completion_signal.hpp"
#include "faio/context/export.hpp"
#include "faio/context/scope.hpp"
#include "faio/queue/spin_lock.hpp"
#include "faio/scheduler/runtime_poller.hpp"
#include "faio/scheduler/stop_report.hpp"

namespace faio::context {

class join_state;
class live_task;

using scheduler::stop_report;

/// Every spawned task from its first run to its end; in several lists, so that workers seldom meet at a lock. One that waits for its first run is in a queue.
class FAIO_CONTEXT_API live_list {
 public:
  void add(live_task& task) noexcept;
  void remove(live_task& task) noexcept;
  /// Those whose coroutine is still there, the ones beneath before the ones above.
  [[nodiscard]] std::vector<live_task*> from_the_leaves() const;
  /// Where they were spawned.
  [[nodiscard]] std::vector<std::source_location> places() const;
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  static constexpr std::size_t shards = 64;
  struct alignas(128) shard {
    mutable queue::spin_lock mutex;
    live_task* first = nullptr;
    std::size_t count = 0;
  };
  [[nodiscard]] shard& shard_of(const live_task& task) noexcept;

  std::array<shard, shards> _shards;
};

class FAIO_CONTEXT_API runtime_core {
 public:
  explicit runtime_core(scheduler::config wanted);
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;
  ~runtime_core();

  /// Any thread.
  stop_report stop(std::chrono::nanoseconds grace);

  [[nodiscard]] scheduler::shared_state& shared() noexcept { return poller.shared(); }
  /// Any thread. A scope for what is spawned here and now, with one count of it for the caller: that of what runs on this thread, or
  /// the root. Null: the runtime has been stopped.
  [[nodiscard]] scope* admit() noexcept;
  /// The same, for what belongs to nobody that runs.
  [[nodiscard]] scope* admit_to_root() noexcept;
  /// True on a worker or helper thread of this runtime: it must not block for the runtime.
  [[nodiscard]] bool is_here() noexcept { return scheduler::this_thread().runtime == &shared(); }
  /// Any thread that is not of this runtime: it is about to schedule a coroutine of it; then foreign_done(). inner_scope.hpp
  void announce_foreign() noexcept {
    _foreign.fetch_add(1, std::memory_order_relaxed);
  }  // relaxed: under the caller's lock
  void foreign_done() noexcept { _foreign.fetch_sub(1, std::memory_order_release); }  // pairs with await_announced()
  /// Whoever destroys coroutines when all threads have ended: nobody else touches one any more whose scheduling was announced before.
  void await_announced() const noexcept;
  /// Any thread. A task that was refused by the queues.
  void destroy_refused(live_task& task, const join_state& of_handle);
  /// Any thread. An exception that nobody took, of a task of `runtime`, which may be gone by now.
  static void report_unhandled(const runtime_core* runtime, std::exception_ptr what,
                               const std::source_location& where) noexcept;
  /// The runtime of the calling thread, or else the process's default one.
  [[nodiscard]] static runtime_core& current();

  scheduler::runtime_poller poller;
  live_list live;

  class root_scope final : public scope {
   public:
    explicit root_scope(runtime_core& runtime) noexcept : scope(runtime, nullptr) {}
    ~root_scope() = default;
    completion_signal all_ended;

   private:
    void complete() noexcept override { all_ended.mark_ready(); }
  };
  root_scope root{*this};

  // ---- end of the public interface ----

 private:
  void destroy_leftovers();

  std::atomic<std::uint32_t> _foreign{0};
  // Guards the two below. On lines of their own: who spawns from outside comes here each time, and those who end write the root's.
  alignas(queue::line_size) queue::spin_lock _mutex;
  bool _root_released = false;
  std::uint32_t _prepaid = 0;      // counts of the root that are there for the next ones who spawn
  std::recursive_mutex _cleaning;  // guards _cleaned, and who destroys a task that will not run
  bool _cleaned = false;
};

}  // namespace faio::context
