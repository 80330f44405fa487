// buffer_pool -- the memory, the free buffers, and the ring by which the kernel learns of them.
#include "faio/ioengine/buffer_pool.hpp"

#include <liburing.h>

#include <bit>
#include <cassert>
#include <new>

#include "faio/ioengine/engine.hpp"
#include "sanitizers.hpp"

namespace faio::ioengine {

buffer_pool::buffer_pool(engine& owner, const buffer_pool_options& options)
    : _engine(owner),
      _count(options.count),
      _size(options.size),
      _taken(options.count),
      _memory(std::make_unique_for_overwrite<std::byte[]>(std::size_t{options.count} * options.size)) {
  _free.reserve(_count);
}

result<std::unique_ptr<buffer_pool>> buffer_pool::create(engine& owner, const buffer_pool_options& options) {
  if (!std::has_single_bit(options.count) || options.count > 32768 || options.size == 0)
    return std::unexpected(std::make_error_code(std::errc::invalid_argument));
  std::unique_ptr<buffer_pool> pool;
  try {
    pool.reset(new buffer_pool(owner, options));
  } catch (const std::bad_alloc&) {
    return std::unexpected(std::make_error_code(std::errc::not_enough_memory));
  }
  if (const auto added = owner.add_pool(*pool); !added) return std::unexpected(added.error());
  for (std::uint32_t id = 0; id < options.count; ++id) pool->make_free(static_cast<std::uint16_t>(id));
  return pool;
}

buffer_pool::~buffer_pool() {
  _engine.remove_pool(*this);
  detail::unpoison_memory(_memory.get(), std::size_t{_count} * _size);
}

/// From the address sanitizer's view, while it is free.
void buffer_pool::hide(std::uint16_t id) noexcept {
  if (_engine._poison_buffers) detail::poison_memory(buffer(id), _size);
}

void buffer_pool::give_back(std::uint16_t id) noexcept {
  assert(id < _count && _taken[id] && "a buffer was given back that is not taken");
  if (id >= _count || !_taken[id]) return;
  _taken[id] = false;
  --_taken_count;
  make_free(id);
}

void buffer_pool::make_free(std::uint16_t id) noexcept {
  hide(id);
  if (_ring == nullptr) {
    _free.push_back(id);
    return;
  }
  auto* const ring = static_cast<io_uring_buf_ring*>(_ring);
  // Not ring->bufs[...]: the array overlays the header, and newer headers declare it in another way.
  auto& entry = reinterpret_cast<io_uring_buf*>(_ring)[_ring_tail & (_count - 1)];
  entry.addr = reinterpret_cast<std::uintptr_t>(buffer(id));
  entry.len = _size;
  entry.bid = id;
  // release, pairs with the kernel's acquire of the tail: the entry is written before it can be taken.
  __atomic_store_n(&ring->tail, ++_ring_tail, __ATOMIC_RELEASE);
}

}  // namespace faio::ioengine
