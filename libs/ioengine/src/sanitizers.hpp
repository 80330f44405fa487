// sanitizers -- tells the sanitizers what the kernel does behind their backs. Nothing at all in other builds.
//
// A buffer that the kernel may write into is poisoned from submit to completion: the owner's touch is then reported where it
// happens. Buffers that the kernel only reads are not: to read them too, or to send one twice, is right. Both must be
// addressable at submit: freed or overflowing buffers, and buffers that another operation reads into, are found there. A pool's
// buffer is poisoned while it is free.
#pragma once

#include <cstddef>

#include "operation_access.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FAIO_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAIO_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FAIO_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIO_THREAD_SANITIZER 1
#endif
#endif

#ifdef FAIO_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>

#include <cstdio>
#include <cstdlib>
#endif
#ifdef FAIO_THREAD_SANITIZER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace faio::ioengine::detail {

#ifdef FAIO_ADDRESS_SANITIZER
template <class Visit>
void for_each_buffer(operation& op, Visit visit) noexcept {
  using access = operation_access;
  void* const address = access::address(op);
  if (address == nullptr || access::is(op, access::pooled)) return;
  const auto visit_all = [&](const iovec* first, std::size_t count, bool written) {
    for (std::size_t i = 0; first != nullptr && i < count; ++i) visit(first[i].iov_base, first[i].iov_len, written);
  };
  switch (op.code()) {
    case opcode::read:
    case opcode::recv:
      return visit(address, access::length(op), true);
    case opcode::write:
    case opcode::send:
    case opcode::send_zero_copy:
      return visit(address, access::length(op), false);
    case opcode::readv:
    case opcode::writev:
      return visit_all(static_cast<const iovec*>(address), access::length(op), op.code() == opcode::readv);
    case opcode::recvmsg:
    case opcode::sendmsg: {
      const auto& message = *static_cast<const msghdr*>(address);
      return visit_all(message.msg_iov, message.msg_iovlen, op.code() == opcode::recvmsg);
    }
    default:
      return;
  }
}
#endif

/// For memory that nobody may touch for a while: a pool's free buffer.
inline void poison_memory([[maybe_unused]] void* at, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FAIO_ADDRESS_SANITIZER
  __asan_poison_memory_region(at, size);
#endif
}
inline void unpoison_memory([[maybe_unused]] void* at, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FAIO_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(at, size);
#endif
}

/// At submit: every buffer must be addressable.
inline void check_buffers([[maybe_unused]] operation& op) noexcept {
#ifdef FAIO_ADDRESS_SANITIZER
  for_each_buffer(op, [](void* at, std::size_t size, bool) {
    if (at == nullptr || size == 0) return;
    if (void* const bad = __asan_region_is_poisoned(at, size)) {
      std::fprintf(stderr, "faio: an operation was submitted with a buffer that is freed, too short or in flight:\n");
      __asan_describe_address(bad);
      std::abort();
    }
  });
#endif
}

/// From here on the kernel may write.
inline void poison_buffers([[maybe_unused]] operation& op) noexcept {
#ifdef FAIO_ADDRESS_SANITIZER
  for_each_buffer(op, [](void* at, std::size_t size, bool written) {
    if (written && at != nullptr) __asan_poison_memory_region(at, size);
  });
#endif
}

inline void unpoison_buffers([[maybe_unused]] operation& op) noexcept {
#ifdef FAIO_ADDRESS_SANITIZER
  for_each_buffer(op, [](void* at, std::size_t size, bool written) {
    if (written && at != nullptr) __asan_unpoison_memory_region(at, size);
  });
#endif
}

/// At submit and at completion: what the thread sanitizer cannot see is that the one happens before the other.
inline void hand_to_kernel([[maybe_unused]] operation& op) noexcept {
#ifdef FAIO_THREAD_SANITIZER
  __tsan_release(&op);
#endif
}
inline void take_from_kernel([[maybe_unused]] operation& op) noexcept {
#ifdef FAIO_THREAD_SANITIZER
  __tsan_acquire(&op);
#endif
}

#ifdef FAIO_THREAD_SANITIZER
inline char all_rings = 0;
#endif

/// Around the life of a ring's memory: liburing maps it by system calls of its own, so the thread sanitizer would take two rings at the
/// same address, one after the other, for one that two threads write.
inline void ring_is_mapped() noexcept {
#ifdef FAIO_THREAD_SANITIZER
  __tsan_acquire(&all_rings);
#endif
}
inline void ring_will_be_unmapped() noexcept {
#ifdef FAIO_THREAD_SANITIZER
  __tsan_release(&all_rings);
#endif
}

}  // namespace faio::ioengine::detail
