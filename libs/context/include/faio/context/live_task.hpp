// live_task -- a spawned task while it runs: its scope, and its place in the list of live tasks. What its handle needs, and what is left of it when it
// has ended: join_state.hpp.
#pragma once

#include <atomic>
#include <cstddef>

#include "faio/context/completion_signal.hpp"
#include "faio/context/export.hpp"
#include "faio/context/join_state.hpp"
#include "faio/context/promise.hpp"
#include "faio/context/runtime_core.hpp"
#include "faio/context/scope.hpp"
#include "faio/scheduler/frame_allocator.hpp"

namespace faio::context {

class FAIO_CONTEXT_API live_task : public scope {
 public:
  live_task(runtime_core& runtime, scope& above, join_state& join) noexcept : scope(runtime, &above), _join(join) {
    join.belongs_to(*this, above);
  }
  virtual ~live_task() = default;

  static void* operator new(std::size_t size) { return scheduler::allocate_travelling_frame(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { scheduler::free_frame(memory, size); }

  /// Once, by whoever spawns it. False: the runtime refused; nothing is left of the task, nor of the handle's part.
  [[nodiscard]] bool start(promise_base& root, bool low_priority);

  // ---- The runtime's.

  /// Whoever runs it first, or never will: it is on the list from now on.
  void starts() noexcept { runtime().live.add(*this); }
  /// On the worker on which its coroutine ended, the frame gone. Gives the coroutine to go on with, or std::noop_coroutine().
  std::coroutine_handle<> ended() noexcept;
  /// Under the lock of its runtime's end. It will never run again: destroys its coroutines. Deletes this, or will when all beneath have ended.
  void destroy() noexcept;
  /// Any thread. A moment's view.
  [[nodiscard]] bool has_coroutine() const noexcept {
    return _root.load(std::memory_order_relaxed) != nullptr;  // relaxed: a view
  }
  [[nodiscard]] const std::source_location& where() const noexcept { return _join.where(); }

  // ---- end of the public interface ----

 protected:
  [[nodiscard]] bool can_be_stopped_alone() const noexcept final { return _join.has_handle(); }
  void complete() noexcept override;

 private:
  friend class live_list;

  std::atomic<promise_base*> _root{nullptr};  // null: its coroutine has ended
  join_state& _join;
  // The list's.
  live_task* _list_next = this;  // itself: not in the list
  live_task* _list_prev = nullptr;
};

/// One whose spawner waits for all beneath it too.
class FAIO_CONTEXT_API blocking_task final : public live_task {
 public:
  blocking_task(runtime_core& runtime, scope& above, join_state& join, completion_signal& all_ended) noexcept
      : live_task(runtime, above, join), _all_ended(all_ended) {}

 private:
  void complete() noexcept override;

  completion_signal& _all_ended;
};

}  // namespace faio::context
