// fiber -- a stack of its own to run a function on, and the switch from one to another.
#include "fiber.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "sanitizers.hpp"

#ifdef FAIO_EXPLORER_ASAN
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef FAIO_EXPLORER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#ifdef FAIO_EXPLORER_ASAN
// Frames stay on the stacks that are registered below. On AddressSanitizer's own "fake stacks" (clang's default) the
// leak checker would not find what a failed execution left in them.
extern "C" [[gnu::used, gnu::visibility("default")]] const char* __asan_default_options() {
  return "detect_stack_use_after_return=0";
}
#endif

namespace faio::explorer {
namespace {

// Committed page by page as it is used. Enough for a failing gtest assertion inside a thread, in a sanitizer build too.
constexpr std::size_t stack_size = std::size_t{256} << 10;
constexpr std::size_t guard_size = std::size_t{64} << 10;  // the largest page size in use

// The ABI fixes these two members, but not a public declaration of them.
struct exception_globals {
  void* caught;
  unsigned uncaught;
};

exception_globals& exceptions() noexcept { return *reinterpret_cast<exception_globals*>(abi::__cxa_get_globals()); }

#ifdef FAIO_EXPLORER_ASAN
struct stack_bounds {
  void* bottom = nullptr;
  std::size_t size = 0;
};

// Asked once: for the main thread glibc reads all of /proc/self/maps.
stack_bounds own_stack() {
  thread_local const stack_bounds known = [] {
    stack_bounds found;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &found.bottom, &found.size);
      pthread_attr_destroy(&attributes);
    }
    return found;
  }();
  return known;
}
#endif

}  // namespace

fiber::fiber() {
#ifdef FAIO_EXPLORER_ASAN
  const stack_bounds bounds = own_stack();
  _bottom = bounds.bottom;
  _size = bounds.size;
#endif
#ifdef FAIO_EXPLORER_TSAN
  _tsan_fiber = __tsan_get_current_fiber();
#endif
}

fiber::fiber(entry start, void* argument) : _start(start), _argument(argument), _size(stack_size) {
  void* mapping = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED || mprotect(mapping, guard_size, PROT_NONE) != 0) {
    std::perror("explorer: no memory for the stack of a fiber");
    std::abort();
  }
  _mapping = static_cast<std::byte*>(mapping);
  std::byte* stack = _mapping + guard_size;
  _bottom = stack;
#ifdef FAIO_EXPLORER_ASAN
  // A failed execution leaves its fibers as they stand. What they own is not a leak: let the leak checker see it.
  __lsan_register_root_region(stack, stack_size);
#endif
#ifdef FAIO_EXPLORER_TSAN
  _tsan_fiber = __tsan_create_fiber(0);
#endif
  prepare(_context, stack, stack_size, &fiber::begin, this);
}

fiber::~fiber() {
  if (_mapping == nullptr) return;
#ifdef FAIO_EXPLORER_TSAN
  __tsan_destroy_fiber(_tsan_fiber);
#endif
#ifdef FAIO_EXPLORER_ASAN
  __lsan_unregister_root_region(_mapping + guard_size, stack_size);
#endif
  munmap(_mapping, guard_size + stack_size);
}

void fiber::begin(void* self) {
  auto* me = static_cast<fiber*>(self);
#ifdef FAIO_EXPLORER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  me->_start(me->_argument);
  std::abort();  // a fiber's function does not return
}

void fiber::switch_to(fiber& from, fiber& to) {
  exception_globals& globals = exceptions();
  from._caught = globals.caught;
  from._uncaught = globals.uncaught;
  globals.caught = to._caught;
  globals.uncaught = to._uncaught;
#ifdef FAIO_EXPLORER_ASAN
  __sanitizer_start_switch_fiber(&from._asan_stack, to._bottom, to._size);
#endif
#ifdef FAIO_EXPLORER_TSAN
  __tsan_switch_to_fiber(to._tsan_fiber, 0);
#endif
  resume(from._context, to._context);
#ifdef FAIO_EXPLORER_ASAN
  __sanitizer_finish_switch_fiber(from._asan_stack, nullptr, nullptr);
#endif
}

}  // namespace faio::explorer
