// arena -- memory for one execution, given back all at once.
//
// Views of messages and closures of threads are made by the thousand and die together: a bump pointer costs nothing
// and keeps the hot path free of the allocator.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace faio::explorer {

class arena {
 public:
  /// Aligned for any type. Valid until reset().
  void* allocate(std::size_t size) {
    size = (size + alignment - 1) & ~(alignment - 1);
    if (size > _room) grow(size);
    std::byte* out = _next;
    _next += size;
    _room -= size;
    return out;
  }

  /// Keeps the chunks for the next execution.
  void reset() noexcept {
    _chunk = 0;
    _next = _chunks.empty() ? nullptr : _chunks.front().bytes.get();
    _room = _chunks.empty() ? 0 : _chunks.front().size;
  }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);
  static constexpr std::size_t chunk_size = std::size_t{256} << 10;
  struct chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };

  void grow(std::size_t size) {
    if (!_chunks.empty()) ++_chunk;
    // A chunk kept from an earlier execution may be too small for one large request: skip it.
    while (_chunk < _chunks.size() && _chunks[_chunk].size < size) ++_chunk;
    if (_chunk == _chunks.size()) {
      const std::size_t bytes = size > chunk_size ? size : chunk_size;
      _chunks.push_back({std::make_unique<std::byte[]>(bytes), bytes});
    }
    _next = _chunks[_chunk].bytes.get();
    _room = _chunks[_chunk].size;
  }

  std::vector<chunk> _chunks;
  std::size_t _chunk = 0;
  std::byte* _next = nullptr;
  std::size_t _room = 0;
};

}  // namespace faio::explorer
