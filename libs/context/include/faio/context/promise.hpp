// promise -- what every task's coroutine has: whose it is, who waits for it, and how control passes on when it ends.
//
// Passing control. An await gives the thread to the child, the child's end gives it back, each by symmetric transfer: the compiler
// jumps instead of calling. clang does so always, g++ only when it optimises and no sanitizer is on; otherwise every
// transfer is a frame on the stack. So after some dozens of transfers the next coroutine is handed to the worker's loop instead
// (worker::may_transfer): the stack is flat whatever a user compiles with, and a task that never really suspends still comes
// by the loop, where I/O and the others get their turn. docs/adr/0005, tests/stack_test.cpp.
//
// A coroutine that ends destroys its own frame, before the one that waits goes on: the result is already in that one's slot.
//
// I1  A coroutine is resumed by exactly one: what it waits for, or the worker that took it from a queue.
// I2  While a coroutine waits for a child, or for several, _awaits says for which, and their frames belong to its awaiter.
//     So a tree that will never run again is destroyed from its leaves, without recursion: destroy_tree.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "faio/context/export.hpp"
#include "faio/context/join_counter.hpp"
#include "faio/context/result_slot.hpp"
#include "faio/context/scope.hpp"
#include "faio/scheduler/frame_allocator.hpp"
#include "faio/scheduler/thread_state.hpp"
#include "faio/scheduler/worker.hpp"

namespace faio::context {

class live_task;
class promise_base;
[[noreturn]] FAIO_CONTEXT_API void throw_bad_frame();

/// A fork of so many children, and who goes on when all have ended; nobody before it has begun.
struct fork_join {
  explicit fork_join(std::size_t children) noexcept : counter(static_cast<std::uint32_t>(children)) {}
  promise_base* parent = nullptr;
  join_counter counter;
};

/// Who is told that a task has ended, where no coroutine simply goes on.
class end_listener {
 public:
  /// On the worker on which it ended, its frame gone. Gives the coroutine to go on with, or std::noop_coroutine().
  virtual std::coroutine_handle<> ended() noexcept = 0;
  /// Its frame was destroyed before it ended: the runtime has.
  virtual void destroyed() noexcept {}
  /// The coroutine that waits for it, if it waits for nothing else and owns its frame.
  [[nodiscard]] virtual promise_base* waiting() noexcept { return nullptr; }

 protected:
  ~end_listener() = default;
};

/// Several children that one coroutine waits for.
class child_list {
 public:
  /// A child that has not ended, another one each time; null: no more. For the end of the runtime.
  virtual promise_base* next_unended() noexcept = 0;

 protected:
  ~child_list() = default;
};

class FAIO_CONTEXT_API promise_base : public scheduler::work_item {
 public:
  promise_base() noexcept : work_item(how) {}

  static void* operator new(std::size_t size) { return scheduler::allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { scheduler::free_frame(frame, size); }

  [[nodiscard]] std::coroutine_handle<promise_base> handle() noexcept {
    return std::coroutine_handle<promise_base>::from_promise(*this);
  }
  [[nodiscard]] scope& owner() const noexcept { return *_scope; }

  /// g++ before 12.3 puts a field of its own in front of the frame of a coroutine that awaits in a condition and has no local variable
  /// (bug 106713); every handle to it is then off by eight bytes. Such a frame is refused instead of being trampled on: frames are aligned to
  /// 16 bytes, and so is a promise at its proper place behind two pointers.        MisuseTest.AFrameThatTheCompilerLaidOutWrongly
  void check_place_in_frame() const {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13 && defined(__LP64__)
    if (reinterpret_cast<std::uintptr_t>(this) % 16 != 0) [[unlikely]]
      throw_bad_frame();
#endif
  }

  // ---- Before it starts: on whose behalf, and what happens at its end.

  void belongs_to(scope& whose) noexcept { _scope = &whose; }
  void then_resume(promise_base& parent) noexcept {
    _ending = word_of(end::resumes);
    _next = &parent;
    _scope = parent._scope;
    parent._awaits = reinterpret_cast<std::uintptr_t>(this);
  }
  void then_join(fork_join& fork) noexcept {
    _ending = word_of(end::joins) + one_weight;
    _next = &fork;
    _scope = fork.parent->_scope;
  }
  void then_tell(end_listener& listener) noexcept {
    _ending = word_of(end::tells);
    _next = &listener;
  }
  /// It is what `task` runs; who runs it first puts the task on the list of those that live.
  void then_end(live_task& task) noexcept {
    becomes(how_at_first);
    _ending = word_of(end::spawned);
    _next = &task;
  }

  // ---- Running.

  /// On a worker. Gives what await_suspend returns to run `next` now: itself, or nothing, when it is the loop's turn.
  static std::coroutine_handle<> transfer(promise_base& next) noexcept {
    scheduler::worker& here = *scheduler::current_worker();
    if (here.may_transfer()) [[likely]]
      return next.handle();
    here.bounce(next);
    return std::noop_coroutine();
  }
  /// As transfer, at the end of a coroutine: where the compiler always jumps, there is nothing to count.
  static std::coroutine_handle<> transfer_back(promise_base& next) noexcept {
#if defined(__clang__)
    return next.handle();
#else
    return transfer(next);
#endif
  }
  /// As transfer, to a coroutine of another scope.
  static std::coroutine_handle<> switch_to(promise_base& next) noexcept {
    scheduler::thread_state& here = scheduler::this_thread();
    scope::settle(here);
    here.scope = next._scope;
    return transfer(next);
  }

  /// The coroutine has ended: destroys it and says who goes on.
  std::coroutine_handle<> finish() noexcept {
    if (how_it_ends() == end::resumes) [[likely]] {
      promise_base& parent = *static_cast<promise_base*>(_next);
      parent._awaits = 0;
      handle().destroy();
      return transfer_back(parent);
    }
    if (how_it_ends() == end::joins) return finish_join();
    return finish_telling();
  }

  // ---- Whom this one waits for.

  [[nodiscard]] bool awaits(const promise_base* child) const noexcept {
    return _awaits == reinterpret_cast<std::uintptr_t>(child);
  }
  void awaits_all(child_list& children) noexcept { _awaits = reinterpret_cast<std::uintptr_t>(&children) | list_bit; }
  void awaits_nobody() noexcept { _awaits = 0; }

  /// Nobody will resume it or anything it waits for: destroys all of them, leaves first.
  static void destroy_tree(promise_base& root) noexcept;

  // ---- end of the public interface ----

 private:
  enum class end : std::uint32_t { resumes, joins, tells, spawned };
  static constexpr std::uint64_t one_weight = std::uint64_t{1} << 32;
  static constexpr std::uint64_t word_of(end one) noexcept { return static_cast<std::uint64_t>(one); }
  [[nodiscard]] end how_it_ends() const noexcept { return static_cast<end>(static_cast<std::uint32_t>(_ending)); }
  [[nodiscard]] std::uint32_t weight() const noexcept { return static_cast<std::uint32_t>(_ending >> 32); }

  static void run_it(work_item& item) noexcept;
  /// Its frame belongs to whoever waits for it, or to the runtime's list of tasks.
  static void drop_it(work_item&) noexcept {}
  static constexpr operations how{&run_it, &drop_it};
  static void run_first(work_item& item) noexcept;
  static void drop_first(work_item& item) noexcept;
  static constexpr operations how_at_first{&run_first, &drop_first};
  static constexpr std::uintptr_t list_bit = 1;

  [[nodiscard]] promise_base* next_awaited() noexcept;
  [[nodiscard]] promise_base* waiting() noexcept;

  std::coroutine_handle<> finish_join() noexcept;
  std::coroutine_handle<> finish_telling() noexcept;
  static std::coroutine_handle<> arrive(fork_join& fork, std::uint32_t weight, work_item* other) noexcept;

  std::uintptr_t _awaits = 0;  // promise_base*, or child_list* with list_bit
  // Set by whoever starts it, and not before: a task is made and started by so many stores that each counts.
  scope* _scope;
  void* _next;            // by how it ends: promise_base*, fork_join*, end_listener*, live_task*
  std::uint64_t _ending;  // [ weight in a fork : 32 | end : 32 ], so that one store sets both
};

/// For an await that need not wait, a lock that is free say. In await_ready: false when it is the loop's turn; then come_by_the_loop() in
/// await_suspend. So a loop around something that is always ready does not keep the thread: as with transfers.
[[nodiscard]] inline bool may_go_on() noexcept { return scheduler::current_worker()->may_transfer(); }
/// `next`: the coroutine, or an item that runs it.
inline void come_by_the_loop(scheduler::work_item& next) noexcept { scheduler::current_worker()->bounce(next); }

struct final_awaiter {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
    return ended.promise().finish();
  }
  void await_resume() const noexcept {}
};

template <class T>
class task_promise_base : public promise_base {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { _slot->set_exception(std::current_exception()); }
  void result_to(result_slot<T>& slot) noexcept { _slot = &slot; }

 protected:
  result_slot<T>* _slot;  // set by whoever starts it
};

}  // namespace faio::context
