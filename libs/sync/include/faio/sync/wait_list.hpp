// wait_list -- those who wait for a primitive, the longest first: intrusive, guarded by the primitive's own lock.
//
//   waiter:  idle ── push_back ──> queued ── pop_front, by whoever grants ──> granted ── wake() ──> goes on
//                                     ├────── remove, by a stop request ────> canceled ── wake() ──> goes on
//                                     └────── call_front, by lock_core ─────> called ──── wake() ──> tries, and goes on or comes back
//
// I1  A waiter leaves the list once: whoever takes it out under the lock decides how it ends, and calls wake() after the lock.
// I2  A waiter that is out of the list and has been woken may be gone.
#pragma once

#include <cstdint>

namespace faio::sync {

enum class wait_state : std::uint8_t { idle, queued, called, granted, canceled };

template <class Policy>
class basic_waiter {
 public:
  basic_waiter() = default;
  basic_waiter(const basic_waiter&) = delete;
  basic_waiter& operator=(const basic_waiter&) = delete;

  /// Whoever grants it something, under the lock: wake() will follow, on the same thread.
  virtual void announce_wake() noexcept {}
  /// Whoever took it out of the list, without the lock. It may be gone afterwards.
  virtual void wake() noexcept = 0;

  /// Under the lock; and by the waiter itself once it has been woken, or was never queued.
  [[nodiscard]] wait_state state() const noexcept { return _state.read(); }
  void set_state(wait_state state) noexcept { _state.write() = state; }
  /// Under the lock. What it asks for: permits, say.
  [[nodiscard]] std::uint64_t wanted() const noexcept { return _wanted.read(); }
  void set_wanted(std::uint64_t wanted) noexcept { _wanted.write() = wanted; }

 protected:
  ~basic_waiter() = default;

 private:
  template <class>
  friend class basic_wait_list;
  typename Policy::template plain<basic_waiter*> _next{nullptr};
  typename Policy::template plain<basic_waiter*> _prev{nullptr};
  typename Policy::template plain<wait_state> _state{wait_state::idle};
  typename Policy::template plain<std::uint64_t> _wanted{1};
};

/// Everything under the primitive's lock, except wake_all on a list of one's own.
template <class Policy>
class basic_wait_list {
 public:
  using waiter = basic_waiter<Policy>;

  basic_wait_list() = default;
  basic_wait_list(const basic_wait_list&) = delete;
  basic_wait_list& operator=(const basic_wait_list&) = delete;

  [[nodiscard]] bool empty() const noexcept { return _first.read() == nullptr; }
  [[nodiscard]] waiter* front() const noexcept { return _first.read(); }

  void push_back(waiter& one) noexcept {
    one.set_state(wait_state::queued);
    append(one);
  }
  /// For one that was the first before.
  void push_front(waiter& one) noexcept {
    one.set_state(wait_state::queued);
    waiter* const second = _first.read();
    one._prev.write() = nullptr;
    one._next.write() = second;
    (second != nullptr ? second->_prev.write() : _last.write()) = &one;
    _first.write() = &one;
  }
  /// The longest waiting, granted what it waits for; null if there is none.
  waiter* pop_front() noexcept { return take_front(wait_state::granted); }
  /// The longest waiting, who is to try for itself; null if there is none.
  waiter* call_front() noexcept { return take_front(wait_state::called); }
  /// True: it was queued, and is canceled now.
  bool remove(waiter& one) noexcept {
    if (one.state() != wait_state::queued) return false;
    unlink(one);
    one.set_state(wait_state::canceled);
    return true;
  }
  /// To the end of a list of those who are to be woken after the lock. `one` is out of its list.
  void keep_for_waking(waiter& one) noexcept { append(one); }
  /// Without the lock, on a list of one's own.
  void wake_all() noexcept {
    while (waiter* const one = _first.read()) {
      unlink(*one);
      one->wake();
    }
  }

 private:
  waiter* take_front(wait_state now) noexcept {
    waiter* const one = _first.read();
    if (one != nullptr) {
      unlink(*one);
      one->set_state(now);
      one->announce_wake();
    }
    return one;
  }
  void append(waiter& one) noexcept {
    one._next.write() = nullptr;
    one._prev.write() = _last.read();
    if (waiter* const last = _last.read()) {
      last->_next.write() = &one;
    } else {
      _first.write() = &one;
    }
    _last.write() = &one;
  }
  void unlink(waiter& one) noexcept {
    waiter* const next = one._next.read();
    waiter* const prev = one._prev.read();
    (prev != nullptr ? prev->_next.write() : _first.write()) = next;
    (next != nullptr ? next->_prev.write() : _last.write()) = prev;
  }

  typename Policy::template plain<waiter*> _first{nullptr};
  typename Policy::template plain<waiter*> _last{nullptr};
};

}  // namespace faio::sync
