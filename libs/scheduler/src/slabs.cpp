// slabs -- cutting, and giving back.
#include "slabs.hpp"

#include <sys/mman.h>

#include <array>
#include <new>
#include <utility>

namespace faio::scheduler {

/// At the beginning of its 64 KiB.
struct alignas(64) slab {
  slab* next = nullptr;
  slab* prev = nullptr;
  block* free = nullptr;  // came back
  std::byte* fresh;       // never given
  std::uint32_t out = 0;
  std::uint32_t capacity;
  std::uint32_t block_size;

  explicit slab(std::size_t size) noexcept
      : fresh(reinterpret_cast<std::byte*>(this + 1)),
        capacity(static_cast<std::uint32_t>((slab_size - sizeof(slab)) / size)),
        block_size(static_cast<std::uint32_t>(size)) {}

  [[nodiscard]] bool is_full() const noexcept { return out == capacity; }
  block* pop() noexcept {
    ++out;
    if (free != nullptr) return std::exchange(free, free->next);
    return new (std::exchange(fresh, fresh + block_size)) block{nullptr};
  }
  void push(block* one) noexcept {
    --out;
    one->next = std::exchange(free, one);
  }
  static slab& of(block* one) noexcept {
    return *reinterpret_cast<slab*>(reinterpret_cast<std::uintptr_t>(one) & ~std::uintptr_t{slab_size - 1});
  }
};

// ---- The supply.

/// Never destroyed: threads may end after everything else.
slab_supply& slab_supply::instance() noexcept {
  alignas(slab_supply) static std::array<std::byte, sizeof(slab_supply)> room;
  static auto* const one = new (room.data()) slab_supply;
  return *one;
}

bool slab_supply::add_region() noexcept {
  constexpr std::size_t size = std::size_t{4} << 20;
  try {
    const std::size_t all = _made + size / slab_size;
    if (_cold.capacity() < all) _cold.reserve(2 * all);
    _warm.reserve(most_warm);
  } catch (const std::bad_alloc&) {
    return false;
  }
  // More than is needed, by what aligns it: addresses are many.
  void* const got =
      ::mmap(nullptr, size + slab_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return false;
  const auto at = (reinterpret_cast<std::uintptr_t>(got) + slab_size - 1) & ~std::uintptr_t{slab_size - 1};
  _fresh = reinterpret_cast<std::byte*>(at);
  _fresh_end = _fresh + size;
  return true;
}

auto slab_supply::take() noexcept -> taken {
  const std::lock_guard lock(_mutex);
  for (auto* from : {&_warm, &_cold}) {
    if (from->empty()) continue;
    void* const one = from->back();
    from->pop_back();
    return {.slab = one, .has_pages = from == &_warm};
  }
  if (_fresh == _fresh_end && !add_region()) return {};
  ++_made;
  return {.slab = std::exchange(_fresh, _fresh + slab_size)};
}

void slab_supply::give_back(void* slab) noexcept {
  {
    const std::lock_guard lock(_mutex);
    if (_warm.size() < most_warm) {
      _warm.push_back(slab);
      return;
    }
  }
  (void)::madvise(slab, slab_size, MADV_DONTNEED);
  const std::lock_guard lock(_mutex);
  _cold.push_back(slab);
}

std::size_t slab_supply::in_use() noexcept {
  const std::lock_guard lock(_mutex);
  return (_made - _warm.size() - _cold.size()) * slab_size;
}

void slab_supply::trim() noexcept {
  const std::lock_guard lock(_mutex);
  for (; !_warm.empty(); _warm.pop_back()) {
    (void)::madvise(_warm.back(), slab_size, MADV_DONTNEED);
    _cold.push_back(_warm.back());
  }
}

// ---- The slabs of a class.

void slab_store::link(slab& one) noexcept {
  one.prev = nullptr;
  one.next = _first;
  if (_first != nullptr) _first->prev = &one;
  _first = &one;
}
void slab_store::unlink(slab& one) noexcept {
  (one.prev != nullptr ? one.prev->next : _first) = one.next;
  if (one.next != nullptr) one.next->prev = one.prev;
}

block* slab_store::take(std::size_t block_size, std::size_t count, std::size_t& taken) noexcept {
  const std::lock_guard lock(_mutex);
  taken = 0;
  block* chain = nullptr;
  block** end = &chain;
  while (taken < count) {
    if (_first == nullptr) {
      if (taken != 0) break;  // what there is will do
      const auto [room, has_pages] = slab_supply::instance().take();
      if (room == nullptr) break;
#ifdef MADV_POPULATE_WRITE
      // One fault for all of its pages, in a class that grows. Where it is refused they come one by one.
      constexpr std::size_t grows = 4;
      if (_slabs >= grows && !has_pages) (void)::madvise(room, slab_size, MADV_POPULATE_WRITE);
#endif
      ++_slabs;
      link(*new (room) slab(block_size));
    }
    slab& from = *_first;
    while (taken < count && !from.is_full()) {
      *end = from.pop();
      end = &(*end)->next;
      ++taken;
    }
    if (from.is_full()) unlink(from);
  }
  *end = nullptr;
  return chain;
}

void slab_store::give_back(block* chain) noexcept {
  slab* empty = nullptr;  // by `next`
  {
    const std::lock_guard lock(_mutex);
    while (chain != nullptr) {
      block* const one = std::exchange(chain, chain->next);
      slab& home = slab::of(one);
      if (home.is_full()) link(home);
      home.push(one);
      if (home.out != 0) continue;
      unlink(home);
      --_slabs;
      home.next = std::exchange(empty, &home);
    }
  }
  while (empty != nullptr) slab_supply::instance().give_back(std::exchange(empty, empty->next));
}

}  // namespace faio::scheduler
