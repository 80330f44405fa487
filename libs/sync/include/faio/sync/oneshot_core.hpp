// oneshot_core -- one value and those who wait for it, in one block of memory that its ends share: the part of an oneshot that decides.
//
//   _word:   [ ends : 28 | full : 1 | closed : 1 | sent : 1 | locked : 1 ]          all of it, and the rest, changes under the lock only
//
//   send:     nothing was sent, and it is not closed: the value is put here, `sent`
//             ├─ the first in line goes on, and takes it
//             └─ nobody is in line: `full`, for the next who comes
//   receive:  `full`: takes it. Otherwise, `sent` or `closed`: nothing will come. Otherwise into the line
//   leave:    one end less, and `closed`; the last one frees
//
// I1  unlock() stores the whole word: what was decided, and that an end has left, become visible in one step, which is the last access of the one
//     who leaves. So a sender that has sent and goes takes one locked instruction for all of it.
// I2  Whoever sees that it is the only end stays that, since only an end can add one: it frees without the lock.
// I3  The value is written under the lock, once; and read by one: the first in line, when it has been woken, or who finds it `full`, under the lock.
// I4  Who is taken out of the line is announced under the lock and woken after it, as wait_list.hpp has it. What it waits in holds an end of its own.
//
// One receiver is what it is for; others are served all the same, and told that nothing will come.
//
// Modelled in tests/explorer/models/oneshot_model.cpp. docs/adr/0026.
//
// Rejected: a channel of one in a std::shared_ptr: two blocks from malloc, and four critical sections for an answer. Rejected: no lock, but an address in a word
// that both ends exchange, as in end_meeting.hpp. A stop request, or the end of a runtime, takes the waiter out again while the sender is about to
// announce that it will wake it: there would be a state `busy` to wait for, which is a lock, and as many locked instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "faio/sync/atomics.hpp"
#include "faio/sync/wait_list.hpp"

namespace faio::sync {

enum class oneshot_outcome : unsigned char { done, queued, closed, canceled, would_wait };

template <class Policy>
class basic_oneshot_waiter : public basic_waiter<Policy> {
 public:
  typename Policy::template plain<bool> closed{false};

 protected:
  ~basic_oneshot_waiter() = default;
};

template <class T, class Policy>
class basic_oneshot_core {
  static_assert(
      std::is_nothrow_move_constructible_v<T>,
      "an oneshot moves its value between tasks: a move that throws would lose it; send a std::unique_ptr to it");

 public:
  using waiter = basic_oneshot_waiter<Policy>;

  explicit basic_oneshot_core(std::uint32_t ends) noexcept : _word(ends * one_end) {}
  basic_oneshot_core(const basic_oneshot_core&) = delete;
  basic_oneshot_core& operator=(const basic_oneshot_core&) = delete;

  // All of them for whoever has an end, or uses somebody's who waits for it; any thread.

  /// False: it is closed, or something was sent already; `value` is as it was.
  [[nodiscard]] bool send(T& value) noexcept { return send_and(value, 0).sent; }

  struct sent_and_left {
    bool sent;
    bool last;  ///< the caller frees it
  };
  /// The same, and an end leaves.
  [[nodiscard]] sent_and_left send_and_leave(T& value) noexcept { return send_and(value, one_end); }

  /// One end more.
  void add_end() noexcept { unlock(lock() + one_end); }
  /// An end leaves: those in line are told, and nothing is sent any more. True: it was the last, and the caller frees it.
  [[nodiscard]] bool leave() noexcept {
    // acquire, pairs with [U]: alone (I2), and what the others did is visible.
    if (_word.load(std::memory_order_acquire) < 2 * one_end) [[likely]]
      return true;
    return close_and(one_end);
  }
  /// Nothing is sent any more; what was sent can be received.
  void close() noexcept { (void)close_and(0); }

  /// True: who receives will probably wait. A guess, to be confirmed under the lock.
  [[nodiscard]] bool looks_empty() const noexcept {
    return (_word.load(std::memory_order_relaxed) & (sent | closed)) == 0;  // relaxed: a guess
  }
  /// done: the value is the caller's, in value().
  [[nodiscard, gnu::noinline]] oneshot_outcome try_receive() noexcept {
    std::uint32_t word = lock();
    const auto came = receive(word);
    unlock(word);
    return came;
  }
  /// The same; instead of would_wait: canceled, it was before it came; or queued: `who` is in line, may have been woken already, and once it is, it is
  /// canceled; or granted, and `closed` says that nothing came.
  [[nodiscard]] oneshot_outcome receive_or_wait(waiter& who) noexcept {
    std::uint32_t word = lock();
    auto came = receive(word);
    if (came == oneshot_outcome::would_wait) {
      if (who.state() == wait_state::canceled) {
        came = oneshot_outcome::canceled;
      } else {
        _line.push_back(who);
        came = oneshot_outcome::queued;
      }
    }
    unlock(word);
    return came;
  }
  /// True: it was in line; the caller wakes it.
  [[nodiscard]] bool cancel(waiter& who) noexcept {
    const std::uint32_t word = lock();
    const bool was_queued = _line.remove(who);
    if (!was_queued && who.state() == wait_state::idle) who.set_state(wait_state::canceled);
    unlock(word);
    return was_queued;
  }
  /// For the one who received it.
  [[nodiscard]] T& value() noexcept { return *_value.write(); }

  // ---- end of the public interface ----

 private:
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t sent = 2;
  static constexpr std::uint32_t closed = 4;
  static constexpr std::uint32_t full = 8;
  static constexpr std::uint32_t one_end = 16;

  sent_and_left send_and(T& value, std::uint32_t leaving) noexcept {
    std::uint32_t word = lock();
    const bool can = (word & (sent | closed)) == 0;
    word -= leaving;
    const bool last = word < one_end;
    if (!can) [[unlikely]] {
      unlock(word);
      return {.sent = false, .last = last};
    }
    _value.write().emplace(std::move(value));
    waiter* const first = static_cast<waiter*>(_line.pop_front());
    if (first == nullptr) {
      unlock(word | sent | full);
    } else if (_line.empty()) [[likely]] {
      unlock(word | sent);
      first->wake();
    } else {
      basic_wait_list<Policy> others;
      tell_that_nothing_comes(others);
      unlock(word | sent);
      first->wake();
      others.wake_all();
    }
    return {.sent = true, .last = last};
  }
  [[gnu::noinline]] bool close_and(std::uint32_t leaving) noexcept {
    basic_wait_list<Policy> all;
    const std::uint32_t word = lock() - leaving;
    tell_that_nothing_comes(all);
    unlock(word | closed);
    all.wake_all();
    return word < one_end;
  }

  // All under the lock.

  oneshot_outcome receive(std::uint32_t& word) noexcept {
    if ((word & full) != 0) {
      word &= ~full;
      return oneshot_outcome::done;
    }
    return (word & (sent | closed)) != 0 ? oneshot_outcome::closed : oneshot_outcome::would_wait;
  }
  void tell_that_nothing_comes(basic_wait_list<Policy>& woken) noexcept {
    while (auto* const one = static_cast<waiter*>(_line.pop_front())) {
      one->closed.write() = true;
      woken.keep_for_waking(*one);
    }
  }

  /// Gives the word without the lock bit.
  std::uint32_t lock() noexcept {
    std::uint32_t word = _word.load(std::memory_order_relaxed);  // relaxed: the compare-and-swap decides
    for (int turn = 0;; ++turn) {
      // acquire, pairs with [U].
      if ((word & locked) == 0 &&
          _word.compare_exchange_weak(word, word | locked, std::memory_order_acquire, std::memory_order_relaxed)) {
        return word;
      }
      constexpr int long_since = 100;
      Policy::pause(turn > long_since);
      word = _word.load(std::memory_order_relaxed);  // relaxed: as above
    }
  }
  void unlock(std::uint32_t word) noexcept {
    _word.store(word, std::memory_order_release);  // [U] a plain store: all bits change under the lock only
  }

  typename Policy::template atomic<std::uint32_t> _word;
  basic_wait_list<Policy> _line;
  typename Policy::template plain<std::optional<T>> _value;
};

}  // namespace faio::sync
