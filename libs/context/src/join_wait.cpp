// join_wait -- three that may come, one that resumes.
#include "faio/context/join_wait.hpp"

#include "faio/context/inner_scope.hpp"

namespace faio::context {

void join_wait::subscribe() {
  if (!_waiting->owner().subscribe(*this)) over(true);
}

bool join_wait::arm() noexcept {
  const std::lock_guard lock(_mutex);
  _armed = !_over;
  return _armed;
}

void join_wait::over(bool by_stop) noexcept {
  const std::lock_guard lock(_mutex);
  if (std::exchange(_over, true)) return;
  _stopped = by_stop;
  if (_armed) schedule(*_waiting);  // under the lock: its frame cannot go meanwhile
}

bool join_wait::end() noexcept {
  if (is_added()) _waiting->owner().unsubscribe(*this);  // waits for one that runs, so without the lock
  const std::lock_guard lock(_mutex);
  _over = true;
  return _stopped;
}

}  // namespace faio::context
