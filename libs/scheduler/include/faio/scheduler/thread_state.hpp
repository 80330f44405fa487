// thread_state -- what a thread knows of itself: which worker it is, and on whose behalf it runs right now.
//
// A coroutine that was suspended may go on with another thread, while the compiler still holds the address of the old one's
// thread-local variables. So where the thread keeps them is asked of the processor by an instruction that the compiler may neither leave out nor do
// earlier (`asm volatile`), each time anew; on other processors by a call that is never inlined.         ThreadState.IsThatOfTheThreadAfterASuspension
//
// Rejected: the call on x86-64 too. It is twice as many instructions, and what it is part of gives up its registers: with the allocator's lists, which are
// reached from here, 14 of 227 for a node of fib (ADR 27).
#pragma once

#include <cstdint>

#include "faio/scheduler/export.hpp"

namespace faio::scheduler {

class shared_state;
class worker;

/// On whose behalf something runs: what is posted or spawned from there belongs to it too. The layer above derives its
/// groups from this; the scheduler only carries it along.
class ambient_scope {
 public:
  /// Any thread that runs on its behalf. One more that it must wait for.
  virtual void retain() noexcept = 0;
  /// Any thread. One less. The scope may be gone afterwards.
  virtual void release() noexcept = 0;

 protected:
  ambient_scope() = default;
  ambient_scope(const ambient_scope&) = delete;
  ambient_scope& operator=(const ambient_scope&) = delete;
  ~ambient_scope() = default;
};

struct thread_state {
  worker* current = nullptr;        ///< null on a thread that is no worker
  ambient_scope* scope = nullptr;   ///< of what runs now
  shared_state* runtime = nullptr;  ///< of the worker, or of a thread that works for one

  /// For the layer above: counts that a task has taken for what it will spawn in this run.
  struct prepaid_counts {
    ambient_scope* spawner = nullptr;  ///< null: none
    ambient_scope* above = nullptr;    ///< whose counts they are
    std::uint32_t left = 0;
    std::uint32_t next = 0;  ///< how many to take when none is left
  } prepaid{};
  bool in_a_run = false;  ///< of a task, at the end of which they are given back
};

struct frame_lists;

/// All that a thread has of its own. One variable: one place to find.
struct thread_room {
  thread_state state;
  frame_lists* frames;  ///< frame_allocator.hpp
};

/// On processors without a way of their own below.
[[gnu::noinline]] FAIO_SCHEDULER_API thread_room& find_thread_room() noexcept;

#if defined(__x86_64__) && defined(__ELF__)
/// Named in the assembly below. initial-exec: its distance from the thread's pointer is known when the program, or the library, has been loaded.
extern "C" FAIO_SCHEDULER_API
    [[gnu::tls_model("initial-exec")]] constinit thread_local thread_room faio_scheduler_thread_room;

/// The calling thread's. Never keep the reference across a suspension.
[[nodiscard, gnu::always_inline]] inline thread_room& this_thread_room() noexcept {
  std::uintptr_t distance = 0;  // the same for all threads: may be kept
  std::uintptr_t thread = 0;    // that of the thread which executes this: may not
  __asm__("movq faio_scheduler_thread_room@gottpoff(%%rip), %0" : "=r"(distance));
  __asm__ __volatile__("movq %%fs:0, %0" : "=r"(thread));
  return *reinterpret_cast<thread_room*>(thread + distance);
}
#else
[[nodiscard]] inline thread_room& this_thread_room() noexcept { return find_thread_room(); }
#endif

/// The calling thread's. Never keep the reference across a suspension.
[[nodiscard]] inline thread_state& this_thread() noexcept { return this_thread_room().state; }

/// The calling thread's worker; null on other threads.
[[nodiscard]] inline worker* current_worker() noexcept { return this_thread().current; }

}  // namespace faio::scheduler
