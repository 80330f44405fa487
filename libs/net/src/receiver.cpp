// receiver -- the task that reads, and the operation that serves it.
#include "faio/net/receiver.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "faio/context/inner_scope.hpp"
#include "faio/ioengine/buffer_pool.hpp"
#include "faio/scheduler/shared_state.hpp"

namespace faio::net {

// ---- The task that reads.

void receiver::take_what_came() noexcept {
  _done = std::min(_into.size(), _came.size() - _taken);
  if (_done != 0) std::memcpy(_into.data(), _came.data() + _taken, _done);
  _taken += _done;
  if (_taken == _came.size()) {
    _came.clear();
    _taken = 0;
  }
}

/// False: it has its result. Nothing is resumed under the lock here: who goes on may destroy the stream, and the lock with it.
bool receiver::wait(waiter& one, std::span<std::byte> into, std::size_t least, context::promise_base& waiting) {
  const bool will_be_told = waiting.owner().subscribe(one);
  switch (begin(one, will_be_told, into, least)) {
    case outcome::waits:
      return true;  // it may be gone
    case outcome::ready:
      return false;
    case outcome::later:
      break;
  }
  scheduler::current_worker()->push_back(waiting);
  return true;
}

receiver::outcome receiver::begin(waiter& one, bool will_be_told, std::span<std::byte> into,
                                  std::size_t least) noexcept {
  scheduler::worker& here = *scheduler::current_worker();
  const std::lock_guard lock(_lock);
  if (_reading.load(std::memory_order_acquire)) {  // acquire, pairs with waiter::give(): the fields are free
    one._refused = true;
    return outcome::later;
  }
  _reading.store(true, std::memory_order_relaxed);  // relaxed: under the lock
  _into = into;
  _least = least;
  _done = 0;
  _error = 0;
  if (!will_be_told || one._stopped) {
    _error = -ECANCELED;
    return outcome::later;  // so that a loop that ignores it comes by its worker: leaf_wait::refuse
  }
  if (!_came.empty()) take_what_came();
  if (_done >= _least || _error_behind != 0) {
    if (_done < _least) _error = std::exchange(_error_behind, 0);
    return ++_streak % longest_streak == 0 ? outcome::later : outcome::ready;
  }
  _waiting = one._waiting;
  _runtime = &here.runtime();
  if (_armed) {
    // Its task runs elsewhere. What comes still arrives where it was armed; if the stream moves along, that is for once.
    if (_where != &here && _where != nullptr && &_where->runtime() == _runtime) {
      (void)_of.home.away_from(here);
      _moves = _of.home.where() == &here;
    }
    return outcome::waits;
  }
  if (arm_at(_of.home.away_from(here))) return outcome::waits;
  _waiting = nullptr;
  _error = -EBADF;
  return outcome::ready;
}

void receiver::stop(waiter& one) noexcept {
  const std::lock_guard lock(_lock);
  one._stopped = true;
  if (_waiting != one._waiting) return;
  _waiting = nullptr;
  _error = -ECANCELED;
  context::schedule(*one._waiting);  // under the lock: its frame cannot go meanwhile
}

/// Its coroutine is destroyed while it waits.
void receiver::forget(waiter& one) noexcept {
  const std::lock_guard lock(_lock);
  if (one._refused) return;
  _waiting = nullptr;
  _reading.store(false, std::memory_order_relaxed);  // relaxed: under the lock
}

void receiver::end_wait(int error) noexcept {
  if (_waiting == nullptr) return;
  _error = error;
  context::promise_base& waiting = *std::exchange(_waiting, nullptr);
  __builtin_prefetch(&waiting);  // others are resumed before it: time enough for both to come
  __builtin_prefetch(&_of);
  scheduler::worker& here = *scheduler::current_worker();
  // Not asked of the coroutine itself: that would be three waits for memory.
  if (_runtime == &here.runtime())
    here.push_quietly(waiting);
  else
    context::schedule(waiting);
}

void receiver::give(std::span<const std::byte> piece) noexcept {
  if (_waiting != nullptr) {
    const std::size_t count = std::min(piece.size(), _into.size() - _done);
    std::memcpy(_into.data() + _done, piece.data(), count);
    _done += count;
    piece = piece.subspan(count);
    if (_done >= _least) end_wait(0);
  }
  if (piece.empty()) return;
  if (_taken >= most_kept) _came.erase(0, std::exchange(_taken, 0));  // a reader that never has all
  _came.append(reinterpret_cast<const char*>(piece.data()), piece.size());
}

// ---- The operation.

/// On the worker that shall have it. False: the stream is closed.
bool receiver::arm() noexcept {
  if (!_of.enter()) return false;
  scheduler::worker& here = *scheduler::current_worker();
  if (std::exchange(_last_where, &here) != &here) _received_here = 0;
  _armed = true;
  _moves = false;
  _where = &here;
  _kept = _owner.lock();
  _pool = here.buffers();
  if (_pool == nullptr) {
    if (_own_room == nullptr) _own_room = std::make_unique_for_overwrite<std::byte[]>(own_room);
    _operation.prepare_recv(_of.fd(), std::span(_own_room.get(), own_room));
  } else if (_multishot && _received_here >= settled) {  // I5
    _operation.prepare_recv_multishot(_of.fd(), *_pool);
  } else {
    _operation.prepare_recv(_of.fd(), *_pool);
  }
  (void)here.io().submit(_operation);  // refused only while it is in flight, which it is not
  return true;
}

/// On a worker, by way of `there` if it is another one. False: the stream is closed.
bool receiver::arm_at(scheduler::worker* there) noexcept {
  scheduler::worker& here = *scheduler::current_worker();
  if (there == nullptr || there == &here) return arm();
  _armed = true;
  _kept = _owner.lock();
  // Refused when the runtime has ended: the frame that waits is destroyed by that end.
  if (!here.runtime().post_to(*there, _item)) {
    _armed = false;
    _kept.reset();
  }
  return true;
}

void receiver::arm_here() noexcept {
  std::shared_ptr<descriptor> last;
  const std::lock_guard lock(_lock);
  last = std::move(_kept);
  _armed = false;
  if (_waiting != nullptr && !arm()) end_wait(-EBADF);
}

/// The runtime whose worker it was on its way to has ended; the one that waits may be another one's.
void receiver::arm_elsewhere() noexcept {
  std::shared_ptr<descriptor> last;
  const std::lock_guard lock(_lock);
  last = std::move(_kept);
  _armed = false;
  (void)send_to_another_worker();
}

bool receiver::send_to_another_worker() noexcept {
  if (_waiting == nullptr) return false;
  _armed = true;
  _kept = _owner.lock();
  if (_waiting->owner().runtime().shared().post_again(_item)) return true;
  _armed = false;
  _kept.reset();
  return false;
}

void receiver::came() noexcept {
  std::shared_ptr<descriptor> last;
  const std::lock_guard lock(_lock);
  scheduler::worker& here = *scheduler::current_worker();
  const int result = _operation.result();
  const bool more = _operation.more();
  if (!more) {
    _armed = false;
    _where = nullptr;
    last = std::move(_kept);
  }
  if (result > 0) {
    ++_received_here;
    _proven = _proven || more;
    if (_operation.has_buffer()) {
      give(_pool->data(_operation));
      _pool->give_back(_operation.buffer_id());
    } else {
      give(std::span(_own_room.get(), static_cast<std::size_t>(result)));
    }
  } else if (result == -EINVAL && _multishot && !_proven && !_of.closed()) {
    _multishot = false;  // a kernel before 6.0; if it is something else, the next one says so too
  } else if (result != -ECANCELED && result != -ENOBUFS) {
    // Neither a worker that leaves, nor our own doing, nor a pool that was used up. The end comes again for whoever asks again, an error does not.
    if (_waiting == nullptr && result != 0) _error_behind = result;
    end_wait(result);
  }
  if (more) {
    const bool nobody_takes_it = _waiting == nullptr && _came.size() - _taken >= most_kept;  // I4
    if (!here.is_home()) _moves = _of.home.away_from(here) != nullptr;  // they have gathered elsewhere
    if (nobody_takes_it || _moves) (void)here.io().cancel(_operation);
    return;
  }
  if (_waiting != nullptr) {
    if (here.leaving()) {
      (void)send_to_another_worker();
    } else if (!arm_at(_of.home.where())) {  // not away_from(): that its task is elsewhere is no reason to move back
      end_wait(-EBADF);
    }
  }
  _of.leave();
}

}  // namespace faio::net
