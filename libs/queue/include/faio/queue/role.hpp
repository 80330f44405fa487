// role -- remembers which thread owns a queue, and stops a debug build when another one plays the owner.
//
// The first owner-only call binds the queue to its thread. release() unbinds it, for handing a queue over; a thread that ends
// leaves its queues to whoever comes next, so that they can be emptied after a join. The field is there in every build, so
// that debug and optimised code agree on the layout; only the look at it depends on NDEBUG.
// Kept by RoleDeathTest and Role in tests/role_test.cpp.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace faio::queue {

template <class Policy>
class role {
 public:
  /// The owner, before each owner-only step. `call` names it for the report.
  void check([[maybe_unused]] const char* call) noexcept {
#ifndef NDEBUG
    const void* const self = Policy::this_thread();
    const void* holder = nullptr;
    // relaxed, both: a thread always sees its own binding, which is all that a correct program asks for.
    if (_holder.compare_exchange_strong(holder, self, std::memory_order_relaxed) || holder == self) return;
    if (Policy::has_ended(holder) && _holder.compare_exchange_strong(holder, self, std::memory_order_relaxed)) return;
    std::fprintf(
        stderr,
        "faio::queue: %s is for the owner, but another thread called it. Call release_owner() to hand a queue over.\n",
        call);
    std::abort();
#endif
  }

  /// The owner, or whoever is ordered after its last call.
  void release() noexcept { _holder.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<const void*> _holder{nullptr};
};

}  // namespace faio::queue
