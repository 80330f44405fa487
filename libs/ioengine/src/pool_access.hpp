// pool_access -- the engines' way into a buffer_pool.
#pragma once

#include <optional>

#include "faio/ioengine/buffer_pool.hpp"
#include "sanitizers.hpp"

namespace faio::ioengine {

struct pool_access {
  static std::uint16_t group(const buffer_pool& pool) noexcept { return pool._group; }
  static void set_ring(buffer_pool& pool, void* ring, std::uint16_t group) noexcept {
    pool._ring = ring;
    pool._group = group;
  }
  static void* ring(const buffer_pool& pool) noexcept { return pool._ring; }
  static std::byte* buffer(buffer_pool& pool, std::uint16_t id) noexcept { return pool.buffer(id); }

  /// epoll: before the system call that may fill the buffer that peek gave; and if it did not.
  static void lend(buffer_pool& pool, std::uint16_t id) noexcept {
    detail::unpoison_memory(pool.buffer(id), pool._size);
  }
  static void unlend(buffer_pool& pool, std::uint16_t id) noexcept { pool.hide(id); }
  /// epoll: the next free buffer, not yet taken.
  static std::optional<std::uint16_t> peek(const buffer_pool& pool) noexcept {
    if (pool._free.empty()) return std::nullopt;
    return pool._free.back();
  }
  /// epoll: takes the one that peek gave.
  static void take(buffer_pool& pool) noexcept {
    const std::uint16_t id = pool._free.back();
    pool._free.pop_back();
    mark_taken(pool, id);
  }
  /// uring: the kernel took it.
  static void mark_taken(buffer_pool& pool, std::uint16_t id) noexcept {
    detail::unpoison_memory(pool.buffer(id), pool._size);
    pool._taken[id] = true;
    ++pool._taken_count;
  }
};

}  // namespace faio::ioengine
