// memory -- the memory model: what each load may return, and what happens before what.
//
// An atomic is a location with its history: every value ever stored, in modification order. Each message of a history
// has a timestamp that tells its place; the initial value has 0. A store need not go to the end: it may be put before
// messages that its thread does not know of, as if it had been made earlier. Timestamps have gaps for that.
//
//   history of x   [0: 0] [1: 7] [2: 9]          a thread whose view of x is 1 may read 7 or 9, never 0 again,
//                            ^view   ^newest     and may store after the 9, or between the 7 and the 9
//
// A view is an array: first a vector clock (one entry for each thread, for "happens before"), then for each location
// the timestamp below which its owner must neither read nor store. Joining two views is the maximum of each entry.
//
//   each thread    current   what it knows: the floor of its loads
//                  pending   what its relaxed loads have seen; an acquire fence makes it current
//                  fenced    a copy of current at its last release fence; its relaxed stores carry it
//   each message   view      release: the writer's current · relaxed: the writer's fenced · read-modify-write: joined
//                            with the view of the message it replaced, which is the release sequence
//                  bound     a read-modify-write's: nothing is ever put between it and the message that it replaced
//   one for all    sc        floors that seq_cst operations share. A seq_cst fence joins it with current both ways; a
//                            seq_cst store or load raises the entry of its location, and respects it.
//
// Invariants
//   M1  a view never decreases within an execution
//   M2  a thread's own clock entry grows *after* a release copied it, so what follows is not covered by that release.
//       (Growing it before loses races: DataRace.IsFoundAfterTheRelease holds this.)
//   M3  sc carries timestamps only: seq_cst fences order values, they do not make one access happen before another
//       (DataRace.IsNotCuredByTheOrderOfSeqCstFences)
//
// Why sc is exactly C++20's order S ([atomics.order] 4.1-4.4) with S the order of execution: an access after fence Y
// must not come before what was known at an earlier fence X (4.4: the joins), nor before an earlier seq_cst access
// (4.3: that access raised sc), and a seq_cst access must come before neither (4.2, 4.1: it respects sc).
//
// What this cannot show: a load that returns a value stored later (load buffering), and an order S other than the order
// of execution. selftest/axioms.cpp states the rules of the standard the other way round and compares.
//
// Rejected: modification order as the order of execution. It is simpler and shows most, but not a store that is delayed
// past a later load of its own thread and then overtakes another thread's store (the litmus test R), which x86 does:
// Peterson's lock with a plain store of the turn passed.
//
// Rejected: one global memory plus store buffers (TSO). It is smaller, but only x86: relaxed and acquire loads would
// never be reordered, and the mistakes that only ARM shows would pass.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "arena.hpp"

namespace faio::explorer {

inline constexpr unsigned max_threads = 8;  // with the body's own, number 0
inline constexpr unsigned max_locations = 1016;

[[nodiscard]] constexpr bool acquires(std::memory_order order) noexcept {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
[[nodiscard]] constexpr bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

/// A copy of a view as it was, in the arena. Entries beyond `size` are 0.
struct snapshot {
  const std::uint32_t* entries = nullptr;
  unsigned size = 0;
};

/// A point in one thread's life: what happens at it is known to every view whose clock entry has reached it.
struct epoch {
  unsigned thread = 0;
  std::uint32_t time = 0;
};

class memory {
 public:
  void reset(arena& space);

  /// A new location, or max_locations when there are no more.
  unsigned create(std::uint64_t initial);

  // Messages are named by their index in the location's history. A write shifts the indices of those after it.
  [[nodiscard]] unsigned newest(unsigned location) const noexcept {
    return static_cast<unsigned>(_histories[location].size() - 1);
  }
  [[nodiscard]] std::uint64_t value(unsigned location, unsigned index) const noexcept {
    return _histories[location][index].value;
  }
  /// Stays the same when indices shift.
  [[nodiscard]] std::uint32_t timestamp(unsigned location, unsigned index) const noexcept {
    return _histories[location][index].timestamp;
  }
  /// The oldest message that an access of this order may read, or put its own message after.
  [[nodiscard]] unsigned floor(unsigned thread, unsigned location, std::memory_order order) const noexcept {
    std::uint32_t lowest = _threads[thread].current[max_threads + location];
    if (order == std::memory_order_seq_cst) lowest = std::max(lowest, _sc[max_threads + location]);
    const std::vector<message>& history = _histories[location];
    unsigned index = newest(location);
    while (history[index].timestamp > lowest) --index;  // a view is always the timestamp of some message
    return index;
  }
  /// Can a message be put after this one?
  [[nodiscard]] bool open(unsigned location, unsigned index) const noexcept {
    const std::vector<message>& history = _histories[location];
    if (index == newest(location)) return history[index].timestamp <= UINT32_MAX - spacing;
    return !history[index + 1].bound && history[index + 1].timestamp - history[index].timestamp > 1;
  }

  // For all three `index` is one from floor() to newest(); for the last two it is open.
  std::uint64_t read(unsigned thread, unsigned location, unsigned index, std::memory_order order) noexcept;
  /// Puts a message after `index`.
  void write(unsigned thread, unsigned location, unsigned index, std::uint64_t value, std::memory_order order);
  /// A read-modify-write: reads `index`, puts a message after it and binds the two together.
  void modify(unsigned thread, unsigned location, unsigned index, std::uint64_t value, std::memory_order order);
  void fence(unsigned thread, std::memory_order order);
  /// membarrier(2): threads 1 to `count`-1 and `thread` execute a seq_cst fence each. The caller sees what all of them
  /// knew; each of them sees what the caller and earlier fences knew, but not what the others just added: the system
  /// call promises no order among those, so this is the weakest reading.
  void fence_everywhere(unsigned thread, unsigned count);

  /// For mutexes: gives away what `thread` knows, and takes it in.
  [[nodiscard]] snapshot release(unsigned thread);
  void acquire(unsigned thread, snapshot from) noexcept;

  void fork(unsigned parent, unsigned child) noexcept;
  void join(unsigned parent, unsigned child) noexcept;

  /// The location's newest message becomes visible: time has passed.
  void refresh(unsigned thread, unsigned location) noexcept {
    raise(_threads[thread].current, location, _histories[location].back().timestamp);
  }

  [[nodiscard]] epoch now(unsigned thread) const noexcept { return {thread, _threads[thread].current[thread]}; }
  [[nodiscard]] bool happened(epoch before, unsigned thread) const noexcept {
    return _threads[thread].current[before.thread] >= before.time;
  }

 private:
  struct message {
    std::uint64_t value;
    snapshot view;
    std::uint32_t timestamp;
    bool bound;
  };
  // Between two neighbours there is room for 16 halvings, at the end for 65,534 more: far beyond what an execution of a
  // model that can be explored makes. Without room a gap is not offered.
  static constexpr std::uint32_t spacing = 1U << 16U;
  // The clock takes the first max_threads entries; sizes are multiples of the same 8, so that a join is whole vectors.
  using view = std::array<std::uint32_t, max_threads + max_locations>;
  static_assert(max_threads == 8);
  struct thread_views {
    alignas(32) view current;
    alignas(32) view pending;
    snapshot fenced;
    bool has_pending = false;
  };

  static void raise(view& which, unsigned location, std::uint32_t timestamp) noexcept {
    std::uint32_t& entry = which[max_threads + location];
    if (entry < timestamp) entry = timestamp;
  }
  [[nodiscard]] snapshot copy(const view& from);
  [[nodiscard]] snapshot joined(snapshot left, snapshot right);
  void tick(unsigned thread) noexcept { ++_threads[thread].current[thread]; }
  void take_pending(thread_views& who) noexcept;
  void join_into_sc(const view& from) noexcept;
  void join_from_sc(view& into) const noexcept;
  std::uint32_t insert(unsigned location, unsigned index, std::uint64_t value);
  /// The view that a store of `thread` carries.
  [[nodiscard]] snapshot carried(unsigned thread, std::memory_order order);

  arena* _space = nullptr;
  unsigned _locations = 0;
  unsigned _size = max_threads;  // entries in use, rounded up to whole groups of 8
  std::array<thread_views, max_threads> _threads;
  alignas(32) view _sc;
  std::vector<std::vector<message>> _histories;  // kept between executions for their capacity
};

}  // namespace faio::explorer
