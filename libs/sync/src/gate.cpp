// gate -- letting through, one or all.
#include "faio/sync/gate.hpp"

namespace faio::sync {

void gate::open() noexcept {
  wait_list woken;
  {
    const std::lock_guard lock(_mutex);
    _open.store(true, std::memory_order_release);  // pairs with is_open()
    while (waiter* const one = _line.pop_front()) woken.keep_for_waking(*one);
  }
  woken.wake_all();
}

void gate::pulse() noexcept {
  wait_list woken;
  {
    const std::lock_guard lock(_mutex);
    while (waiter* const one = _line.pop_front()) woken.keep_for_waking(*one);
  }
  woken.wake_all();
}

bool gate::pulse_one() noexcept {
  waiter* one = nullptr;
  {
    const std::lock_guard lock(_mutex);
    one = _line.pop_front();
  }
  if (one != nullptr) one->wake();
  return one != nullptr;
}

void gate::open_for_one() noexcept {
  waiter* one = nullptr;
  {
    const std::lock_guard lock(_mutex);
    one = _line.pop_front();
    if (one == nullptr) _open.store(true, std::memory_order_release);  // pairs with is_open()
  }
  if (one != nullptr) one->wake();
}

void gate::shut() noexcept {
  const std::lock_guard lock(_mutex);
  _open.store(false, std::memory_order_relaxed);  // relaxed: it hands nothing over
}

bool gate::try_pass() noexcept {
  if (!is_open()) return false;
  const std::lock_guard lock(_mutex);  // whoever opened it is out of it now: header, I2
  return true;
}

bool gate::try_pass_alone() noexcept {
  if (!is_open()) return false;
  const std::lock_guard lock(_mutex);
  const bool was_open = _open.load(std::memory_order_relaxed);  // relaxed: under the lock
  _open.store(false, std::memory_order_relaxed);
  return was_open;
}

wait_state gate::pass_or_wait(waiter& who, bool alone) {
  const std::lock_guard lock(_mutex);
  if (who.state() == wait_state::canceled) return wait_state::canceled;
  if (_open.load(std::memory_order_relaxed)) {  // relaxed: under the lock
    if (alone) _open.store(false, std::memory_order_relaxed);
    who.set_state(wait_state::granted);
    return wait_state::granted;
  }
  _line.push_back(who);
  return wait_state::queued;
}

wait_state gate::wait_for_pulse(waiter& who) {
  const std::lock_guard lock(_mutex);
  if (who.state() == wait_state::canceled) return wait_state::canceled;
  _line.push_back(who);
  return wait_state::queued;
}

bool gate::cancel(waiter& who) noexcept {
  const std::lock_guard lock(_mutex);
  if (_line.remove(who)) return true;
  if (who.state() == wait_state::idle) who.set_state(wait_state::canceled);
  return false;
}

bool gate_awaiter::suspend(context::promise_base& waiting) {
  if (!begin(waiting)) {
    set_state(wait_state::canceled);
    return false;
  }
  return _at.pass_or_wait(*this, _how == passing::alone) == wait_state::queued;
}

void pass_blocking(gate& at, passing how, const char* call) {
  check_may_block(call);
  thread_waiter me;
  if (at.pass_or_wait(me, how == passing::alone) == wait_state::queued) me.wait();
}

}  // namespace faio::sync
