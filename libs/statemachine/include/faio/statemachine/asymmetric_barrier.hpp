// asymmetric_barrier -- orders "store, then load" on both sides of a handshake, and lets the side that runs rarely pay.
//
//     often:   publish work;  light();  look for sleepers
//     rarely:  fall asleep;   heavy();  look for work
//
// One of the two sees the other. light costs nothing: it only stops the compiler. heavy makes every running thread of the
// process execute a full barrier, by membarrier(2), at some point during the call. If that point lies before the other
// side's look, the look sees us asleep; if it lies after, what was published before the look is visible to us.
// Where the kernel or a sandbox refuses membarrier, both sides are full barriers, which is the textbook case.
//
// Rejected: a full barrier on both sides always; it would run at every spawn. bench/state_machine_bench has it beside light().
// Rejected: a counter that each publisher increments: one cache line that every spawn on every worker writes.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace faio::statemachine {

struct asymmetric_barrier {
  /// Any thread. True when heavy() is membarrier and light() is free; asked of the kernel once for each process.
  /// A state_machine asks when it is made.
  static bool by_membarrier() noexcept {
    const way known = _way.load(std::memory_order_relaxed);  // relaxed: every thread that asks gets the same answer
    return (known != way::unknown ? known : ask()) == way::membarrier;
  }

  /// Any thread. Does not ask: while nobody has, a full barrier is right against either kind of heavy(). So it calls nothing, and what it is part of keeps its
  /// registers.
  static void light() noexcept {
    if (_way.load(std::memory_order_relaxed) == way::membarrier) [[likely]] {  // relaxed: as above
      // The compiler keeps the order; heavy() makes the processor keep it.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      full();
    }
  }

  /// Any thread. Microseconds: it interrupts the other processors.
  static void heavy() noexcept {
    constexpr int private_expedited = 1 << 3;
    if (!by_membarrier()) {
      full();
    } else if (::syscall(SYS_membarrier, private_expedited, 0, 0) != 0) {
      refused(errno);
    }
  }

  /// Any thread. Both sides' barrier where membarrier is refused.
  static void full() noexcept {
#if defined(__x86_64__)
    // What a seq_cst fence means here. Written out, because clang emits the slower mfence for it (bench/), and because g++
    // warns of fences under TSan; this handshake hands no data over, so TSan need not know of it.
    __asm__ __volatile__("lock; orl $0, -8(%%rsp)" ::: "memory", "cc");
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  }

 private:
  enum class way : unsigned char { unknown, membarrier, full };

  [[gnu::noinline, gnu::cold]] static way ask() noexcept {
    // The numbers are those of <linux/membarrier.h>, which old toolchains lack.
    constexpr int register_private_expedited = 1 << 4;
    static const way answer =
        ::syscall(SYS_membarrier, register_private_expedited, 0, 0) == 0 ? way::membarrier : way::full;
    _way.store(answer, std::memory_order_relaxed);
    return answer;
  }

  /// Once registered it fails only when a filter was installed since. Then there is no safe way on: other threads have passed light() without a
  /// barrier, and may be past it now. (AsymmetricBarrierDeathTest.SaysWhyItCannotGoOnWhenMembarrierIsRefusedAfterTheStart)
  [[noreturn, gnu::noinline, gnu::cold]] static void refused(int error) noexcept {
    std::fprintf(stderr,
                 "faio::statemachine: membarrier was refused (errno %d) after the start had registered for it, by a "
                 "seccomp filter that came later: "
                 "other threads rely on it, and a wake-up could be lost. Install the filter before the start, or let "
                 "it allow membarrier.\n",
                 error);
    std::abort();
  }

  static inline std::atomic<way> _way{way::unknown};
};

}  // namespace faio::statemachine
