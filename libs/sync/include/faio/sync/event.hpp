// event, latch, barrier -- tell others that something has happened; wait until enough have come.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "faio/sync/gate.hpp"

namespace faio::sync {

enum class reset : unsigned char {
  manual,     ///< set() lets all through until reset()
  automatic,  ///< set() lets one through; any number of them before that is one
};

/// Whoever has passed may destroy it.
class event {
 public:
  explicit event(sync::reset how = sync::reset::manual, bool is_set = false) noexcept : _gate(is_set), _how(how) {}

  /// Any thread.
  void set() noexcept { _how == sync::reset::manual ? _gate.open() : _gate.open_for_one(); }
  void reset() noexcept { _gate.shut(); }
  [[nodiscard]] bool is_set() const noexcept { return _gate.is_open(); }
  /// Any thread. True: it was set; an automatic one is not any more.
  [[nodiscard]] bool try_wait() noexcept {
    return _how == sync::reset::manual ? _gate.try_pass() : _gate.try_pass_alone();
  }
  /// Call from: a task. A result<void>: operation_canceled when stop is requested first.
  gate_awaitable wait() noexcept { return gate_awaitable(_gate, how()); }
  /// A thread that is no worker.
  void blocking_wait() { pass_blocking(_gate, how(), "event::blocking_wait"); }

 private:
  [[nodiscard]] passing how() const noexcept {
    return _how == sync::reset::manual ? passing::with_others : passing::alone;
  }
  gate _gate;
  sync::reset _how;
};

/// Opens once, when it has been counted down to zero. Whoever has passed may destroy it.
class latch {
 public:
  explicit latch(std::size_t count) noexcept : _left(count), _gate(count == 0) {}

  /// Any thread. More than the rest: std::invalid_argument.
  void count_down(std::size_t count = 1) {
    // relaxed: the exchange decides.
    std::size_t left = _left.load(std::memory_order_relaxed);
    do {
      if (count > left) throw std::invalid_argument("faio: latch::count_down below zero");
      // release: what we did is visible to those who go through. acquire: also what the others did, when we are the last.
    } while (!_left.compare_exchange_weak(left, left - count, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (left == count && count != 0) _gate.open();
  }
  [[nodiscard]] bool try_wait() noexcept { return _gate.try_pass(); }
  /// Call from: a task. A result<void>: operation_canceled when stop is requested first. What was counted stays counted.
  gate_awaitable wait() noexcept { return gate_awaitable(_gate); }
  gate_awaitable arrive_and_wait(std::size_t count = 1) {
    count_down(count);
    return wait();
  }
  /// A thread that is no worker.
  void blocking_wait() { pass_blocking(_gate, passing::with_others, "latch::blocking_wait"); }

 private:
  std::atomic<std::size_t> _left;
  gate _gate;
};

/// Lets `parties` through together, again and again.
class FAIO_SYNC_API barrier {
 public:
  explicit barrier(std::size_t parties) : _parties(parties), _left(parties) {
    if (parties == 0) throw std::invalid_argument("faio: a barrier needs at least one party");
  }

  class FAIO_SYNC_API awaiter final : task_waiter {
   public:
    explicit awaiter(barrier& at) noexcept : _at(at) {}
    ~awaiter() { (void)abandoned(); }  // one that went through with the others has been counted
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      static_assert(std::derived_from<Promise, context::promise_base>, "this can be awaited in a faio::task only");
      return suspend(waiting.promise());
    }
    result<void> await_resume() noexcept {
      end();
      if (state() != wait_state::granted) return std::unexpected(context::canceled());
      return {};
    }

   private:
    bool suspend(context::promise_base& waiting);
    bool withdraw() noexcept override;
    barrier& _at;
  };
  class [[nodiscard("co_await it")]] awaitable {
   public:
    explicit awaitable(barrier& at) noexcept : _at(at) {}
    awaiter operator co_await() const noexcept { return awaiter(_at); }

   private:
    barrier& _at;
  };

  /// Call from: a task. A result<void>: operation_canceled when stop is requested first; then its arrival is taken back.
  awaitable arrive_and_wait() noexcept { return awaitable(*this); }
  /// Any thread. One party less, in this round and all after it. More often than there are parties: std::logic_error, as is arriving
  /// where none is left.
  void arrive_and_drop();

 private:
  /// Under the lock. Throws when there is no party left.
  void check_parties() const;
  /// Under the lock: one more has come; true: it was the last, and `woken` are those who go through with it.
  bool arrive(wait_list& woken) noexcept;

  queue::spin_lock _mutex;
  std::size_t _parties;
  std::size_t _left;
  wait_list _line;
};

}  // namespace faio::sync
