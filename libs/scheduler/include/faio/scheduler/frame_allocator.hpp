// frame_allocator -- memory for coroutine frames and jobs: each thread keeps what was freed on it, by size class, for the next one.
//
//   thread's lists, one a class (by 16 bytes, up to 1 KiB)  <── a batch ──>  depot, shared, bounded  <──>  slabs (src/slabs.hpp)
//
// I1  A block knows its slab by its address: it may be freed on any thread, and the switch may be turned at any time.
// I2  A thread keeps at most 64 KiB a class, the depot 16 batches a class; what is beyond goes back to its slab, and a slab's pages to the kernel, so
//     memory shrinks after a burst.                              FrameAllocator.GivesMemoryBackAfterABurst
// A thread that only allocates lives on the batches of one that only frees.   FrameAllocator.MovesBatchesBetweenThreads
//
// Off in a program with the address sanitizer, which would not see a use after free through a list of our own: there every block is a malloc.
//
// Rejected: a list for each worker with blocks going home to it. It needs an inbox for each, and a home for blocks that
// outside threads make; batches through the depot cost one lock for a few hundred blocks.
#pragma once

#include <cstddef>

#include "faio/scheduler/export.hpp"

namespace faio::scheduler {

/// Any thread. Throws std::bad_alloc.
[[nodiscard]] FAIO_SCHEDULER_API void* allocate_frame(std::size_t size);

/// Any thread. `size` as it was asked for.
FAIO_SCHEDULER_API void free_frame(void* frame, std::size_t size) noexcept;

/// Any thread. Whether freed frames are kept for the next; true unless the address sanitizer is there.
FAIO_SCHEDULER_API bool recycles_frames() noexcept;
FAIO_SCHEDULER_API void recycle_frames(bool on) noexcept;

/// Any thread. Bytes that frames take, with what the allocator keeps for the next ones. A moment's view; 0 with the address sanitizer.
[[nodiscard]] FAIO_SCHEDULER_API std::size_t frame_memory() noexcept;

/// Any thread. Gives back what the calling thread and the depot keep.
FAIO_SCHEDULER_API void trim_frames() noexcept;

}  // namespace faio::scheduler
