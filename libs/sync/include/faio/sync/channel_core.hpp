// channel_core -- who gets which value: the part of a channel that decides, under one lock.
//
//   senders in line ──> [ ring of `capacity` ] ──> receivers in line          never both lines at once
//
// I1  Receivers wait only while ring and senders' line are empty; senders only while the ring is full.
// I2  A value is in a sender, in the ring, or in a receiver; it moves under the lock. A waiter that is taken out of its line by a stop
//     request keeps what it has: a sender its value, a receiver nothing. So no value is lost, and none goes to a receiver that is dead.
// I3  After close() nothing is sent any more; values in the ring are received first. Senders in line keep theirs.
// I4  The ring's memory holds a value from _first on, _size of them, and nothing elsewhere.
// Capacity 0 is a rendezvous: the ring is always full and always empty, and values pass from sender to receiver.
//
// Most of the time there is room, or a value, and nobody in line, and the lock belongs to the worker that comes: send_here(), receive_here() and wait_here()
// are those cases and nothing else, small enough to stand where they are called (docs/adr/0026).
//
// Modelled in tests/explorer/models/channel_model.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "faio/sync/atomics.hpp"
#include "faio/sync/wait_list.hpp"

namespace faio::sync {

enum class channel_outcome : unsigned char { done, queued, closed, canceled, would_wait };

/// In line with a value to give or a place for one.
template <class T, class Policy>
class basic_channel_waiter : public basic_waiter<Policy> {
 public:
  typename Policy::template plain<std::optional<T>> value;
  typename Policy::template plain<bool> closed{false};

 protected:
  ~basic_channel_waiter() = default;
};

template <class T, class Policy>
class basic_channel_core {
  static_assert(
      std::is_nothrow_move_constructible_v<T>,
      "a channel moves values between tasks: a move that throws would lose one; send a std::unique_ptr to it");

 public:
  using waiter = basic_channel_waiter<T, Policy>;

  explicit basic_channel_core(std::size_t capacity)
      : _capacity(capacity), _slots(capacity != 0 ? std::allocator<T>().allocate(capacity) : nullptr) {}
  basic_channel_core(const basic_channel_core&) = delete;
  basic_channel_core& operator=(const basic_channel_core&) = delete;
  ~basic_channel_core() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      while (const std::size_t size = length()) {
        std::destroy_at(_slots + _first.read());
        drop_first(size);
      }
    }
    if (_capacity != 0) std::allocator<T>().deallocate(_slots, _capacity);
  }

  // The short way, for a worker on its own thread.

  enum class quick : unsigned char {
    done,
    would_wait,  // until there is room, or a value
    not_mine,    // the lock is not the worker's own: nothing was looked at
    held         // there is more to it: go on with send_as_owner() or receive_as_owner(), which let go of the lock
  };
  /// done: `value` was moved into the ring, and nobody is to be woken. Otherwise it is as it was.
  template <class Worker>
  [[nodiscard]] quick send_here(T& value, const Worker& here) noexcept {
    if (!_mutex.try_lock_as_owner(here)) [[unlikely]]
      return quick::not_mine;
    if (!_receivers.empty() || is_closed()) [[unlikely]]
      return quick::held;
    const std::size_t size = length();
    const bool has_room = size < _capacity;
    if (has_room) [[likely]]
      put(value, size);
    _mutex.unlock_as_owner();
    return has_room ? quick::done : quick::would_wait;
  }
  /// done: the oldest value was moved to `place`, memory for one.
  template <class Worker>
  [[nodiscard]] quick receive_here(T* place, const Worker& here) noexcept {
    if (!_mutex.try_lock_as_owner(here)) [[unlikely]]
      return quick::not_mine;
    if (!_senders.empty()) [[unlikely]]
      return quick::held;
    const std::size_t size = length();
    if (size == 0) {
      if (is_closed()) return quick::held;
      _mutex.unlock_as_owner();
      return quick::would_wait;
    }
    take([place](T&& value) { std::construct_at(place, std::move(value)); }, size);
    _mutex.unlock_as_owner();
    return quick::done;
  }
  /// done: `who` is in the receivers' line, as with receive_or_wait().
  template <class Worker>
  [[nodiscard]] quick wait_here(waiter& who, const Worker& here) noexcept {
    if (!_mutex.try_lock_as_owner(here)) [[unlikely]]
      return quick::not_mine;
    if (length() != 0 || !_senders.empty() || is_closed() || who.state() == wait_state::canceled) [[unlikely]]
      return quick::held;
    _receivers.push_back(who);
    _mutex.unlock_as_owner();
    return quick::done;
  }
  /// After `held`: it is closed, or a receiver is in line, and gets `value`.
  channel_outcome send_as_owner(T& value) noexcept {
    waiter* const receiver = is_closed() ? nullptr : static_cast<waiter*>(_receivers.pop_front());
    if (receiver != nullptr) receiver->value.write().emplace(std::move(value));
    _mutex.unlock_as_owner();
    if (receiver == nullptr) return channel_outcome::closed;
    receiver->wake();
    return channel_outcome::done;
  }
  /// After `held`, as try_receive().
  channel_outcome receive_as_owner(std::optional<T>& place) noexcept {
    waiter* sender = nullptr;
    const auto came = fetch(place, sender);
    _mutex.unlock_as_owner();
    if (sender != nullptr) sender->wake();
    return came;
  }

  /// Any thread. done: `value` was moved from. would_wait, closed: it is as it was. `me`: what the lock would have to find out about the caller, who
  /// may know.
  template <class... Me>
  channel_outcome try_send(T& value, Me... me) {
    waiter* receiver = nullptr;
    {
      const holder lock(_mutex, me...);
      if (const auto came = pass_on(value, receiver); came != channel_outcome::done) return came;
    }
    if (receiver != nullptr) receiver->wake();
    return channel_outcome::done;
  }
  /// Any thread. The same with the value that is in `who`; instead of would_wait: canceled, it was before it came; or queued, `who` is
  /// in line, may have been woken already, and once it is its state and `closed` say how it ended.
  template <class... Me>
  channel_outcome send_or_wait(waiter& who, Me... me) {
    waiter* receiver = nullptr;
    {
      const holder lock(_mutex, me...);
      const auto came = pass_on(*who.value.write(), receiver);
      if (came == channel_outcome::would_wait) return into(_senders, who);
      if (came != channel_outcome::done) return came;
    }
    if (receiver != nullptr) receiver->wake();
    return channel_outcome::done;
  }

  /// Any thread. The oldest value, into `place`, which is empty.
  template <class... Me>
  channel_outcome try_receive(std::optional<T>& place, Me... me) {
    waiter* sender = nullptr;
    {
      const holder lock(_mutex, me...);
      if (const auto came = fetch(place, sender); came != channel_outcome::done) return came;
    }
    if (sender != nullptr) sender->wake();
    return channel_outcome::done;
  }
  /// Any thread. The same, into `who`; as send_or_wait().
  template <class... Me>
  channel_outcome receive_or_wait(waiter& who, Me... me) {
    waiter* sender = nullptr;
    {
      const holder lock(_mutex, me...);
      const auto came = fetch(who.value.write(), sender);
      if (came == channel_outcome::would_wait) return into(_receivers, who);
      if (came != channel_outcome::done) return came;
    }
    if (sender != nullptr) sender->wake();
    return channel_outcome::done;
  }

  /// Any thread. Senders and receivers in line go on, told that it is closed.
  void close() {
    basic_wait_list<Policy> woken;
    {
      const std::lock_guard lock(_mutex);
      _closed.store(true, std::memory_order_relaxed);  // relaxed: as length()
      for (auto* line : {&_senders, &_receivers}) {
        while (auto* const one = static_cast<waiter*>(line->pop_front())) {
          one->closed.write() = true;
          woken.keep_for_waking(*one);
        }
      }
    }
    woken.wake_all();
  }

  /// Any thread. True: it was in line; the caller wakes it.
  bool cancel(waiter& who) {
    const std::lock_guard lock(_mutex);
    if (_senders.front() != nullptr && _senders.remove(who)) return true;
    if (_receivers.front() != nullptr && _receivers.remove(who)) return true;
    if (who.state() == wait_state::idle) who.set_state(wait_state::canceled);
    return false;
  }

  /// Any thread. A moment's view.
  [[nodiscard]] std::size_t size() const { return length(); }
  /// Any thread. True: who receives will probably wait. A guess, to be confirmed under the lock.
  [[nodiscard]] bool looks_empty() const noexcept { return _capacity != 0 && length() == 0 && !is_closed(); }
  /// Any thread. True: who sends will probably wait. A guess likewise.
  [[nodiscard]] bool looks_full() const noexcept { return _capacity != 0 && length() == _capacity && !is_closed(); }
  [[nodiscard]] bool closed() const {
    const std::lock_guard lock(_mutex);
    return is_closed();
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return _capacity; }

  // ---- end of the public interface ----

 private:
  class holder {
   public:
    template <class... Me>
    explicit holder(typename Policy::mutex& of, Me... me) : _of(of) {
      _of.lock(me...);
    }
    holder(const holder&) = delete;
    holder& operator=(const holder&) = delete;
    ~holder() { _of.unlock(); }

   private:
    typename Policy::mutex& _of;
  };

  // relaxed, all: written under the lock, and who reads it without takes it for a guess.
  [[nodiscard]] std::size_t length() const noexcept { return _size.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_closed() const noexcept { return _closed.load(std::memory_order_relaxed); }
  void set_length(std::size_t length) noexcept { _size.store(length, std::memory_order_relaxed); }

  // All under the lock.

  /// From a sender to a receiver, which is to be woken, or into the ring.
  channel_outcome pass_on(T& value, waiter*& receiver) noexcept {
    if (is_closed()) return channel_outcome::closed;
    receiver = static_cast<waiter*>(_receivers.pop_front());
    if (receiver != nullptr) {
      receiver->value.write().emplace(std::move(value));
    } else if (const std::size_t size = length(); size < _capacity) {
      put(value, size);
    } else {
      return channel_outcome::would_wait;
    }
    return channel_outcome::done;
  }
  /// From the ring, where the first sender in line has room now; or from that sender, which is to be woken.
  channel_outcome fetch(std::optional<T>& place, waiter*& sender) noexcept {
    if (const std::size_t size = length(); size != 0) {
      take([&place](T&& value) { place.emplace(std::move(value)); }, size);
    }
    sender = static_cast<waiter*>(_senders.pop_front());
    if (sender != nullptr) {
      std::optional<T>& value = sender->value.write();
      if (place) {
        put(*value, length());
      } else {
        place.emplace(std::move(*value));
      }
    }
    if (place) return channel_outcome::done;
    return is_closed() ? channel_outcome::closed : channel_outcome::would_wait;
  }
  channel_outcome into(basic_wait_list<Policy>& line, waiter& who) noexcept {
    if (who.state() == wait_state::canceled) return channel_outcome::canceled;
    line.push_back(who);
    return channel_outcome::queued;
  }
  // `size`: length(), which who calls has looked at.

  void put(T& value, std::size_t size) noexcept {
    const std::size_t at = _first.read() + size;
    std::construct_at(_slots + (at < _capacity ? at : at - _capacity), std::move(value));
    set_length(size + 1);
  }
  /// `to` is given the oldest, to move it from there.
  template <class To>
  void take(To to, std::size_t size) noexcept {
    T* const oldest = _slots + _first.read();
    to(std::move(*oldest));
    std::destroy_at(oldest);
    drop_first(size);
  }
  void drop_first(std::size_t size) noexcept {
    const std::size_t next = _first.read() + 1;
    _first.write() = next < _capacity ? next : 0;
    set_length(size - 1);
  }

  const std::size_t _capacity;
  mutable typename Policy::mutex _mutex;
  T* const _slots;
  typename Policy::template plain<std::size_t> _first{0};
  typename Policy::template atomic<std::size_t> _size{0};  // written under the lock
  typename Policy::template atomic<bool> _closed{false};   // likewise
  basic_wait_list<Policy> _senders;
  basic_wait_list<Policy> _receivers;
};

}  // namespace faio::sync
