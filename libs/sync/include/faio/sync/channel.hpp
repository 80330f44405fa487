// channel -- values from many tasks to many tasks, in order; bounded, so that a fast sender waits for a slow receiver.
//
//   faio::sync::channel<int> numbers(16);
//   co_await numbers.send(1);
//   result<int> n = co_await numbers.recv();                                                  // tests/channel_test.cpp
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/sync/channel_core.hpp"
#include "faio/sync/errors.hpp"
#include "faio/sync/waiters.hpp"
#include "faio/sync/worker_lock.hpp"

namespace faio::sync {

struct channel_atomics : std_atomics {
  using mutex = worker_lock;
};

/// Fair: values arrive in the order in which they were sent, receivers and senders in line are served in the order in which they came.
template <class T>
class channel {
  using core = basic_channel_core<T, channel_atomics>;
  using line_waiter = basic_channel_waiter<T, channel_atomics>;

  /// A place in one of the lines, for a coroutine.
  class place final : public basic_task_waiter<line_waiter> {
   public:
    explicit place(core& of) noexcept : _core(of) {}
    ~place() {
      (void)this->abandoned();
    }  // a value that it had got goes with it, as it would with a task that had gone on

    /// In await_suspend. `how`: the core's send_or_wait or receive_or_wait. queued: the coroutine may be elsewhere by now.
    [[nodiscard]] channel_outcome wait(context::promise_base& waiting, channel_outcome (core::*how)(line_waiter&)) {
      return this->begin(waiting) ? (_core.*how)(*this) : channel_outcome::canceled;
    }
    using basic_task_waiter<line_waiter>::end;

   private:
    bool withdraw() noexcept override { return _core.cancel(*this); }

    core& _core;
  };

  /// What both awaiters have. The place in line is made only for one who must wait: most need not, and it is most of what there is to write.
  class line_awaiter {
   public:
    line_awaiter(const line_awaiter&) = delete;
    line_awaiter& operator=(const line_awaiter&) = delete;

   protected:
    explicit line_awaiter(core& of) noexcept : _core(of) {}
    ~line_awaiter() {
      if (_is_placed) _place.~place();
    }
    [[nodiscard]] core& of() const noexcept { return _core; }

    /// In await_ready.
    [[nodiscard]] bool ready(channel_outcome came, scheduler::worker& here) noexcept {
      _outcome = came;
      return came != channel_outcome::would_wait && here.may_transfer();  // or else it is the loop's turn
    }
    /// In await_suspend: true when there is nothing to wait for, and it is only the loop's turn.
    [[nodiscard]] bool came_by_the_loop(context::promise_base& waiting) noexcept {
      if (_outcome == channel_outcome::would_wait) return false;
      context::come_by_the_loop(waiting);
      return true;
    }
    /// Once, after that.
    place& make_place() noexcept {
      ::new (static_cast<void*>(&_place)) place(_core);
      _is_placed = true;
      return _place;
    }
    [[nodiscard]] bool wait(context::promise_base& waiting, channel_outcome (core::*how)(line_waiter&)) {
      _outcome = channel_outcome::queued;
      const auto came = _place.wait(waiting, how);
      if (came == channel_outcome::queued) return true;  // and may be elsewhere by now
      _outcome = came;
      return false;
    }
    /// In await_resume. True: done. False: error() says why not.
    [[nodiscard]] bool finish() noexcept {
      if (_is_placed) {
        _place.end();
        if (_outcome == channel_outcome::queued) _outcome = outcome_in_line(_place);
      }
      return _outcome == channel_outcome::done;
    }
    [[nodiscard]] std::error_code error() const noexcept { return to_error(_outcome); }
    /// The value that went through the line, or into it; null if there was no place.
    [[nodiscard]] std::optional<T>* placed() noexcept { return _is_placed ? &_place.value.write() : nullptr; }

   private:
    core& _core;
    channel_outcome _outcome = channel_outcome::would_wait;
    bool _is_placed = false;
    union {
      place _place;
    };
  };

 public:
  /// Room for `capacity` values; 0: a rendezvous, send waits for its receiver.
  explicit channel(std::size_t capacity) : _core(capacity) {}

  class send_awaiter : line_awaiter {
   public:
    send_awaiter(core& to, T what) : line_awaiter(to), _value(std::move(what)) {}
    [[nodiscard]] bool await_ready() {
      if (this->of().looks_full()) return false;
      scheduler::worker* const here = scheduler::current_worker();
      return this->ready(this->of().try_send(_value, here), *here);
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      static_assert(std::derived_from<Promise, context::promise_base>, "send can be awaited in a faio::task only");
      if (this->came_by_the_loop(waiting.promise())) return true;
      this->make_place().value.write().emplace(std::move(_value));
      return this->wait(waiting.promise(), &core::send_or_wait);
    }
    result<void> await_resume() noexcept {
      if (!this->finish()) [[unlikely]]
        return std::unexpected(this->error());
      return {};
    }

   private:
    T _value;
  };

  class recv_awaiter : line_awaiter {
   public:
    explicit recv_awaiter(core& from) : line_awaiter(from) {}
    [[nodiscard]] bool await_ready() {
      if (this->of().looks_empty()) return false;
      scheduler::worker* const here = scheduler::current_worker();
      return this->ready(this->of().try_receive(_value, here), *here);
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      static_assert(std::derived_from<Promise, context::promise_base>, "recv can be awaited in a faio::task only");
      if (this->came_by_the_loop(waiting.promise())) return true;
      (void)this->make_place();
      return this->wait(waiting.promise(), &core::receive_or_wait);
    }
    result<T> await_resume() noexcept {
      if (!this->finish()) [[unlikely]]
        return std::unexpected(this->error());
      std::optional<T>* const placed = this->placed();
      return std::move(placed != nullptr ? **placed : *_value);
    }

   private:
    std::optional<T> _value;
  };

  class [[nodiscard("co_await it")]] send_awaitable {
   public:
    send_awaitable(core& of, T value) : _core(&of), _value(std::move(value)) {}
    send_awaiter operator co_await() { return send_awaiter(*_core, std::move(_value)); }

   private:
    core* _core;
    T _value;
  };
  class [[nodiscard("co_await it")]] recv_awaitable {
   public:
    explicit recv_awaitable(core& of) noexcept : _core(&of) {}
    recv_awaiter operator co_await() { return recv_awaiter(*_core); }

   private:
    core* _core;
  };

  /// Call from: a task. Waits for room. errc::closed, operation_canceled: it was not sent.
  send_awaitable send(T value) { return send_awaitable(_core, std::move(value)); }
  /// Call from: a task. The oldest value. errc::closed: closed and drained; operation_canceled: nothing was taken.
  recv_awaitable recv() noexcept { return recv_awaitable(_core); }

  /// Any thread. errc::closed, errc::would_block: it was not sent, and `value` is as it was.
  result<void> try_send(T&& value) {
    if (const auto error = to_error(_core.try_send(value))) return std::unexpected(error);
    return {};
  }
  result<void> try_send(const T& value)
    requires std::copy_constructible<T>
  {
    return try_send(T(value));
  }
  /// Any thread. errc::closed: closed and drained; errc::would_block.
  result<T> try_recv() {
    std::optional<T> value;
    if (const auto error = to_error(_core.try_receive(value))) return std::unexpected(error);
    return std::move(*value);
  }

  /// A thread that is no worker. As send and recv.
  result<void> blocking_send(T value) {
    if (const auto came = _core.try_send(value); came != channel_outcome::would_wait) {
      if (came == channel_outcome::closed) return std::unexpected(make_error_code(errc::closed));
      return {};
    }
    check_may_block("channel::blocking_send");
    basic_thread_waiter<line_waiter> me;
    me.value.write().emplace(std::move(value));
    if (const auto error = block(me, &core::send_or_wait)) return std::unexpected(error);
    return {};
  }
  result<T> blocking_recv() {
    if (auto got = try_recv(); got || got.error() != errc::would_block) return got;
    check_may_block("channel::blocking_recv");
    basic_thread_waiter<line_waiter> me;
    if (const auto error = block(me, &core::receive_or_wait)) return std::unexpected(error);
    return std::move(*me.value.write());
  }

  /// Any thread, any number of times. Nothing is sent any more; receivers get what is left, then errc::closed.
  void close() { _core.close(); }
  [[nodiscard]] bool closed() const { return _core.closed(); }
  /// Any thread. A moment's view.
  [[nodiscard]] std::size_t size() const { return _core.size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return _core.capacity(); }

  // ---- end of the public interface ----

 private:
  /// How it ended for one that was in line.
  static channel_outcome outcome_in_line(const line_waiter& who) noexcept {
    if (who.state() == wait_state::canceled) return channel_outcome::canceled;
    return who.closed.read() ? channel_outcome::closed : channel_outcome::done;
  }
  static std::error_code to_error(channel_outcome came) noexcept {
    if (came == channel_outcome::done) return {};
    if (came == channel_outcome::canceled) return context::canceled();
    return make_error_code(came == channel_outcome::closed ? errc::closed : errc::would_block);
  }
  std::error_code block(basic_thread_waiter<line_waiter>& me, channel_outcome (core::*wait)(line_waiter&)) {
    const auto came = (_core.*wait)(me);
    if (came != channel_outcome::queued) return to_error(came);
    me.wait();
    return to_error(outcome_in_line(me));
  }

  core _core;
};

}  // namespace faio::sync
