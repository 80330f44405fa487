// frame_allocator -- the lists of a thread, the depot, and how batches move between them.
#include "faio/scheduler/frame_allocator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "slabs.hpp"

// The sanitizer's own name, there only in programs that have it.
extern "C" void __asan_init() __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)

namespace faio::scheduler {
namespace {

using list = frame_lists::list;
constexpr std::size_t step = frame_lists::step;
constexpr std::size_t classes = frame_lists::classes;
constexpr std::size_t largest = frame_lists::largest;
/// What a thread keeps of one class, in bytes: a few hundred frames, as deep as fork-join recursion goes.
constexpr std::size_t kept_bytes = 64 * 1024;
/// Batches of half of that which the depot keeps of one class.
constexpr std::size_t depot_batches = 16;
/// What a thread without any fetches from the slabs at once, in bytes.
constexpr std::size_t fetched_bytes = 8 * 1024;

constexpr std::size_t class_of(std::size_t size) noexcept { return frame_lists::class_of(size); }
constexpr std::size_t size_of(std::size_t index) noexcept { return index * step; }
static_assert(class_of(size_of(7)) == 7 && class_of(size_of(7) + 1) == 8 && class_of(largest) == classes - 1);
constexpr std::size_t batch_of(std::size_t index) noexcept { return kept_bytes / size_of(index) / 2; }
constexpr std::size_t fetched_of(std::size_t index) noexcept { return fetched_bytes / size_of(index); }
constexpr std::size_t most_kept(std::size_t index) noexcept { return 2 * batch_of(index); }

/// The address sanitizer must see each frame: then every one is a malloc. The same for as long as the process lives.
bool by_malloc() noexcept { return &__asan_init != nullptr; }

/// Whole batches of one class, shared by all threads, and the slabs behind them.
class shelf {
 public:
  /// True: taken.
  bool put(block* batch) noexcept {
    const std::lock_guard lock(_mutex);
    const std::size_t count = _count.load(std::memory_order_relaxed);  // relaxed, all: written under the lock
    if (count == depot_batches) return false;
    _batches[count] = batch;
    _count.store(count + 1, std::memory_order_relaxed);
    return true;
  }
  block* take() noexcept {
    // A moment's view. While everybody allocates there is nothing here, and nobody should meet at the lock for it.
    if (_count.load(std::memory_order_relaxed) == 0) return nullptr;
    const std::lock_guard lock(_mutex);
    const std::size_t count = _count.load(std::memory_order_relaxed);
    if (count == 0) return nullptr;
    _count.store(count - 1, std::memory_order_relaxed);
    return _batches[count - 1];
  }

  slab_store slabs;

 private:
  std::mutex _mutex;
  std::array<block*, depot_batches> _batches{};
  std::atomic<std::size_t> _count{0};
};
using depot = std::array<shelf, classes>;

/// Never destroyed: threads may end after everything else.
depot& the_depot() noexcept {
  alignas(depot) static std::array<std::byte, sizeof(depot)> room;
  static auto* const one = new (room.data()) depot;
  return *one;
}

/// For good.
void free_chain(std::size_t index, block* chain) noexcept {
  if (!by_malloc()) {
    the_depot()[index].slabs.give_back(chain);
    return;
  }
  while (chain != nullptr) std::free(std::exchange(chain, chain->next));
}

static_assert(sizeof(list) == step, "a list's place is its blocks' size");

/// The calling thread's, or no_frames.
frame_lists*& mine() noexcept { return this_thread_room().frames; }

constinit thread_local frame_lists lists_of_this_thread;
constinit thread_local bool this_thread_has_ended = false;

enum class recycle : unsigned char { undecided, on, off };
constinit std::atomic<recycle> wanted{recycle::undecided};

void set_recycling(recycle on_or_off) noexcept {
  wanted.store(on_or_off, std::memory_order_relaxed);
  largest_kept_frame.store(on_or_off == recycle::on ? largest : 0, std::memory_order_relaxed);
}

/// Off from the start where the address sanitizer is.
bool recycling() noexcept {
  recycle now = wanted.load(std::memory_order_relaxed);  // relaxed, all: a switch that hands nothing over
  if (now == recycle::undecided) [[unlikely]] {
    now = by_malloc() ? recycle::off : recycle::on;
    set_recycling(now);
  }
  return now == recycle::on;
}

/// Leaves `from` empty, with room if the thread goes on.
void give_back_all(frame_lists& from) noexcept {
  if (&from == &no_frames) return;
  for (std::size_t index = 1; index < classes; ++index) {
    free_chain(index, std::exchange(from.all[index], list{nullptr, most_kept(index)}).head);
  }
}

/// Its destructor runs when the thread ends.
struct at_thread_end {
  ~at_thread_end() {
    mine() = &no_frames;
    this_thread_has_ended = true;
    give_back_all(lists_of_this_thread);
  }
  void touch() noexcept {
    if (mine() != &no_frames) return;
    for (std::size_t index = 1; index < classes; ++index) lists_of_this_thread.all[index].room = most_kept(index);
    mine() = &lists_of_this_thread;
  }
};
thread_local at_thread_end end_of_this_thread;

/// Whether the calling thread may keep blocks; then it has lists.
bool keeps() noexcept {
  if (this_thread_has_ended || !recycling()) return false;
  end_of_this_thread.touch();
  return true;
}

void* allocate(std::size_t size) {
  void* const fresh = std::malloc(size);
  if (fresh == nullptr) throw std::bad_alloc();
  return fresh;
}

/// The list is full: half of it leaves as a batch.
void hand_over_half(std::size_t index, list& from) noexcept {
  block* const batch = from.head;
  block* last = batch;
  for (std::size_t i = 1; i < batch_of(index); ++i) last = last->next;
  from.head = std::exchange(last->next, nullptr);
  from.room += batch_of(index);
  if (!the_depot()[index].put(batch)) free_chain(index, batch);
}

}  // namespace

constinit frame_lists no_frames;
constinit std::atomic<std::size_t> largest_kept_frame{0};

void* allocate_frame_slowly(std::size_t size) {
  if (size > largest) return allocate(size);
  const std::size_t index = class_of(std::max<std::size_t>(size, 1));
  if (by_malloc()) return allocate(size_of(index));
  shelf& from = the_depot()[index];
  const bool keep_rest = keeps() && mine()->all[index].head == nullptr;
  if (keep_rest) {
    if (block* const batch = from.take(); batch != nullptr) {
      mine()->all[index] = {batch->next, most_kept(index) - (batch_of(index) - 1)};
      return batch;
    }
  }
  std::size_t taken = 0;
  block* const chain = from.slabs.take(size_of(index), keep_rest ? fetched_of(index) : 1, taken);
  if (chain == nullptr) throw std::bad_alloc();
  if (keep_rest) mine()->all[index] = {chain->next, most_kept(index) - (taken - 1)};
  return chain;
}

void free_frame_slowly(void* frame, std::size_t size) noexcept {
  if (size > largest) {
    std::free(frame);
    return;
  }
  const std::size_t index = class_of(std::max<std::size_t>(size, 1));
  if (!keeps()) {
    free_chain(index, new (frame) block{nullptr});
    return;
  }
  list& to = mine()->all[index];
  if (to.room == 0) hand_over_half(index, to);
  to.head = new (frame) block{to.head};
  --to.room;
}

bool recycles_frames() noexcept { return recycling(); }
void recycle_frames(bool on) noexcept { set_recycling(on ? recycle::on : recycle::off); }

std::size_t frame_memory() noexcept { return slab_supply::instance().in_use(); }

void trim_frames() noexcept {
  give_back_all(*mine());
  for (std::size_t index = 1; index < classes; ++index) {
    while (block* const batch = the_depot()[index].take()) free_chain(index, batch);
  }
  slab_supply::instance().trim();
}

}  // namespace faio::scheduler
