// frame_allocator -- memory for coroutine frames and jobs: each thread keeps what was freed on it, by size class, for the next one.
//
//   thread's lists, one a class (by 16 bytes, from 256 on by 64, up to 1 KiB)  <── a batch ──>  depot, shared, bounded  <──>  slabs (src/slabs.hpp)
//
// I1  A block knows its slab by its address: it may be freed on any thread, and the switch may be turned at any time.
// I2  A thread keeps at most 64 KiB a class, the depot 16 batches a class; what is beyond goes back to its slab, and a slab's pages to the kernel but for
//     32 MiB of all of them, so memory shrinks after a burst. FrameAllocator.GivesMemoryBackAfterABurst, KeepsThePagesOfABurstForTheNextButNotOfALargeOne
// A thread that only allocates lives on the batches of one that only frees.   FrameAllocator.MovesBatchesBetweenThreads
//
// Off in a program with the address sanitizer, which would not see a use after free through a list of our own: there every block is a malloc.
//
// Rejected: a list for each worker with blocks going home to it. It needs an inbox for each, and a home for blocks that
// outside threads make; batches through the depot cost one lock for a few hundred blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "faio/scheduler/export.hpp"
#include "faio/scheduler/thread_state.hpp"

namespace faio::scheduler {

/// Any thread. Throws std::bad_alloc.
[[nodiscard]] void* allocate_frame(std::size_t size);

/// Any thread. `size` as it was asked for.
void free_frame(void* frame, std::size_t size) noexcept;

/// Any thread. Whether freed frames are kept for the next; true unless the address sanitizer is there.
FAIO_SCHEDULER_API bool recycles_frames() noexcept;
FAIO_SCHEDULER_API void recycle_frames(bool on) noexcept;

/// Any thread. Bytes that frames take, with what the allocator keeps for the next ones. A moment's view; 0 with the address sanitizer.
[[nodiscard]] FAIO_SCHEDULER_API std::size_t frame_memory() noexcept;

/// Any thread. Gives back what the calling thread and the depot keep.
FAIO_SCHEDULER_API void trim_frames() noexcept;

// ---- end of the public interface ----

/// A block that is free.
struct block {
  block* next;
};

/// The blocks of a thread, a list for each class. They stand in the header because a frame's size is known where it is made: what is left of both functions
/// then is a handful of instructions, without a call.
struct frame_lists {
  static constexpr std::size_t step = 16;
  static constexpr std::size_t classes = 65;
  static constexpr std::size_t largest = step * (classes - 1);

  /// `room`: how many more it may keep. Room instead of a count, so that whatever forbids keeping is the one question whether there is some.
  struct list {
    block* head = nullptr;
    std::size_t room = 0;
  };

  /// From here on blocks are whole lines: of two that share one, each write of the one's thread takes it from the other's, and blocks that two threads steal
  /// from each other end up side by side: a tree of 10,000 forks took 66 ns each instead of 55 (ADR 32). Smaller ones would pay more memory for it than it is worth.
  ///   FrameAllocator.LargeFramesShareNoLine
  static constexpr std::size_t lines_from = 256;
  static constexpr std::size_t line = 64;

  /// Class 0 has no blocks: who asks for nothing gets one of class 1, on the slow way.
  static constexpr std::size_t class_of(std::size_t size) noexcept {
    if (size > lines_from) return (size + line - 1) / line * (line / step);
    return (size + step - 1) / step;
  }

  std::array<list, classes> all{};
};

/// Of a thread that keeps nothing: before it first comes by the slow way, and after its destructors have run. Never written: it has no block to give and no
/// room for one.
FAIO_SCHEDULER_API extern constinit frame_lists no_frames;

/// What free_frame asks of a size: `largest` when frames are recycled and 0 when not, or when it is not known yet.
FAIO_SCHEDULER_API extern constinit std::atomic<std::size_t> largest_kept_frame;

/// One too large, or the list has none.
[[nodiscard]] FAIO_SCHEDULER_API void* allocate_frame_slowly(std::size_t size);
/// The first of a thread, one too large, the list is full, or none are kept.
FAIO_SCHEDULER_API void free_frame_slowly(void* frame, std::size_t size) noexcept;

inline void* allocate_frame(std::size_t size) {
  if (size > frame_lists::largest) [[unlikely]]
    return allocate_frame_slowly(size);
  frame_lists::list& from = this_thread_room().frames->all[frame_lists::class_of(size)];
  block* const first = from.head;
  if (first == nullptr) [[unlikely]]
    return allocate_frame_slowly(size);
  ++from.room;
  from.head = first->next;
  // Where another thread frees, the next one's line is in that thread's cache, and it is read here before anything else. Asked of no address it does nothing.
  __builtin_prefetch(from.head, 1);
  return first;
}

/// The same, for what is mostly freed by another thread: all lines of the next one are asked for. Not for coroutines' frames: of a fork's they are here
/// already, and to ask costs nqueens 3 % (ADR 28).
inline void* allocate_travelling_frame(std::size_t size) {
  constexpr std::size_t line = 64;
  void* const frame = allocate_frame(size);
  if (size > frame_lists::largest) [[unlikely]]
    return frame;
  // As a number: there may be no next one.
  const auto next = reinterpret_cast<std::uintptr_t>(this_thread_room().frames->all[frame_lists::class_of(size)].head);
  for (std::size_t at = line; at < size; at += line) __builtin_prefetch(reinterpret_cast<const void*>(next + at), 1);
  return frame;
}

inline void free_frame(void* frame, std::size_t size) noexcept {
  // relaxed: a switch that hands nothing over.
  if (size > largest_kept_frame.load(std::memory_order_relaxed)) [[unlikely]]
    return free_frame_slowly(frame, size);
  frame_lists::list& to = this_thread_room().frames->all[frame_lists::class_of(size)];
  if (to.room == 0) [[unlikely]]
    return free_frame_slowly(frame, size);
  to.head = new (frame) block{to.head};
  --to.room;
}

}  // namespace faio::scheduler
