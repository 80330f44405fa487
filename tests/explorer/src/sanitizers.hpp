// sanitizers -- which of them this build has, whichever compiler it is, and memory poisoning that is nothing without.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAIO_EXPLORER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FAIO_EXPLORER_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define FAIO_EXPLORER_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define FAIO_EXPLORER_TSAN 1
#endif

#ifdef FAIO_EXPLORER_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace faio::explorer {

inline void poison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FAIO_EXPLORER_ASAN
  __asan_poison_memory_region(memory, size);
#endif
}

inline void unpoison([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t size) noexcept {
#ifdef FAIO_EXPLORER_ASAN
  __asan_unpoison_memory_region(memory, size);
#endif
}

}  // namespace faio::explorer
