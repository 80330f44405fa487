// join_state -- what is left of a spawned task for its handle: the result, and the meeting of its end with whoever waits for it.
//
// The task's other record, live_task, is what it needs while it runs; it goes at its end, and the next one to be spawned gets its memory, still in
// the cache. So a million results that nobody has taken yet are a million of these, 64 bytes each for a number, and not of what ran. docs/adr/0028.
//
// How the end and a coroutine, a join_wait or a thread that waits find each other, and who frees what: end_meeting.hpp.
//
// I1  An exception that nobody took is reported when both handle and scope are gone: nobody can take it any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <source_location>

#include "faio/context/end_meeting.hpp"
#include "faio/context/export.hpp"
#include "faio/context/join_wait.hpp"
#include "faio/context/promise.hpp"
#include "faio/context/result_slot.hpp"
#include "faio/scheduler/frame_allocator.hpp"

namespace faio::context {

class FAIO_CONTEXT_API join_state {
 public:
  explicit join_state(const std::source_location& where) noexcept : _where(where) {}
  join_state(const join_state&) = delete;
  join_state& operator=(const join_state&) = delete;
  virtual ~join_state() = default;

  static void* operator new(std::size_t size) { return scheduler::allocate_travelling_frame(size); }
  static void operator delete(void* memory, std::size_t size) noexcept { scheduler::free_frame(memory, size); }

  // ---- The handle's.

  [[nodiscard]] bool done() const noexcept { return _meeting.has_ended(); }
  /// True: `waiting` will be resumed by the task's end alone: they are of one runtime, and a stop request for it reaches the task. Of a task that
  /// has ended it says nothing.
  [[nodiscard]] bool may_resume(const promise_base& waiting) const noexcept {
    // relaxed: made before the handle was; or by the end, which await() will see.
    return waiting.owner().reaches(static_cast<const scope*>(_heard.load(std::memory_order_relaxed)));
  }
  /// True: it will be resumed. False: the task has ended already.
  [[nodiscard]] bool await(promise_base& waiting) noexcept {
    return _meeting.install(reinterpret_cast<std::uintptr_t>(&waiting));
  }
  /// True: the wait is told of the end. False: the task has ended already.
  [[nodiscard]] bool await(join_wait& wait) noexcept {
    return _meeting.install(reinterpret_cast<std::uintptr_t>(&wait) | wait_bit);
  }
  /// A thread that may block. Throws when it is one of the task's runtime.
  void wait();
  /// True: it was the first to ask.
  bool request_stop() noexcept;
  void drop_handle() noexcept;
  /// The same for one whose result was taken, so that there is nothing to report. True: the caller deletes it.
  [[nodiscard]] bool drop_handle_taken() noexcept { return _meeting.let_go(keeper::handle).meeting; }

  // ---- The task's, live_task.

  /// Before it is started. `above`: the scope whose stop requests reach it.
  void belongs_to(live_task& task, const scope& above) noexcept {
    _task = &task;
    _heard.store(&above, std::memory_order_relaxed);  // relaxed: nobody else has it yet
  }
  /// Its coroutine has ended. Nobody has been told yet.
  virtual void ending(live_task&) noexcept {}
  /// It has ended, or will never run: who waited, to be told.
  [[nodiscard]] std::uintptr_t end() noexcept { return _meeting.end(); }
  /// False: it is a coroutine, to be resumed.
  static bool tell(std::uintptr_t waiter) noexcept;
  /// The task and all beneath it have ended. True: the caller deletes the task. False: whoever still asks it to stop does.
  [[nodiscard]] bool drop_task(const runtime_core& runtime, bool stop_asked) noexcept;
  [[nodiscard]] bool has_handle() const noexcept { return _meeting.has_handle(); }
  /// Under the lock of its runtime's end, for one that never ran: nobody has destroyed it.
  [[nodiscard]] bool has_task() const noexcept { return _meeting.has_scope(); }
  [[nodiscard]] const std::source_location& where() const noexcept { return _where; }

  // ---- end of the public interface ----

 protected:
  /// The exception in the slot that nobody took, if there is one.
  virtual std::exception_ptr untaken() noexcept = 0;

 private:
  static constexpr std::uintptr_t thread_bit = 2;
  static constexpr std::uintptr_t wait_bit = 4;

  void unpin() noexcept;
  void report_and_delete(const runtime_core* runtime) noexcept;

  end_meeting _meeting;
  const std::source_location _where;
  live_task* _task = nullptr;  // there while the scope is, or is pinned
  // While the task is there: the scope whose stop requests reach it. Then: its runtime.
  std::atomic<const void*> _heard{nullptr};
};

/// A task whose handle somebody has.
template <class T>
class awaited_state final : public join_state {
 public:
  using join_state::join_state;
  result_slot<T> slot;

 private:
  std::exception_ptr untaken() noexcept override { return slot.has_exception() ? slot.take_exception() : nullptr; }
};

}  // namespace faio::context
