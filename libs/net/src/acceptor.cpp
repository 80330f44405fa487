// acceptor -- the line of those who wait, and the operation that serves it.
#include "acceptor.hpp"

#include <unistd.h>

#include <cerrno>

#include "faio/context/inner_scope.hpp"
#include "faio/scheduler/shared_state.hpp"

namespace faio::net {
namespace {

/// As a completion where it is one: through the queue of the worker that we are on.
void resume(context::promise_base& waiting) noexcept {
  scheduler::worker* const here = scheduler::current_worker();
  if (here != nullptr && &here->runtime() == &waiting.owner().runtime().shared()) {
    here->push_quietly(waiting);
  } else {
    context::schedule(waiting);
  }
}

}  // namespace

void acceptor::close() noexcept {
  _of->close_quietly();
  const std::lock_guard lock(_mutex);
  drop_came();
  if (_home == nullptr || _cancel.kept != nullptr) return;
  _cancel.kept = _kept;
  if (!_home->runtime().post_to(*_home, _cancel)) _cancel.kept.reset();  // it has ended, and with it the operation
}

result<int> acceptor::release() noexcept {
  const std::lock_guard lock(_mutex);
  if (_armed && !_of->closed()) return std::unexpected(std::make_error_code(std::errc::device_or_resource_busy));
  auto number = _of->release();
  if (number) drop_came();
  return number;
}

void acceptor::drop_came() noexcept {
  for (const int each : _came) ::close(each);
  _came.clear();
}

void acceptor::cancel_here() noexcept {
  std::shared_ptr<acceptor> last;  // outlives the lock
  const std::lock_guard lock(_mutex);
  last = std::move(_cancel.kept);
  scheduler::worker* const here = scheduler::current_worker();
  if (_home == here) (void)here->io().cancel(_operation);
}

// ---- The line.

int acceptor::take() noexcept {
  const std::lock_guard lock(_mutex);
  if (_came.empty()) return -EAGAIN;
  const int connection = _came.front();
  _came.pop_front();
  return connection;
}

/// False: it has its result, or may go on for another reason.
bool acceptor::wait(awaiter& one, context::promise_base& waiting) {
  const auto alive = shared_from_this();  // who goes on may destroy the listener before we have let go of the lock
  one._waiting = &waiting;
  const bool will_be_told = waiting.owner().subscribe(one);
  const std::lock_guard lock(_mutex);
  if (!will_be_told || one._stopped) {
    // Through the queue, so that a loop that ignores it comes by its worker: leaf_wait::refuse.
    one._result = -ECANCELED;
    scheduler::current_worker()->push_back(waiting);
    return true;
  }
  if (!_came.empty()) {
    one._result = _came.front();
    _came.pop_front();
    return false;
  }
  one._in_line = true;
  one._previous = _last;
  (_last != nullptr ? _last->_next : _first) = &one;
  _last = &one;
  if (!_armed) arm();
  return true;
}

void acceptor::unlink(awaiter& one) noexcept {
  (one._previous != nullptr ? one._previous->_next : _first) = one._next;
  (one._next != nullptr ? one._next->_previous : _last) = one._previous;
  one._next = one._previous = nullptr;
  one._in_line = false;
}

void acceptor::stop(awaiter& one) noexcept {
  const std::lock_guard lock(_mutex);
  one._stopped = true;
  if (!one._in_line) return;
  unlink(one);
  one._result = -ECANCELED;
  context::schedule(*one._waiting);  // under the lock: its frame cannot go meanwhile
}

/// Its coroutine goes on, or is destroyed while it waits; then what it was given waits for the next.
void acceptor::forget(awaiter& one) noexcept {
  const std::lock_guard lock(_mutex);
  if (one._in_line) unlink(one);
  if (one._result >= 0) give(one._result);
}

void acceptor::give(int connection) noexcept {
  if (_first == nullptr) {
    if (_of->closed()) {
      ::close(connection);
    } else {
      _came.push_back(connection);
    }
    return;
  }
  awaiter& one = *_first;
  unlink(one);
  one._result = connection;
  resume(*one._waiting);
}

void acceptor::tell_all(int error) noexcept {
  while (_first != nullptr) {
    awaiter& one = *_first;
    unlink(one);
    one._result = error;
    resume(*one._waiting);
  }
}

// ---- The operation.

/// On a worker.
void acceptor::arm() noexcept {
  if (!_of->enter()) {
    tell_all(-EBADF);
    return;
  }
  _armed = true;
  _home = scheduler::current_worker();
  _kept = shared_from_this();
  if (_multishot) {
    _operation.prepare_accept_multishot(_of->fd());
  } else {
    _operation.prepare_accept(_of->fd());
  }
  (void)_home->io().submit(_operation);  // refused only while it is in flight, which it is not
}

void acceptor::arm_here() noexcept {
  std::shared_ptr<acceptor> last;
  const std::lock_guard lock(_mutex);
  last = std::move(_kept);
  _armed = false;
  if (_first != nullptr) arm();
}

/// The runtime whose worker it was on its way to has ended; those of other runtimes still wait.
void acceptor::arm_elsewhere() noexcept {
  std::shared_ptr<acceptor> last;
  const std::lock_guard lock(_mutex);
  last = std::move(_kept);
  _armed = false;
  (void)send_to_another_worker();
}

bool acceptor::send_to_another_worker() noexcept {
  for (awaiter* each = _first; each != nullptr; each = each->_next) {
    _armed = true;
    _kept = shared_from_this();
    if (each->_waiting->owner().runtime().shared().post_again(_item)) return true;
    _armed = false;
    _kept.reset();
  }
  return false;
}

void acceptor::came(int result, bool more) noexcept {
  std::shared_ptr<acceptor> last;
  const std::lock_guard lock(_mutex);
  scheduler::worker& here = *scheduler::current_worker();
  if (!more) {
    _armed = false;
    _home = nullptr;
    last = std::move(_kept);
  }
  if (result >= 0) {
    _proven = true;
    give(result);
  } else if (result == -EINVAL && _multishot && !_proven && !_of->closed()) {
    _multishot = false;  // a kernel before 5.19; if it is something else, the next one says so too
  } else if (result != -ECANCELED && result != -ECONNABORTED) {
    // Neither a worker that leaves, nor our own doing, nor a connection that was gone before it could be taken.
    tell_all(result);
  }
  if (more) {
    if (_first == nullptr && _came.size() >= most_waiting) (void)here.io().cancel(_operation);  // I3
    return;
  }
  if (_first != nullptr) {
    if (here.leaving()) {
      (void)send_to_another_worker();
    } else {
      arm();
    }
  }
  _of->leave();
}

}  // namespace faio::net
