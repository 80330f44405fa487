// role -- remembers which thread owns a queue, and stops a debug build when another one plays the owner, or an overflow does.
//
// The first owner-only call binds the queue to its thread. release() unbinds it, for handing a queue over; a thread that ends
// leaves its queues to whoever comes next, so that they can be emptied after a join. The field is there in every build, so
// that debug and optimised code agree on the layout; only the look at it depends on NDEBUG. So too for the mark that says that the owner
// is inside an overflow.
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
    if (_holder.compare_exchange_strong(holder, self, std::memory_order_relaxed) || holder == self ||
        (Policy::has_ended(holder) && _holder.compare_exchange_strong(holder, self, std::memory_order_relaxed))) {
      if (!_inside_overflow) return;
      std::fprintf(stderr, "faio::queue: %s: the overflow must not use the queue that it is called from.\n", call);
      std::abort();
    }
    std::fprintf(
        stderr,
        "faio::queue: %s is for the owner, but another thread called it. Call release_owner() to hand a queue over.\n",
        call);
    std::abort();
#endif
  }

  /// The owner, for as long as it lives: code runs that must not use the queue.
  class inside_overflow {
   public:
#ifndef NDEBUG
    explicit inside_overflow(role& of) noexcept : _role(of) { _role._inside_overflow = true; }
    ~inside_overflow() { _role._inside_overflow = false; }
#else
    explicit inside_overflow(role&) noexcept {}
#endif
    inside_overflow(const inside_overflow&) = delete;
    inside_overflow& operator=(const inside_overflow&) = delete;

#ifndef NDEBUG
   private:
    role& _role;
#endif
  };

  /// The owner, or whoever is ordered after its last call.
  void release() noexcept { _holder.store(nullptr, std::memory_order_relaxed); }

 private:
  std::atomic<const void*> _holder{nullptr};
  [[maybe_unused]] bool _inside_overflow = false;  // the owner's alone
};

}  // namespace faio::queue
