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

/// Into the room of the one that reads.
std::size_t receiver::hand_over(const void* from, std::size_t size) noexcept {
  const std::size_t count = std::min(_into.size(), size);
  if (count != 0) std::memcpy(_into.data(), from, count);
  _into = _into.subspan(count);
  _least -= std::min(_least, count);
  return count;
}

void receiver::take_what_came() noexcept {
  _taken += hand_over(_came.data() + _taken, _came.size() - _taken);
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
  _error = 0;
  if (!will_be_told || one._stopped) {
    _error = -ECANCELED;
    return outcome::later;  // so that a loop that ignores it comes by its worker: leaf_wait::refuse
  }
  if (!_came.empty()) take_what_came();
  if (_least == 0 || _error_behind != 0) {
    if (_least != 0) _error = std::exchange(_error_behind, 0);
    return ++_streak % longest_streak == 0 ? outcome::later : outcome::ready;
  }
  _waiting = one._waiting;
  _scope = &one._waiting->owner();
  if (_armed) {
    _is_near = _where != nullptr && &_where->runtime() == &here.runtime();
    // Its task runs elsewhere. What comes still arrives where it was armed; if the stream moves along, that is for once.
    if (_where != &here && _is_near) {
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
  // What it will touch when it goes on; others are resumed before it: time enough for all of that to come.
  __builtin_prefetch(&waiting);
  __builtin_prefetch(_scope);
  __builtin_prefetch(&_scope->listeners() + 1);
  __builtin_prefetch(&_of);
  __builtin_prefetch(&_came);
  // A buffer is mostly the last and largest part of a coroutine's frame, and behind it is where the coroutine stands.
  __builtin_prefetch(_into.data() + _into.size());
  // Not asked of the coroutine itself: that would be three waits for memory.
  if (_is_near)
    scheduler::current_worker()->push_quietly(waiting);
  else
    context::schedule(waiting);
}

/// True: some of it is kept for the next read.
bool receiver::give(std::span<const std::byte> piece) noexcept {
  if (_waiting != nullptr) {
    piece = piece.subspan(hand_over(piece.data(), piece.size()));
    if (_least == 0) end_wait(0);
  }
  if (piece.empty()) return false;
  if (_taken >= most_kept) _came.erase(0, std::exchange(_taken, 0));  // a reader that never has all
  _came.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return true;
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
  _is_near = &_waiting->owner().runtime().shared() == &here.runtime();
  _kept = _owner.lock();
  ioengine::buffer_pool* const pool = here.buffers();
  if (pool == nullptr) {
    if (_own_room == nullptr) _own_room = std::make_unique_for_overwrite<std::byte[]>(own_room);
    prepare_recv(_of.fd(), std::span(_own_room.get(), own_room));
  } else if (_multishot && _received_here >= settled) {  // I5
    prepare_recv_multishot(_of.fd(), *pool);
  } else {
    prepare_recv(_of.fd(), *pool);
  }
  (void)here.io().submit(*this);  // refused only while it is in flight, which it is not
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
  const int result = operation::result();
  const bool more = operation::more();
  bool kept = false;
  if (!more) {
    _armed = false;
    _where = nullptr;
    last = std::move(_kept);
  }
  if (result > 0) {
    if (_received_here < settled) ++_received_here;
    if (more) _proven = true;
    if (has_buffer()) {
      ioengine::buffer_pool& pool = *here.buffers();  // it was armed here
      kept = give(pool.data(*this));
      pool.give_back(buffer_id());
    } else {
      kept = give(std::span(_own_room.get(), static_cast<std::size_t>(result)));
    }
  } else if (result == -EINVAL && _multishot && !_proven && !_of.closed()) {
    _multishot = false;  // a kernel before 6.0; if it is something else, the next one says so too
  } else if (result != -ECANCELED && result != -ENOBUFS) {
    // Neither a worker that leaves, nor our own doing, nor a pool that was used up. The end comes again for whoever asks again, an error does not.
    if (_waiting == nullptr && result != 0) _error_behind = result;
    end_wait(result);
  }
  if (more) {
    const bool nobody_takes_it = kept && _came.size() - _taken >= most_kept;  // I4
    if (!here.is_home()) _moves = _of.home.away_from(here) != nullptr;        // they have gathered elsewhere
    if (nobody_takes_it || _moves) (void)here.io().cancel(*this);
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
