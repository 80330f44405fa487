// condition_variable -- into the line first, then the lock is given back: a notify in between is not missed.
#include "faio/sync/condition_variable.hpp"

#include <stdexcept>

namespace faio::sync {

class condition_variable::parking : task_waiter {
 public:
  parking(gate& at, mutex& held) noexcept : _at(at), _held(held) {}
  ~parking() {
    if (abandoned()) (void)_at.pulse_one();  // it was for somebody who can act on it
  }
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    mutex& held = _held;  // this coroutine may go on elsewhere as soon as it is in line
    if (!begin(waiting.promise())) set_state(wait_state::canceled);
    const wait_state now = _at.wait_for_pulse(*this);
    held.unlock();
    return now == wait_state::queued;
  }
  result<void> await_resume() noexcept {
    end();
    if (state() != wait_state::granted) return std::unexpected(context::canceled());
    return {};
  }

 private:
  bool withdraw() noexcept override { return _at.cancel(*this); }
  gate& _at;
  mutex& _held;
};

task<result<void>> condition_variable::wait(mutex::guard& guard) {
  if (!guard) throw std::logic_error("faio: condition_variable::wait needs a guard that holds the lock");
  mutex* const held = guard.release();  // the parking gives it back
  auto waited = co_await parking(_gate, *held);
  guard = co_await held->lock_unstoppably();
  co_return waited;
}

}  // namespace faio::sync
