// slabs -- where the frame allocator's memory comes from: blocks of one size from slabs of 64 KiB, whose pages go back when all blocks have.
//
//   region, 4 MiB of addresses ── cut into ──> slabs, aligned to their size ── cut into ──> blocks of one size class
//
// I1  A block's slab is found by its address.
// I2  A slab is in the list of its class while it has a block to give, and then only.
// I3  A slab all of whose blocks are back belongs to nobody: the next class that needs one gets it. A few stay as they are, the pages of the others
//     go back to the kernel. Regions stay: they are addresses, not memory.     FrameAllocator.KeepsThePagesOfABurstForTheNextButNotOfALargeOne
//
// Rejected: a malloc for each block. Outside of its main arena glibc asks the kernel for four KiB at a time, so a burst of spawns was a system call for every
// dozen of tasks, besides a page fault for each page; and freed blocks are merged and split again. docs/adr/0018.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "faio/scheduler/frame_allocator.hpp"

namespace faio::scheduler {

constexpr std::size_t slab_size = std::size_t{64} * 1024;

struct slab;

/// Slabs that belong to nobody. One for the process.
class slab_supply {
 public:
  static slab_supply& instance() noexcept;

  struct taken {
    void* slab = nullptr;  // null: there is no memory
    bool has_pages = false;
  };
  /// Any thread.
  [[nodiscard]] taken take() noexcept;
  /// Any thread.
  void give_back(void* slab) noexcept;
  /// Any thread. Bytes of slabs that somebody has. A moment's view.
  [[nodiscard]] std::size_t in_use() noexcept;
  /// Any thread. The pages of those that are kept go back, too.
  void trim() noexcept;

 private:
  bool add_region() noexcept;

  /// 32 MiB. Bursts come again, and their pages cost more than their tasks: half of the time of 100,000 tasks that are spawned and awaited (ADR 27).
  static constexpr std::size_t most_warm = 512;
  std::mutex _mutex;
  std::vector<void*> _warm;  // with their pages
  std::vector<void*> _cold;  // without; both have room for all there are
  std::byte* _fresh = nullptr;
  std::byte* _fresh_end = nullptr;
  std::size_t _made = 0;
};

/// The slabs of one size class. A thread comes here for many blocks at once.
class slab_store {
 public:
  /// Any thread. A chain of at least one and at most `count` blocks, `taken` of them; null: there is no memory.
  [[nodiscard]] block* take(std::size_t block_size, std::size_t count, std::size_t& taken) noexcept;
  /// Any thread. Blocks that came from here.
  void give_back(block* chain) noexcept;

 private:
  void link(slab& one) noexcept;
  void unlink(slab& one) noexcept;

  std::mutex _mutex;
  slab* _first = nullptr;
  std::size_t _slabs = 0;
};

}  // namespace faio::scheduler
