// condition_variable -- into the line first, then the lock is given back: a notify in between is not missed.
#include "faio/sync/condition_variable.hpp"

#include <stdexcept>

namespace faio::sync {

class condition_variable::parking final : task_waiter {
 public:
  parking(gate& at, mutex::guard& guard) noexcept : _at(at), _guard(guard) {}
  ~parking() {
    if (abandoned()) (void)_at.pulse_one();  // it was for somebody who can act on it
  }
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    // First what may throw, with the guard as it is.   SyncMemoryTest.AConditionVariableLeavesTheLockWithItsHolder
    if (!begin(waiting.promise())) set_state(wait_state::canceled);
    mutex* const held = _lock = _guard.release();  // this coroutine may go on elsewhere as soon as it is in line
    const wait_state now = _at.wait_for_pulse(*this);
    held->unlock();
    return now == wait_state::queued;
  }
  result<void> await_resume() noexcept {
    end();
    if (state() != wait_state::granted) return std::unexpected(context::canceled());
    return {};
  }
  /// Afterwards: the one that was given back.
  [[nodiscard]] mutex& lock() const noexcept { return *_lock; }

 private:
  bool withdraw() noexcept override { return _at.cancel(*this); }
  gate& _at;
  mutex::guard& _guard;
  mutex* _lock = nullptr;  // what it held
};

task<result<void>> condition_variable::wait(mutex::guard& guard) {
  if (!guard) throw std::logic_error("faio: condition_variable::wait needs a guard that holds the lock");
  parking here(_gate, guard);
  auto waited = co_await here;  // gives the lock back
  guard = co_await here.lock().lock_unstoppably();
  co_return waited;
}

}  // namespace faio::sync
