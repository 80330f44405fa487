// leaf_wait -- the event, the message and the move.
#include "faio/context/leaf_wait.hpp"

namespace faio::context {

void leaf_wait::begin() {
  // One that has come meanwhile sends the message to this very worker: later, from its inbox.
  if (!_waiting->owner().subscribe(*this)) stop_asked();
}

void leaf_wait::event() noexcept {
  if (_handshake.fire() || _message_taken) {
    resume();
  } else {
    _over.store(true, std::memory_order_release);  // pairs with take_message()
  }
}

bool leaf_wait::moved() noexcept {
  if (_handshake.leave()) return true;
  if (_message_taken) {
    resume();
  } else {
    _over.store(true, std::memory_order_release);  // pairs with take_message()
  }
  return false;
}

bool leaf_wait::run_again() noexcept {
  _home.store(scheduler::current_worker(), std::memory_order_relaxed);  // relaxed: published by rearm()
  if (_handshake.rearm()) return true;
  _canceled = true;
  resume();
  return false;
}

void leaf_wait::stop_asked() noexcept {
  if (!_handshake.cancel()) return;
  // Refused when the runtime has ended: its frame is destroyed by that end.
  (void)_waiting->owner().runtime().shared().post_to(*_home.load(std::memory_order_relaxed), _message);
}

void leaf_wait::take_message() noexcept {
  scheduler::worker* const here = scheduler::current_worker();
  if (_over.load(std::memory_order_acquire)) {  // pairs with event() and moved()
    _canceled = true;
    resume();
    return;
  }
  scheduler::worker* const home = _home.load(std::memory_order_relaxed);  // relaxed: came with the message
  if (home != here) {
    // The worker has left since, and this came through the queue: it is about to say that the wait is over.
    (void)_waiting->owner().runtime().shared().post_to(*home, _message);
    return;
  }
  _canceled = true;
  if (static_cast<const ways&>(how_to_tell()).withdraw(*this)) {
    resume();
  } else {
    _message_taken = true;
  }
}

}  // namespace faio::context
