// permits -- a number of permits, taken and given back; who finds too few waits in line. What semaphore and shared_mutex are made of.
//
//   _word:  [ permits : 63 | somebody waits : 1 ]
//
//   try_take:  one compare-and-swap, refused while somebody waits: nobody overtakes (fair)
//   give:      one compare-and-swap, unless somebody waits: then under the lock, to the first in line
//
// I1  While the waiting bit is set, permits change only under _mutex.
// I2  The bit is set before somebody is queued and cleared when the line is empty, both under _mutex.
// I3  What is given is either in the word or granted to a waiter; a waiter that is canceled was granted nothing. So no permit is lost.
// I4  The last access of give() is an exchange, or the waking of those who were granted something: what is left over when the line is
//     empty is given after the lock. So whoever has taken may destroy it, if nobody else is going to use it.
// I5  Whoever takes sees what those did who gave before: release on giving, acquire on taking; through the line, the mutex.
//
// Modelled in tests/explorer/models/permits_model.cpp. Rejected: overtaking while somebody waits. It is faster under contention, and lets a
// task wait for ever: those who want many, or a writer among readers, would never find enough. mutex overtakes, within bounds: lock_core.hpp.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "faio/sync/atomics.hpp"
#include "faio/sync/wait_list.hpp"

namespace faio::sync {

template <class Policy>
class basic_permits {
 public:
  using waiter = basic_waiter<Policy>;

  explicit basic_permits(std::uint64_t count) noexcept : _word(count << 1) {}
  basic_permits(const basic_permits&) = delete;
  basic_permits& operator=(const basic_permits&) = delete;

  /// Any thread.
  [[nodiscard]] bool try_take(std::uint64_t count = 1) noexcept {
    // relaxed: the compare-and-swap decides.
    std::uint64_t word = _word.load(std::memory_order_relaxed);
    while ((word & waiting) == 0 && (word >> 1) >= count) {
      // [T] success acquire, pairs with [G].
      if (_word.compare_exchange_weak(word, word - (count << 1), std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

  /// Any thread. granted: taken. canceled: it was before it came. queued: `who` is in line, may have been woken already, and once it is
  /// its state says how it ended.
  [[nodiscard]] wait_state take_or_wait(waiter& who, std::uint64_t count = 1) {
    const std::lock_guard lock(_mutex);
    if (who.state() == wait_state::canceled) return wait_state::canceled;
    // From here on permits change under the lock only (I1). acquire, pairs with [G].
    const std::uint64_t word = _word.fetch_or(waiting, std::memory_order_acquire);
    if (_line.empty() && (word >> 1) >= count) {
      set((word >> 1) - count);
      who.set_state(wait_state::granted);
      return wait_state::granted;
    }
    who.set_wanted(count);
    _line.push_back(who);
    return wait_state::queued;
  }

  /// Any thread. A waiter that must not wait any longer. True: it was in line; the caller wakes it.
  [[nodiscard]] bool cancel(waiter& who) {
    basic_wait_list<Policy> woken;
    std::uint64_t left = 0;
    bool was_queued = false;
    {
      const std::lock_guard lock(_mutex);
      was_queued = _line.remove(who);
      if (!was_queued && who.state() == wait_state::idle) who.set_state(wait_state::canceled);
      // Those behind it may have waited only for what it wanted.
      if (was_queued) left = grant(0, woken);
    }
    add(left, woken);
    woken.wake_all();
    return was_queued;
  }

  /// Any thread.
  void give(std::uint64_t count = 1) {
    basic_wait_list<Policy> woken;
    add(count, woken);
    woken.wake_all();
  }

  /// Any thread. A moment's view.
  [[nodiscard]] std::uint64_t available() const noexcept {
    return _word.load(std::memory_order_relaxed) >> 1;
  }  // relaxed: a view

  // ---- end of the public interface ----

 private:
  static constexpr std::uint64_t waiting = 1;

  /// Without the lock, unless somebody waits.
  void add(std::uint64_t count, basic_wait_list<Policy>& woken) {
    while (count != 0) {
      std::uint64_t word = _word.load(std::memory_order_relaxed);  // relaxed: the compare-and-swap decides
      while ((word & waiting) == 0) {
        // [G] success release, pairs with [T].
        if (_word.compare_exchange_weak(word, word + (count << 1), std::memory_order_release,
                                        std::memory_order_relaxed)) {
          return;
        }
      }
      const std::lock_guard lock(_mutex);
      count = grant(count, woken);
    }
  }
  /// Under the lock: adds, and lets in from the front of the line as many as there is enough for. Gives what is left, and is not in the
  /// word, if nobody waits any more.
  [[nodiscard]] std::uint64_t grant(std::uint64_t count, basic_wait_list<Policy>& woken) noexcept {
    // acquire, pairs with [G]: an add() without the lock may have come before the bit was set; what it did is for those who are let in.
    const std::uint64_t word = _word.fetch_or(waiting, std::memory_order_acquire);
    std::uint64_t permits = (word >> 1) + count;
    while (waiter* const first = _line.front()) {
      if (first->wanted() > permits) break;
      permits -= first->wanted();
      woken.keep_for_waking(*_line.pop_front());
    }
    const std::uint64_t left = _line.empty() ? std::exchange(permits, 0) : 0;
    set(permits);
    return left;
  }
  /// Under the lock, the bit set.
  void set(std::uint64_t permits) noexcept {
    // A plain store will do: with the bit set nobody else writes it (I1). release, pairs with [T]: for those who take without the lock.
    _word.store((permits << 1) | (_line.empty() ? 0 : waiting), std::memory_order_release);
  }

  typename Policy::template atomic<std::uint64_t> _word;
  typename Policy::mutex _mutex;
  basic_wait_list<Policy> _line;
};

using permits = basic_permits<std_atomics>;

}  // namespace faio::sync
