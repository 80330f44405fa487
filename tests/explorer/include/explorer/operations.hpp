// operations -- the seam between the policy's templates (atomics.hpp) and the compiled engine (src/).
//
// Everything here works on addresses and 64-bit words. An object is never read through its address: it is looked up in
// a table of live objects first, so that a use after death is reported instead of performed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace faio::explorer::operations {

using word = std::uint64_t;
using where = std::source_location;
/// Shows a stored word in the step log.
using printer = std::string (*)(word);
/// What a read-modify-write makes of the old word.
using change = word (*)(word old, word operand);

void create_atomic(const void* address, word initial, printer print, where at);
void destroy_atomic(const void* address);
[[nodiscard]] word load(const void* address, std::memory_order order, where at);
void store(const void* address, word value, std::memory_order order, where at);
word modify(const void* address, const char* name, change apply, word operand, std::memory_order order, where at);
[[nodiscard]] bool compare_exchange(const void* address, word& expected, word desired, bool weak,
                                    std::memory_order success, std::memory_order failure, where at);
void wait(const void* address, word old, std::memory_order order, where at);
void notify(const void* address, bool all, where at);

void create_plain(const void* address, where at);
void destroy_plain(const void* address);
void read_plain(const void* address, where at);
void write_plain(const void* address, where at);

void create_mutex(const void* address, where at);
void destroy_mutex(const void* address);
void lock(const void* address);
[[nodiscard]] bool try_lock(const void* address);
void unlock(const void* address);

void fence(std::memory_order order, where at);
void heavy_barrier(where at);
void futex_wait(const void* address, std::uint32_t expected, where at);
void futex_wake(const void* address, bool all, where at);
void pause(where at);

[[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, const char* type_name);
/// Fails the execution unless `block` is a live result of `allocate`; call before running the destructor.
void require_live_block(const void* block);
void release(void* block);

[[nodiscard]] const void* this_thread() noexcept;

enum class kind : std::uint8_t { atomic, plain, mutex, block };
void label(const void* address, kind what, const char* name);

}  // namespace faio::explorer::operations
