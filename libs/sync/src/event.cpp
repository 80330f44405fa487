// barrier -- arriving, and taking an arrival back.
#include "faio/sync/event.hpp"

namespace faio::sync {

bool barrier::arrive(wait_list& woken) noexcept {
  if (--_left != 0) return false;
  _left = _parties;
  while (waiter* const one = _line.pop_front()) woken.keep_for_waking(*one);
  return true;
}

void barrier::check_parties() const {
  if (_parties == 0) throw std::logic_error("faio: all parties of this barrier have dropped out");
}

void barrier::arrive_and_drop() {
  wait_list woken;
  {
    const std::lock_guard lock(_mutex);
    check_parties();
    --_parties;
    (void)arrive(woken);  // those who waited go through either way
  }
  woken.wake_all();
}

bool barrier::awaiter::suspend(context::promise_base& waiting) {
  if (!begin(waiting)) {
    set_state(wait_state::canceled);
    return false;
  }
  wait_list woken;
  {
    const std::lock_guard lock(_at._mutex);
    if (state() == wait_state::canceled) return false;
    _at.check_parties();
    if (!_at.arrive(woken)) {
      _at._line.push_back(*this);
      return true;
    }
    set_state(wait_state::granted);
  }
  woken.wake_all();
  if (context::may_go_on()) return false;
  context::come_by_the_loop(waiting);
  return true;
}

bool barrier::awaiter::withdraw() noexcept {
  const std::lock_guard lock(_at._mutex);
  if (_at._line.remove(*this)) {
    ++_at._left;
    return true;
  }
  if (state() == wait_state::idle) set_state(wait_state::canceled);
  return false;
}

}  // namespace faio::sync
