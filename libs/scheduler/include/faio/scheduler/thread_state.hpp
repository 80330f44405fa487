// thread_state -- what a thread knows of itself: which worker it is, and on whose behalf it runs right now.
//
// A coroutine that was suspended may go on with another thread, while the compiler still holds the address of the old one's
// thread-local variables. So they are reached by a call that is never inlined, after each suspension anew.
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

/// The calling thread's. Never keep the reference across a suspension.
[[gnu::noinline]] FAIO_SCHEDULER_API thread_state& this_thread() noexcept;

/// The calling thread's worker; null on other threads.
[[gnu::noinline]] FAIO_SCHEDULER_API worker* current_worker() noexcept;

}  // namespace faio::scheduler
