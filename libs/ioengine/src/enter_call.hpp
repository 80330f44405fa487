// enter_call -- io_uring_enter without a function around it.
//
// Kernels with mitigations empty the processor's memory of return addresses, so every return on the way out of a system call is
// guessed wrong: four nested functions cost 50 ns, a tenth of a turn of the loop with one operation. Here there is none.
#pragma once

#include <liburing.h>
#include <sys/syscall.h>

#include <cstddef>

namespace faio::ioengine::detail {

/// What the kernel gives, errors as -errno.
[[gnu::always_inline]] inline int enter_call(unsigned fd, unsigned to_submit, unsigned min_complete, unsigned flags,
                                             void* argument, std::size_t size) noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
  long answer = __NR_io_uring_enter;
  register long r10 asm("r10") = static_cast<long>(flags);
  register void* r8 asm("r8") = argument;
  register std::size_t r9 asm("r9") = size;
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(static_cast<long>(fd)), "S"(static_cast<long>(to_submit)), "d"(static_cast<long>(min_complete)),
                 "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return static_cast<int>(answer);
#else
  return ::io_uring_enter2(fd, to_submit, min_complete, flags, static_cast<sigset_t*>(argument), size);
#endif
}

}  // namespace faio::ioengine::detail
