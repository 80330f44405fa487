// atomics -- what the state machine asks of the machine, as one policy: the standard library unless told otherwise.
//
// The policy is state_machine's template parameter, so that tests/explorer runs the very same code under a scheduler
// that controls each access.
#pragma once

#if __cplusplus < 202100L
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include <atomic>
#include <mutex>
#include <utility>

#include "faio/statemachine/asymmetric_barrier.hpp"

namespace faio::statemachine {

struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  /// A field that is not atomic. Its accesses are marked so that a policy can check them for data races.
  template <class T>
  class plain {
   public:
    plain() = default;
    explicit plain(T value) : _value(std::move(value)) {}
    const T& read() const noexcept { return _value; }
    T& write() noexcept { return _value; }

   private:
    T _value{};
  };

  using mutex = std::mutex;

  /// Before the first of the barriers below: light_barrier() is then the cheap one from the start.
  static void prepare_barriers() noexcept { (void)asymmetric_barrier::by_membarrier(); }
  static void light_barrier() noexcept { asymmetric_barrier::light(); }
  static void heavy_barrier() noexcept { asymmetric_barrier::heavy(); }
  static void full_barrier() noexcept { asymmetric_barrier::full(); }
};

}  // namespace faio::statemachine
