// lock_awaiter -- into the line, and what happens when one that was woken runs.
#include "faio/sync/lock_awaiter.hpp"

#include <new>
#include <utility>

namespace faio::sync {

bool lock_wait::begin_to_wait(context::promise_base& waiting, stoppable stop, bool by_the_loop) {
  // Before the loop and not behind it, where nobody could take what subscribing may throw.
  if (stop == stoppable::no) {
    begin_unstoppably(waiting);
  } else if (!begin(waiting)) {
    set_state(wait_state::canceled);
  }
  if (by_the_loop) {
    if (_from.wait_behind_others(*this)) return true;
    _by_the_loop = true;
    context::come_by_the_loop(*this);
    return true;
  }
  return _from.take_or_wait(*this) == wait_state::queued;
}

bool lock_wait::goes_on() noexcept {
  if (std::exchange(_by_the_loop, false)) {
    // Also when it is to stop: what can be had at once is had.
    _taken = _from.try_take();
    return _taken || _from.take_or_wait(*this) != wait_state::queued;
  }
  return _from.come(*this) != wait_state::queued;
}

void lock_wait::run_it(work_item& item) noexcept {
  auto& self = static_cast<lock_wait&>(item);
  if (self.goes_on()) static_cast<work_item&>(self.waiting()).run();
}

bool lock_awaiter::begin_to_wait(context::promise_base& waiting) {
  ::new (static_cast<void*>(&_wait)) lock_wait(_from);
  _waits = true;
  return _wait.begin_to_wait(waiting, _stop, !_tried);
}

void take_blocking(lock_core& from, const char* call) {
  if (from.try_take()) return;
  check_may_block(call);
  basic_thread_waiter<lock_core::waiter> me;
  for (auto now = from.take_or_wait(me); now == wait_state::queued; now = from.come(me)) {
    me.wait();
    if (me.state() == wait_state::granted) return;
  }
}

}  // namespace faio::sync
