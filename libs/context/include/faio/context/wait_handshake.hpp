// wait_handshake -- who resumes a coroutine that waits in a worker's engine, when the event and a stop request race.
//
// Three may come: the event (a timer, a completion), on the worker whose engine has it; a stop request, from any thread; and the
// worker's leaving, which moves the wait to another worker.
//
//   from        event              to          who resumes
//   armed       fire()   -> true   done        the event
//   armed       leave()  -> true   moving      nobody yet: it is armed again elsewhere
//   moving      rearm()  -> true   armed       nobody yet
//   armed       cancel() -> true   asked       the message that the caller must send to the worker
//   moving      cancel() -> false  asked       rearm() gives false, and its caller resumes as cancelled
//   done        cancel() -> false  done        the event has
//   asked       fire(), leave() -> false       the message
//
// I1  Exactly one of them is told to resume, or to send the message that does.
// Modelled in tests/explorer/models/wait_model.cpp.
#pragma once

#include <cstdint>

#include "faio/context/atomics.hpp"

namespace faio::context {

template <class Policy>
class basic_wait_handshake {
 public:
  /// The worker, with the event gone or not come for good: true when it is the one to go on. See the table.
  [[nodiscard]] bool fire() noexcept { return change(armed, done); }
  [[nodiscard]] bool leave() noexcept { return change(armed, moving); }
  [[nodiscard]] bool rearm() noexcept { return change(moving, armed); }

  /// Any thread, at most once. True: send the worker a message, which resumes.
  [[nodiscard]] bool cancel() noexcept {
    // acq_rel: what the waiting coroutine wrote before it was armed is visible to the message; what the caller did before, to
    // a rearm() that fails.
    for (std::uint32_t seen = _state.load(std::memory_order_relaxed);;) {
      if (seen == done) return false;
      if (_state.compare_exchange_weak(seen, asked, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        return seen == armed;
      }
    }
  }
  /// The worker. True: a stop request came.
  [[nodiscard]] bool is_asked() const noexcept {
    return _state.load(std::memory_order_acquire) == asked;  // acquire, pairs with cancel()
  }

  // ---- end of the public interface ----

 private:
  enum : std::uint32_t { armed, moving, asked, done };

  bool change(std::uint32_t from, std::uint32_t to) noexcept {
    // acq_rel: the wait moves between threads with it.
    return _state.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire);
  }

  typename Policy::template atomic<std::uint32_t> _state{armed};
};

using wait_handshake = basic_wait_handshake<std_atomics>;

}  // namespace faio::context
