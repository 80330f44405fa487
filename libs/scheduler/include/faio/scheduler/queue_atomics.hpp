// queue_atomics -- how a runtime's queues are ordered and locked, where that is not as the queue library has it by itself.
#pragma once

#include "faio/queue/atomics.hpp"
#include "faio/queue/spin_lock.hpp"
#include "faio/statemachine/asymmetric_barrier.hpp"

namespace faio::scheduler {

/// A worker's deque: the thief pays (docs/adr/0013).
struct deque_atomics : queue::std_atomics {
  static constexpr bool thieves_pay = true;
  static void light_barrier() noexcept { statemachine::asymmetric_barrier::light(); }
  static void heavy_barrier() noexcept { statemachine::asymmetric_barrier::heavy(); }
};

/// The global queue: its lock is held for some dozens of pointers at most, and a thread that sleeps for it pays more than all of them. Its growth
/// is longer, and rare.
struct global_queue_atomics : queue::std_atomics {
  using mutex = queue::spin_lock;
};

}  // namespace faio::scheduler
