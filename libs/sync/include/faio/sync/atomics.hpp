// atomics -- what the primitives ask of the machine, as one policy: the standard library unless told otherwise.
//
// The policy is a template parameter of what decides who goes on (permits, lock_core, channel_core), so that tests/explorer runs the very same
// code under a scheduler that controls each access.
#pragma once

#include "faio/context/atomics.hpp"
#include "faio/queue/spin_lock.hpp"
#include "faio/statemachine/asymmetric_barrier.hpp"

namespace faio::sync {

struct std_atomics : context::std_atomics {
  /// Held for a few instructions, never across a wait.
  using mutex = queue::spin_lock;
  static void light_barrier() noexcept { statemachine::asymmetric_barrier::light(); }
  static void heavy_barrier() noexcept { statemachine::asymmetric_barrier::heavy(); }
};

}  // namespace faio::sync
