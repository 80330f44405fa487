// fiber_switch -- the machine's part of a fiber: a saved context, how it is made and how it is resumed.
#pragma once

#include <cstddef>

#if !defined(FAIO_EXPLORER_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define FAIO_EXPLORER_UCONTEXT 1
#endif

#ifdef FAIO_EXPLORER_UCONTEXT
#include <ucontext.h>
#endif

namespace faio::explorer {

#ifdef FAIO_EXPLORER_UCONTEXT
using machine_context = ucontext_t;
#else
struct machine_context {
  void* stack_pointer = nullptr;  // everything else is on the stack
};
#endif

/// Makes `context` call `start(argument)` on the given stack when it is first resumed.
void prepare(machine_context& context, std::byte* stack, std::size_t size, void (*start)(void*), void* argument);

/// Saves what runs into `from` and resumes `to`.
void resume(machine_context& from, machine_context& to) noexcept;

}  // namespace faio::explorer
