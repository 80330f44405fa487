// broadcast -- every receiver gets every value; one that is too slow is told how many it has missed.
//
//   [ 7 ][ 8 ][ 9 ][ 10 ]   the last `capacity` values, numbered; each receiver has the number that it wants next
//
// The sender never waits. A receiver that has fallen behind the oldest value is moved to it, and told so once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "faio/context/task.hpp"
#include "faio/sync/errors.hpp"
#include "faio/sync/gate.hpp"

namespace faio::sync {

template <class T>
class broadcast {
  struct shared {
    explicit shared(std::size_t room) : capacity(room) {}
    const std::size_t capacity;
    std::mutex mutex;
    std::deque<T> values;
    std::uint64_t first = 0;  // the number of values.front()
    bool closed = false;
    gate news;  // open while somebody could find something new: see look()
    std::uint64_t round = 0;
  };

 public:
  explicit broadcast(std::size_t capacity) : _shared(std::make_shared<shared>(capacity)) {
    if (capacity == 0) throw std::invalid_argument("faio: a broadcast needs room for at least one value");
  }
  broadcast(const broadcast&) = delete;
  broadcast& operator=(const broadcast&) = delete;
  ~broadcast() { close(); }

  class receiver {
   public:
    explicit receiver(std::shared_ptr<shared> from, std::uint64_t next) noexcept
        : _from(std::move(from)), _next(next) {}

    /// Any thread. The next value; errc::would_block, errc::lagged (see missed()), errc::closed.
    result<T> try_recv() {
      const std::lock_guard lock(_from->mutex);
      return take();
    }
    /// Call from: a task, one at a time. As try_recv, but waits. operation_canceled.
    task<result<T>> recv() {
      for (;;) {
        std::uint64_t seen = 0;
        {
          const std::lock_guard lock(_from->mutex);
          auto got = take();
          if (got || got.error() != make_error_code(errc::would_block)) co_return got;
          seen = _from->round;
        }
        if (auto waited = co_await news_awaitable(_from, seen); !waited) co_return std::unexpected(waited.error());
      }
    }
    /// How many values the last errc::lagged skipped.
    [[nodiscard]] std::uint64_t missed() const noexcept { return _missed; }

   private:
    friend class broadcast;
    result<T> take() {
      if (_next < _from->first) {
        _missed = _from->first - _next;
        _next = _from->first;
        return std::unexpected(make_error_code(errc::lagged));
      }
      const std::uint64_t at = _next - _from->first;
      if (at < _from->values.size()) {
        ++_next;
        return _from->values[static_cast<std::size_t>(at)];
      }
      return std::unexpected(make_error_code(_from->closed ? errc::closed : errc::would_block));
    }

    std::shared_ptr<shared> _from;
    std::uint64_t _next;
    std::uint64_t _missed = 0;
  };

  /// Any thread. Receives what is sent from now on. A receiver may outlive the broadcast.
  [[nodiscard]] receiver subscribe() {
    const std::lock_guard lock(_shared->mutex);
    return receiver(_shared, _shared->first + _shared->values.size());
  }
  /// Any thread. Never waits. errc::closed.
  result<void> send(T value) {
    {
      const std::lock_guard lock(_shared->mutex);
      if (_shared->closed) return std::unexpected(make_error_code(errc::closed));
      if (_shared->values.size() == _shared->capacity) {
        _shared->values.pop_front();
        ++_shared->first;
      }
      _shared->values.push_back(std::move(value));
      ++_shared->round;
    }
    _shared->news.pulse();
    return {};
  }
  /// Any thread, any number of times. Receivers get what is left, then errc::closed.
  void close() {
    {
      const std::lock_guard lock(_shared->mutex);
      _shared->closed = true;
      ++_shared->round;
    }
    _shared->news.pulse();
  }

  // ---- end of the public interface ----

 private:
  /// Waits for the next pulse, unless there was one since round `seen`: that is looked at once the waiter is in line, where no
  /// pulse can miss it.
  class news_awaiter final : task_waiter {
   public:
    news_awaiter(std::shared_ptr<shared> from, std::uint64_t seen) noexcept : _from(std::move(from)), _seen(seen) {}
    ~news_awaiter() { (void)this->abandoned(); }
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      if (!begin(waiting.promise())) {
        this->set_state(wait_state::canceled);
        return false;
      }
      // The lock is held while it goes into the line: a send comes before, and is seen, or after, and pulses. By then this may be
      // gone, and what it held of the broadcast: so there is one more here.
      const auto from = _from;
      const std::lock_guard lock(from->mutex);
      if (from->round != _seen) {
        this->set_state(wait_state::granted);
        return false;
      }
      return from->news.wait_for_pulse(*this) == wait_state::queued;
    }
    result<void> await_resume() noexcept {
      end();
      if (this->state() != wait_state::granted) return std::unexpected(context::canceled());
      return {};
    }

   private:
    bool withdraw() noexcept override { return _from->news.cancel(*this); }
    std::shared_ptr<shared> _from;
    std::uint64_t _seen;
  };
  class news_awaitable {
   public:
    news_awaitable(std::shared_ptr<shared> from, std::uint64_t seen) noexcept : _from(std::move(from)), _seen(seen) {}
    news_awaiter operator co_await() const noexcept { return news_awaiter(_from, _seen); }

   private:
    std::shared_ptr<shared> _from;
    std::uint64_t _seen;
  };

  std::shared_ptr<shared> _shared;
};

}  // namespace faio::sync
