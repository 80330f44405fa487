// stop_list -- who is to be told when stop is requested: waits, and the lists beneath. Nothing is allocated, and no reference counted.
//
//   _word:     [ linked : 1 | asked : 1 | locked : 1 ]      the lock guards the list and the other bits
//
//   listener:  out ── add ──> in ── remove ──> out
//                              └── take, by the one who tells ──> telling ── told ──> told        remove() waits for that
//
// I1  A listener is told at most once. When remove() has returned nobody tells it any more: it may go.
// I2  Once asked, add() refuses: whoever comes too late is told so by that.
// I3  The one whose ask() gave true tells all, one after the other, without the lock: what a listener does may take other locks.
// I4  Locks are taken from below to above only, and never two while telling: link_to() holds a list's own and that of the one above.
//
// Whoever tells must not call remove() for what it has taken and not yet told: it would wait for itself. scope.cpp puts off what could.
//
// Modelled in tests/explorer/models/stop_model.cpp. Rejected: std::stop_callback for each wait. The count of its shared state, its lock and the
// state's own lock are eight atomic read-modify-writes a wait, and two allocations a task.
#pragma once

#include <cstdint>

#include "faio/context/atomics.hpp"

namespace faio::context {

template <class Policy>
class basic_stop_listener {
 public:
  basic_stop_listener() = default;
  basic_stop_listener(const basic_stop_listener&) = delete;
  basic_stop_listener& operator=(const basic_stop_listener&) = delete;

  /// Its owner. False: never added, or removed.
  [[nodiscard]] bool is_added() const noexcept {
    return _state.load(std::memory_order_relaxed) != out;  // relaxed: whether it is `out` only its owner changes
  }

 protected:
  ~basic_stop_listener() = default;

 private:
  template <class>
  friend class basic_stop_list;
  enum : std::uint32_t { out, in, telling, told };
  typename Policy::template plain<basic_stop_listener*> _next{nullptr};
  typename Policy::template plain<basic_stop_listener*> _prev{nullptr};
  typename Policy::template atomic<std::uint32_t> _state{out};
};

template <class Policy>
class basic_stop_list {
 public:
  using listener = basic_stop_listener<Policy>;

  basic_stop_list() = default;
  basic_stop_list(const basic_stop_list&) = delete;
  basic_stop_list& operator=(const basic_stop_list&) = delete;

  /// Any thread.
  [[nodiscard]] bool is_asked() const noexcept { return (look() & asked) != 0; }
  /// Any thread. True: what is asked of the list above is asked of this one too.
  [[nodiscard]] bool is_linked() const noexcept { return (look() & linked) != 0; }

  /// The owner of `one`, which is out. False: stop has been requested, and it is not added.
  [[nodiscard]] bool add(listener& one) noexcept {
    const std::uint32_t word = lock();
    if ((word & asked) == 0) {
      one._state.store(listener::in, std::memory_order_relaxed);  // relaxed: others look under the lock
      push(one);
    }
    unlock(word);
    return (word & asked) == 0;
  }
  /// The owner of `one`, which is added. Nobody tells it any more afterwards. True: nobody did.
  bool remove(listener& one) noexcept {
    const std::uint32_t word = lock();
    const bool was_in = one._state.load(std::memory_order_relaxed) == listener::in;  // relaxed: under the lock
    if (was_in) unlink(one);
    unlock(word);
    // acquire, pairs with told(): what the one who tells did with it is over.
    for (int turn = 0; !was_in && one._state.load(std::memory_order_acquire) != listener::told; ++turn) pause(turn);
    one._state.store(listener::out, std::memory_order_relaxed);  // relaxed: its owner's alone
    return was_in;
  }

  /// Once for each list, or more often: makes `me`, which stands for this list, a listener of the one above.
  void link_to(basic_stop_list& above, listener& me) noexcept {
    std::uint32_t word = lock();
    if ((word & linked) == 0) {
      word |= linked;
      if (!above.add(me)) word |= asked;
    }
    unlock(word);
  }

  /// Any thread. True: it was the first, and tells them all: take() until there is none.
  [[nodiscard]] bool ask() noexcept {
    const std::uint32_t word = lock();
    unlock(word | asked);
    return (word & asked) == 0;
  }
  /// The one who tells. It stays until told().
  [[nodiscard]] listener* take() noexcept {
    const std::uint32_t word = lock();
    listener* const one = _first.read();
    if (one != nullptr) {
      unlink(*one);
      one->_state.store(listener::telling, std::memory_order_relaxed);  // relaxed: others look under the lock
    }
    unlock(word);
    return one;
  }
  /// The one who tells, for one that it has taken: a place to note the way back.
  static void note(listener& taken, listener* what) noexcept { taken._prev.write() = what; }
  [[nodiscard]] static listener* noted(const listener& taken) noexcept { return taken._prev.read(); }
  /// The one who tells. It may be gone afterwards.
  static void told(listener& one) noexcept {
    one._state.store(listener::told, std::memory_order_release);  // pairs with remove()
  }

  // ---- end of the public interface ----

 private:
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t asked = 2;
  static constexpr std::uint32_t linked = 4;

  /// acquire, pairs with unlock(): what the one who asked did before is visible.
  [[nodiscard]] std::uint32_t look() const noexcept { return _word.load(std::memory_order_acquire); }

  /// Gives the word without the lock bit.
  std::uint32_t lock() noexcept {
    std::uint32_t word = _word.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    for (int turn = 0;; ++turn) {
      // acquire, pairs with unlock().
      if ((word & locked) == 0 &&
          _word.compare_exchange_weak(word, word | locked, std::memory_order_acquire, std::memory_order_relaxed)) {
        return word;
      }
      pause(turn);
      word = _word.load(std::memory_order_relaxed);
    }
  }
  void unlock(std::uint32_t word) noexcept {
    _word.store(word, std::memory_order_release);  // a plain store: all bits change under the lock only
  }
  static void pause(int turn) noexcept {
    if (constexpr int long_since = 100; turn < long_since) {
      Policy::pause();
    } else {
      Policy::pause(true);
    }
  }

  void push(listener& one) noexcept {
    listener* const second = _first.read();
    one._prev.write() = nullptr;
    one._next.write() = second;
    if (second != nullptr) second->_prev.write() = &one;
    _first.write() = &one;
  }
  void unlink(listener& one) noexcept {
    listener* const next = one._next.read();
    listener* const prev = one._prev.read();
    (prev != nullptr ? prev->_next : _first).write() = next;
    if (next != nullptr) next->_prev.write() = prev;
  }

  typename Policy::template plain<listener*> _first{nullptr};
  typename Policy::template atomic<std::uint32_t> _word{0};
};

}  // namespace faio::context
