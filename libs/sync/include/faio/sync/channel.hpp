// channel -- values from many tasks to many tasks, in order; bounded, so that a fast sender waits for a slow receiver.
//
//   faio::sync::channel<int> numbers(16);
//   co_await numbers.send(1);
//   result<int> n = co_await numbers.recv();                                                  // tests/channel_test.cpp
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
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
    using basic_task_waiter<line_waiter>::begin;
    using basic_task_waiter<line_waiter>::end;

   private:
    bool withdraw() noexcept override { return _core.cancel(*this); }

    core& _core;
  };

 public:
  /// Room for `capacity` values; 0: a rendezvous, send waits for its receiver.
  explicit channel(std::size_t capacity) : _core(capacity) {}

  // Both awaiters: the place in line is made only for one who must wait. Most need not, and it is most of what there is to write; so is what the slow way needs,
  // which stands in functions of its own.

  class send_awaiter {
   public:
    send_awaiter(core& to, T what) noexcept : _core(to), _value(std::move(what)) {}
    send_awaiter(const send_awaiter&) = delete;
    send_awaiter& operator=(const send_awaiter&) = delete;
    ~send_awaiter() {
      if (_outcome == channel_outcome::queued) _place.~place();
    }

    [[nodiscard]] bool await_ready() noexcept {
      scheduler::worker& here = *scheduler::current_worker();
      const auto came = _core.send_here(_value, here);
      if (came == core::quick::would_wait) return false;
      if (came != core::quick::done) [[unlikely]]
        return ready_slowly(here, came);
      _outcome = channel_outcome::done;
      return here.may_transfer();  // or else it is the loop's turn
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      static_assert(std::derived_from<Promise, context::promise_base>, "send can be awaited in a faio::task only");
      if (_outcome == channel_outcome::would_wait) return wait(waiting.promise());
      context::come_by_the_loop(waiting.promise());
      return true;
    }
    result<void> await_resume() noexcept {
      if (_outcome == channel_outcome::queued) [[unlikely]]
        end_of_wait();
      if (_outcome != channel_outcome::done) [[unlikely]]
        return std::unexpected(to_error(_outcome));
      return {};
    }

   private:
    [[gnu::noinline]] bool ready_slowly(scheduler::worker& here, typename core::quick came) noexcept {
      if (came == core::quick::held) {
        _outcome = _core.send_as_owner(_value);
      } else if (!_core.looks_full()) {
        _outcome = _core.try_send(_value, &here);
      }
      return _outcome != channel_outcome::would_wait && here.may_transfer();
    }
    [[gnu::noinline]] bool wait(context::promise_base& waiting) {
      ::new (static_cast<void*>(&_place)) place(_core);
      _outcome = channel_outcome::queued;
      _place.value.write().emplace(std::move(_value));
      const auto came =
          _place.begin(waiting) ? _core.send_or_wait(_place, scheduler::current_worker()) : channel_outcome::canceled;
      if (came == channel_outcome::queued) return true;  // and may be elsewhere by now
      leave_place(came);
      return false;
    }
    [[gnu::noinline]] void end_of_wait() noexcept { leave_place(outcome_in_line(_place)); }
    void leave_place(channel_outcome came) noexcept {
      _place.end();
      _place.~place();
      _outcome = came;
    }

    core& _core;
    channel_outcome _outcome = channel_outcome::would_wait;  // queued: there is a place
    T _value;
    union {
      place _place;
    };
  };

  class recv_awaiter {
   public:
    explicit recv_awaiter(core& from) noexcept : _core(from) {}
    recv_awaiter(const recv_awaiter&) = delete;
    recv_awaiter& operator=(const recv_awaiter&) = delete;
    ~recv_awaiter() {
      if (_outcome == channel_outcome::done) std::destroy_at(&_value);
      if (_outcome == channel_outcome::queued) _place.~place();
    }

    [[nodiscard]] bool await_ready() noexcept {
      scheduler::worker& here = *scheduler::current_worker();
      const auto came = _core.receive_here(&_value, here);
      if (came == core::quick::would_wait) return false;
      if (came != core::quick::done) [[unlikely]]
        return ready_slowly(here, came);
      _outcome = channel_outcome::done;
      return here.may_transfer();  // or else it is the loop's turn
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      static_assert(std::derived_from<Promise, context::promise_base>, "recv can be awaited in a faio::task only");
      if (_outcome == channel_outcome::would_wait) return wait(waiting.promise());
      context::come_by_the_loop(waiting.promise());
      return true;
    }
    result<T> await_resume() noexcept {
      if (_outcome == channel_outcome::done) [[likely]]
        return std::move(_value);
      if (_outcome != channel_outcome::queued) return std::unexpected(to_error(_outcome));
      return end_of_wait();
    }

   private:
    [[gnu::noinline]] bool ready_slowly(scheduler::worker& here, typename core::quick came) noexcept {
      std::optional<T> value;
      if (came == core::quick::held) {
        _outcome = _core.receive_as_owner(value);
      } else if (!_core.looks_empty()) {
        _outcome = _core.try_receive(value, &here);
      }
      if (_outcome == channel_outcome::done) std::construct_at(&_value, std::move(*value));
      return _outcome != channel_outcome::would_wait && here.may_transfer();
    }
    [[gnu::noinline]] bool wait(context::promise_base& waiting) {
      ::new (static_cast<void*>(&_place)) place(_core);
      _outcome = channel_outcome::queued;
      auto came = channel_outcome::canceled;
      if (_place.begin(waiting)) [[likely]] {
        scheduler::worker& here = *scheduler::current_worker();
        const auto quickly = _core.wait_here(_place, here);
        if (quickly == core::quick::done) [[likely]]
          return true;  // and may be elsewhere by now
        came = wait_slowly(here, quickly);
        if (came == channel_outcome::queued) return true;
      }
      _place.end();
      std::optional<T> value = std::move(_place.value.write());
      _place.~place();
      if (value) std::construct_at(&_value, std::move(*value));
      _outcome = came;
      return false;
    }
    [[gnu::noinline]] channel_outcome wait_slowly(scheduler::worker& here, typename core::quick quickly) noexcept {
      if (quickly == core::quick::not_mine) return _core.receive_or_wait(_place, &here);
      const auto came = _core.receive_as_owner(_place.value.write());
      // Otherwise there is nothing to receive, and what kept it out of the line was a stop request.
      return came != channel_outcome::would_wait ? came : channel_outcome::canceled;
    }
    [[gnu::noinline]] result<T> end_of_wait() noexcept {
      _place.end();
      const auto came = outcome_in_line(_place);
      _outcome = channel_outcome::would_wait;  // nothing will be here any more
      if (came != channel_outcome::done) [[unlikely]] {
        _place.~place();
        return std::unexpected(to_error(came));
      }
      result<T> got(std::move(*_place.value.write()));
      _place.~place();
      return got;
    }

    core& _core;
    channel_outcome _outcome = channel_outcome::would_wait;  // queued: there is a place; done: there is a value
    union {
      T _value;
      place _place;
    };
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
    if (const auto error = block(me, _core.send_or_wait(me))) return std::unexpected(error);
    return {};
  }
  result<T> blocking_recv() {
    if (auto got = try_recv(); got || got.error() != errc::would_block) return got;
    check_may_block("channel::blocking_recv");
    basic_thread_waiter<line_waiter> me;
    if (const auto error = block(me, _core.receive_or_wait(me))) return std::unexpected(error);
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
    if (who.state() == wait_state::granted) [[likely]]
      return who.closed.read() ? channel_outcome::closed : channel_outcome::done;
    return channel_outcome::canceled;
  }
  static std::error_code to_error(channel_outcome came) noexcept {
    if (came == channel_outcome::done) return {};
    if (came == channel_outcome::canceled) return context::canceled();
    return make_error_code(came == channel_outcome::closed ? errc::closed : errc::would_block);
  }
  static std::error_code block(basic_thread_waiter<line_waiter>& me, channel_outcome came) {
    if (came != channel_outcome::queued) return to_error(came);
    me.wait();
    return to_error(outcome_in_line(me));
  }

  core _core;
};

}  // namespace faio::sync
