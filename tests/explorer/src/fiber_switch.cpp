// fiber_switch -- the machine's part of a fiber: a saved context, how it is made and how it is resumed.
#include "fiber_switch.hpp"

#include <cstdint>

#ifdef FAIO_EXPLORER_UCONTEXT

namespace faio::explorer {
namespace {

// makecontext passes ints only: a pointer travels as two halves.
void start_from_halves(unsigned start_high, unsigned start_low, unsigned argument_high, unsigned argument_low) {
  const auto whole = [](unsigned high, unsigned low) {
    return static_cast<std::uintptr_t>(std::uint64_t{high} << 32U | low);
  };
  reinterpret_cast<void (*)(void*)>(whole(start_high, start_low))(
      reinterpret_cast<void*>(whole(argument_high, argument_low)));
}

}  // namespace

void prepare(machine_context& context, std::byte* stack, std::size_t size, void (*start)(void*), void* argument) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = size;
  context.uc_link = nullptr;
  const auto function = std::uint64_t{reinterpret_cast<std::uintptr_t>(start)};
  const auto value = std::uint64_t{reinterpret_cast<std::uintptr_t>(argument)};
  makecontext(&context, reinterpret_cast<void (*)()>(&start_from_halves), 4, static_cast<unsigned>(function >> 32U),
              static_cast<unsigned>(function), static_cast<unsigned>(value >> 32U), static_cast<unsigned>(value));
}

void resume(machine_context& from, machine_context& to) noexcept { swapcontext(&from, &to); }

}  // namespace faio::explorer

#else

// faio_explorer_switch(void** save, void* load): pushes the callee-saved registers, leaves the stack pointer in *save,
// takes the other one and pops. faio_explorer_start is where a new stack "returns" to: it calls the function in one
// callee-saved register with the argument in another. Its return address is declared undefined, so that unwinders and
// debuggers stop there.
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl faio_explorer_switch
.hidden faio_explorer_switch
.type faio_explorer_switch,@function
faio_explorer_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size faio_explorer_switch,.-faio_explorer_switch

.p2align 4
.globl faio_explorer_start
.hidden faio_explorer_start
.type faio_explorer_start,@function
faio_explorer_start:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
.size faio_explorer_start,.-faio_explorer_start
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl faio_explorer_switch
.hidden faio_explorer_switch
.type faio_explorer_switch,%function
faio_explorer_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size faio_explorer_switch,.-faio_explorer_switch

.p2align 4
.globl faio_explorer_start
.hidden faio_explorer_start
.type faio_explorer_start,%function
faio_explorer_start:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #0
  .cfi_endproc
.size faio_explorer_start,.-faio_explorer_start
)");
#endif

extern "C" {
void faio_explorer_switch(void** save, void* load) noexcept;
void faio_explorer_start() noexcept;
}

namespace faio::explorer {

void prepare(machine_context& context, std::byte* stack, std::size_t size, void (*start)(void*), void* argument) {
  auto* top = reinterpret_cast<void**>(stack + size);
  const auto function = reinterpret_cast<void*>(start);
#if defined(__x86_64__)
  // From the top: two spare words, so that the stack is 16-byte aligned at the call in faio_explorer_start, whose
  // address is next, to return to; then the six registers, the last popped first.
  *--top = nullptr;
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&faio_explorer_start);
  *--top = nullptr;   // rbp
  *--top = nullptr;   // rbx
  *--top = argument;  // r12
  *--top = function;  // r13
  *--top = nullptr;   // r14
  *--top = nullptr;   // r15
#elif defined(__aarch64__)
  top -= 20;  // the 160 bytes of faio_explorer_switch
  for (int i = 0; i < 20; ++i) top[i] = nullptr;
  top[0] = argument;                                        // x19
  top[1] = function;                                        // x20
  top[11] = reinterpret_cast<void*>(&faio_explorer_start);  // x30
#endif
  context.stack_pointer = top;
}

void resume(machine_context& from, machine_context& to) noexcept {
  faio_explorer_switch(&from.stack_pointer, to.stack_pointer);
}

}  // namespace faio::explorer

#endif
