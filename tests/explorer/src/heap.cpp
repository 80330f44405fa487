// heap -- the memory behind atomics::make: never reused within an execution, reused by the next one.
#include "heap.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "sanitizers.hpp"

namespace faio::explorer {

void* heap::allocate(std::size_t size, std::size_t alignment) {
  if (alignment > smallest) {
    std::fprintf(stderr, "explorer: make cannot align to %zu\n", alignment);
    std::abort();
  }
  const std::size_t rounded = std::bit_ceil(size < smallest ? smallest : size);
  const auto size_class = static_cast<std::size_t>(std::countr_zero(rounded / smallest));
  std::vector<void*>& free = _free.at(size_class);
  void* memory = nullptr;
  if (free.empty()) {
    memory = ::operator new(rounded, std::align_val_t{smallest});
  } else {
    memory = free.back();
    free.pop_back();
  }
  unpoison(memory, rounded);
  _used.push_back({memory, size_class});
  return memory;
}

void heap::retire(void* block, std::size_t size) noexcept {
  std::memset(block, 0xdd, size);
  poison(block, size);
}

void heap::reset() noexcept {
  for (const block& each : _used) _free[each.size_class].push_back(each.memory);
  _used.clear();
}

void heap::abandon() {
  _abandoned.insert(_abandoned.end(), _used.begin(), _used.end());
  _used.clear();
}

}  // namespace faio::explorer
