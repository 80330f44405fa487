// fiber -- a stack of its own to run a function on, and the switch from one to another.
//
// All threads of a model are fibers of one real thread: the explorer decides who runs, and a switch costs a few
// nanoseconds instead of the microseconds of ucontext's signal-mask system calls.
//
//   x86-64, aarch64   the switch is a dozen instructions of our own (fiber_switch.cpp): callee-saved registers and
//                     stack pointer; floating-point control words are not kept
//   elsewhere, or with FAIO_EXPLORER_UCONTEXT    swapcontext
//
// AddressSanitizer and ThreadSanitizer are told of each switch; the C++ runtime's list of exceptions being handled is
// carried along, so that a thread may be switched away inside a catch block.
#pragma once

#include <cstddef>

#include "fiber_switch.hpp"

namespace faio::explorer {

class fiber {
 public:
  using entry = void (*)(void*);

  /// Adopts the stack that is running, to be switched away from.
  fiber();
  /// A new stack on which `start(argument)` runs at the first switch. `start` must not return: it may loop, switching
  /// away whenever it has nothing to do.
  fiber(entry start, void* argument);
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  /// The stack of a suspended fiber is dropped as it is, nothing on it is destroyed.
  ~fiber();

  /// `from` must be the one that runs. Returns when something switches back to it.
  static void switch_to(fiber& from, fiber& to);

 private:
  static void begin(void* self);

  machine_context _context{};
  entry _start = nullptr;
  void* _argument = nullptr;
  std::byte* _mapping = nullptr;  // the guard page, then the stack; none for an adopted stack
  // For the sanitizers; unused without.
  [[maybe_unused]] const void* _bottom = nullptr;
  [[maybe_unused]] std::size_t _size = 0;
  [[maybe_unused]] void* _asan_stack = nullptr;
  [[maybe_unused]] void* _tsan_fiber = nullptr;
  // What __cxa_get_globals points to while this fiber runs (Itanium C++ ABI, "Exception Handling" 2.2.2).
  void* _caught = nullptr;
  unsigned _uncaught = 0;
};

}  // namespace faio::explorer
