// live_task -- a spawned task: its scope, its place in the list of live tasks, and the meeting of its end with whoever waits for it.
//
// How the end and a coroutine, a join_wait or a thread that waits find each other, and who frees the record, the handle or the
// scope: end_meeting.hpp.
//
// I1  An exception that nobody took is reported when both handle and scope are gone: nobody can take it any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include "faio/context/completion_signal.hpp"
#include "faio/context/end_meeting.hpp"
#include "faio/context/export.hpp"
#include "faio/context/join_wait.hpp"
#include "faio/context/promise.hpp"
#include "faio/context/result_slot.hpp"
#include "faio/context/runtime_core.hpp"
#include "faio/context/scope.hpp"
#include "faio/scheduler/frame_allocator.hpp"

namespace faio::context {

class FAIO_CONTEXT_API live_task : public scope, public end_listener {
 public:
  live_task(runtime_core& runtime, scope& above, const std::source_location& where) noexcept
      : scope(runtime, &above), _where(where) {}
  virtual ~live_task() = default;

  static void* operator new(std::size_t size) { return scheduler::allocate_frame(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { scheduler::free_frame(memory, size); }

  /// Once, by whoever spawns it. False: the runtime refused; nothing is left of the task, and the record is gone.
  [[nodiscard]] bool start(promise_base& root, bool low_priority, completion_signal* all_beneath_ended);

  // ---- The handle's.

  [[nodiscard]] bool done() const noexcept { return _meeting.has_ended(); }
  /// True: `waiting` will be resumed by the task's end alone: they are of one runtime, and a stop request for it reaches the task.
  [[nodiscard]] bool may_resume(const promise_base& waiting) const noexcept {
    const scope& owner = waiting.owner();
    return &owner.runtime() == &runtime() && stops_with(owner);
  }
  /// True: it will be resumed. False: the task has ended already.
  [[nodiscard]] bool await(promise_base& waiting) noexcept {
    return _meeting.install(reinterpret_cast<std::uintptr_t>(&waiting));
  }
  /// True: the wait is told of the end. False: the task has ended already.
  [[nodiscard]] bool await(join_wait& wait) noexcept {
    return _meeting.install(reinterpret_cast<std::uintptr_t>(&wait) | wait_bit);
  }
  /// A thread that may block.
  void wait();
  void drop_handle() noexcept { drop_keeper(keeper::handle); }

  // ---- The runtime's.

  std::coroutine_handle<> ended() noexcept override;
  /// Under the lock of its runtime's end. It will never run again: destroys its coroutines, if nobody has.
  void destroy() noexcept;
  /// The same for one that never ran, and whose spawner will tell.
  void destroy_refused() noexcept;
  /// Any thread. A moment's view.
  [[nodiscard]] bool has_coroutine() const noexcept {
    return _root.load(std::memory_order_relaxed) != nullptr;  // relaxed: a view
  }
  [[nodiscard]] const std::source_location& where() const noexcept { return _where; }

  // ---- end of the public interface ----

 protected:
  /// Its coroutine has ended; nobody has been told yet.
  virtual void ending() noexcept {}
  /// The exception in the slot that nobody took, if there is one.
  virtual std::exception_ptr untaken() noexcept = 0;
  [[nodiscard]] bool can_be_stopped_alone() const noexcept final { return _meeting.has_handle(); }

 private:
  friend class live_list;
  static constexpr std::uintptr_t thread_bit = 2;
  static constexpr std::uintptr_t wait_bit = 4;

  void complete() noexcept override;
  static bool tell(std::uintptr_t waiter) noexcept;
  void drop_keeper(keeper which) noexcept;

  const std::source_location _where;
  std::atomic<promise_base*> _root{nullptr};  // null: its coroutine has ended
  completion_signal* _all_ended = nullptr;
  [[no_unique_address]] end_meeting _meeting;
  // The list's.
  std::uint32_t _shard = 0;
  live_task* _list_next = nullptr;
  live_task* _list_prev = nullptr;
};

template <class T>
class spawned_task final : public live_task {
 public:
  using live_task::live_task;
  result_slot<T> slot;

 private:
  std::exception_ptr untaken() noexcept override { return slot.has_exception() ? slot.take_exception() : nullptr; }
};

}  // namespace faio::context
