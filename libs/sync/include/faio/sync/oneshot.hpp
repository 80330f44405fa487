// oneshot -- one value, once, from anywhere to one task or thread.
#pragma once

#include <concepts>
#include <coroutine>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/scheduler/frame_allocator.hpp"
#include "faio/sync/errors.hpp"
#include "faio/sync/oneshot_core.hpp"
#include "faio/sync/waiters.hpp"

namespace faio::sync {

/// This is the receiving end; the sender may outlive it, and is told:
///     faio::sync::oneshot<int> answer;
///     spawn(ask(answer.sender()));
///     result<int> n = co_await answer.recv();                                                // tests/channel_test.cpp
template <class T>
class oneshot {
  /// What the ends share. Oneshots come and go with the tasks that ask: their memory is that of frames.
  class core : public basic_oneshot_core<T, std_atomics> {
   public:
    using basic_oneshot_core<T, std_atomics>::basic_oneshot_core;
    static void* operator new(std::size_t size) { return scheduler::allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { scheduler::free_frame(memory, size); }
    // Frames are aligned to 16 bytes.
    static void* operator new(std::size_t size, std::align_val_t align) { return ::operator new(size, align); }
    static void operator delete(void* memory, std::size_t size, std::align_val_t align) noexcept {
      ::operator delete(memory, size, align);
    }
  };
  using line_waiter = basic_oneshot_waiter<std_atomics>;

  /// In line, for a coroutine.
  class place final : public basic_task_waiter<line_waiter> {
   public:
    explicit place(core& of) noexcept : _core(of) {}
    ~place() {
      (void)this->abandoned();
    }  // a value that it had got is gone, as it would be with a task that had gone on
    using basic_task_waiter<line_waiter>::begin;
    using basic_task_waiter<line_waiter>::end;

   private:
    bool withdraw() noexcept override { return _core.cancel(*this); }

    core& _core;
  };

 public:
  oneshot() : _core(new core(2)) {}
  oneshot(oneshot&& other) noexcept
      : _core(std::exchange(other._core, nullptr)), _has_sender(std::exchange(other._has_sender, false)) {}
  oneshot& operator=(oneshot&& other) noexcept {
    oneshot old(std::move(other));
    std::swap(_core, old._core);
    std::swap(_has_sender, old._has_sender);
    return *this;
  }
  ~oneshot() {
    if (_core == nullptr) return;
    if (_has_sender) (void)_core->leave();  // nobody wanted it; and we are still there
    if (_core->leave()) delete _core;
  }

  /// Goes away without having sent: the receiver gets errc::closed.
  class sender_type {
   public:
    sender_type(sender_type&& other) noexcept : _to(std::exchange(other._to, nullptr)) {}
    sender_type& operator=(sender_type&& other) noexcept {
      sender_type old(std::move(other));
      std::swap(_to, old._to);
      return *this;
    }
    ~sender_type() {
      if (_to != nullptr) [[unlikely]]
        leave(_to);
    }
    /// Any thread, once. errc::closed: nobody receives any more, or it was sent already.
    result<void> send(T value) {
      core* const to = std::exchange(_to, nullptr);
      if (to == nullptr) return std::unexpected(make_error_code(errc::closed));
      const auto came = to->send_and_leave(value);
      if (came.last) [[unlikely]]
        delete to;
      if (!came.sent) [[unlikely]]
        return std::unexpected(make_error_code(errc::closed));
      return {};
    }

   private:
    friend class oneshot;
    /// A function of its own: a sender is moved about, and nearly all that are destroyed are empty.
    [[gnu::noinline]] static void leave(core* from) noexcept {
      if (from->leave()) delete from;
    }
    explicit sender_type(core* to) noexcept : _to(to) {}
    core* _to;
  };

  /// Once.
  [[nodiscard]] sender_type sender() const {
    // Its end was counted when the memory was new; more than one is more than was asked for.
    if (!std::exchange(_has_sender, false)) _core->add_end();
    return sender_type(_core);
  }
  /// Any thread, once: the same without a sender of its own.
  result<void> send(T value) {
    if (!_core->send(value)) return std::unexpected(make_error_code(errc::closed));
    return {};
  }

  class recv_awaiter {
   public:
    explicit recv_awaiter(core& from) noexcept : _core(from) {}
    recv_awaiter(const recv_awaiter&) = delete;
    recv_awaiter& operator=(const recv_awaiter&) = delete;
    ~recv_awaiter() {
      if (_outcome == oneshot_outcome::queued) _place.~place();
    }

    [[nodiscard]] bool await_ready() noexcept {
      if (_core.looks_empty()) return false;
      _outcome = _core.try_receive();
      return _outcome != oneshot_outcome::would_wait && context::may_go_on();
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      static_assert(std::derived_from<Promise, context::promise_base>, "recv can be awaited in a faio::task only");
      if (_outcome == oneshot_outcome::would_wait) return wait(waiting.promise());
      context::come_by_the_loop(waiting.promise());
      return true;
    }
    result<T> await_resume() noexcept {
      if (_outcome == oneshot_outcome::queued) [[likely]]
        return end_of_wait();
      if (_outcome != oneshot_outcome::done) [[unlikely]]
        return std::unexpected(to_error(_outcome));
      return std::move(_core.value());
    }

   private:
    /// A place is made only for one who must wait.
    [[gnu::noinline]] bool wait(context::promise_base& waiting) {
      ::new (static_cast<void*>(&_place)) place(_core);
      _outcome = oneshot_outcome::queued;
      const auto came = _place.begin(waiting) ? _core.receive_or_wait(_place) : oneshot_outcome::canceled;
      if (came == oneshot_outcome::queued) [[likely]]
        return true;  // and may be elsewhere by now
      leave_place(came);
      return false;
    }
    [[gnu::noinline]] result<T> end_of_wait() noexcept {
      const bool canceled = _place.state() == wait_state::canceled;
      const bool closed = _place.closed.read();
      leave_place(oneshot_outcome::would_wait);
      if (canceled || closed) [[unlikely]]
        return std::unexpected(to_error(canceled ? oneshot_outcome::canceled : oneshot_outcome::closed));
      return std::move(_core.value());
    }
    void leave_place(oneshot_outcome came) noexcept {
      _place.end();
      _place.~place();
      _outcome = came;
    }

    core& _core;
    oneshot_outcome _outcome = oneshot_outcome::would_wait;  // queued: there is a place
    union {
      place _place;
    };
  };

  class [[nodiscard("co_await it")]] recv_awaitable {
   public:
    explicit recv_awaitable(core& of) noexcept : _core(&of) {}
    recv_awaiter operator co_await() noexcept { return recv_awaiter(*_core); }

   private:
    core* _core;
  };

  /// Call from: a task. errc::closed: no value will come; operation_canceled.
  recv_awaitable recv() noexcept { return recv_awaitable(*_core); }
  /// Any thread. errc::closed, errc::would_block.
  result<T> try_recv() {
    if (_core->looks_empty()) return std::unexpected(make_error_code(errc::would_block));
    return received(_core->try_receive());
  }
  /// A thread that is no worker. As recv.
  result<T> blocking_recv() {
    if (!_core->looks_empty()) return received(_core->try_receive());
    check_may_block("oneshot::blocking_recv");
    basic_thread_waiter<line_waiter> me;
    auto came = _core->receive_or_wait(me);
    if (came == oneshot_outcome::queued) {
      me.wait();
      came = me.closed.read() ? oneshot_outcome::closed : oneshot_outcome::done;
    }
    return received(came);
  }
  /// The receiver gives up: a later send gives errc::closed.
  void close() { _core->close(); }

  // ---- end of the public interface ----

 private:
  static std::error_code to_error(oneshot_outcome came) noexcept {
    if (came == oneshot_outcome::canceled) return context::canceled();
    return make_error_code(came == oneshot_outcome::closed ? errc::closed : errc::would_block);
  }
  result<T> received(oneshot_outcome came) {
    if (came != oneshot_outcome::done) return std::unexpected(to_error(came));
    return std::move(_core->value());
  }

  core* _core;
  mutable bool _has_sender = true;  // the sender's end is still here
};

}  // namespace faio::sync
