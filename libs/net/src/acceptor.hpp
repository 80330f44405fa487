// acceptor -- one multishot accept for all tasks that accept on a listener, and the connections that came before anybody asked.
//
//   engine ── a connection ──> the first task in line, or _came          accept() ──> takes from _came, or waits in line
//
// Armed: the operation is in some worker's engine, or its arming is on its way to one. It is armed by the first that waits, stays armed while
// connections come and go, and is armed again elsewhere when its worker leaves.
//
// I1  A connection goes to exactly one: a task in line, _came, or close(2). A task that is stopped leaves the line and has taken nothing.
// I2  While it is armed, it keeps itself and the listener's number; so the listener may go at any time.
// I3  Nobody takes what comes: with `most_waiting` in _came the operation is cancelled, and the rest waits in the system's backlog. A burst
//     that the kernel accepted before it heard of that is kept all the same.
// I4  Closing sends the operation's worker a message that cancels it. A shutdown of the listener would not do: on a unix socket accept does
//     not notice it unless it blocks, and a duplicate would not listen any more.   CloseTest.ADuplicateOfAClosedListenerAccepts
// I5  An error goes to all in line: each decides by itself whether to try again, and when. So nothing here can spin.
//
// Thread roles: everything under _mutex, by any thread; came() and arm() on a worker.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "faio/context/promise.hpp"
#include "faio/context/result.hpp"
#include "faio/ioengine/operation.hpp"
#include "faio/net/arm_item.hpp"
#include "faio/net/descriptor.hpp"
#include "faio/scheduler/work_item.hpp"

namespace faio::net {

class acceptor : public std::enable_shared_from_this<acceptor> {
 public:
  explicit acceptor(std::shared_ptr<descriptor> of) noexcept
      : _of(std::move(of)), _item(*this), _cancel(*this), _operation(*this) {}
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;
  ~acceptor() { close(); }

  /// Any thread. Connections that nobody took are closed; tasks in line are told.
  void close() noexcept;
  /// Any thread. As that of the descriptor; connections that nobody took are closed.
  [[nodiscard]] result<int> release() noexcept;
  [[nodiscard]] descriptor& of() const noexcept { return *_of; }

  /// co_await it in a task: a new connection's number.
  class awaiter;

 private:
  static constexpr std::size_t most_waiting = 256;

  friend class arm_item<acceptor>;
  struct cancel_item final : scheduler::work_item {
    explicit cancel_item(acceptor& whose) noexcept : work_item(how), self(whose) {}
    static void run_it(work_item& item) noexcept { static_cast<cancel_item&>(item).self.cancel_here(); }
    static void drop_it(work_item& item) noexcept { const auto last = std::move(static_cast<cancel_item&>(item).kept); }
    static constexpr operations how{&run_it, &drop_it};
    acceptor& self;
    std::shared_ptr<acceptor> kept;  // while it is on its way
  };
  struct accept_operation final : ioengine::operation {
    explicit accept_operation(acceptor& whose) noexcept : operation(&completed), self(whose) {}
    static void completed(operation& op) noexcept {
      static_cast<accept_operation&>(op).self.came(op.result(), op.more());
    }
    acceptor& self;
  };

  [[nodiscard]] int take() noexcept;
  bool wait(awaiter& one, context::promise_base& waiting);
  void stop(awaiter& one) noexcept;
  void forget(awaiter& one) noexcept;
  void arm() noexcept;
  void arm_here() noexcept;
  void arm_elsewhere() noexcept;
  [[nodiscard]] bool send_to_another_worker() noexcept;
  void cancel_here() noexcept;
  void came(int result, bool more) noexcept;
  void give(int connection) noexcept;
  void tell_all(int error) noexcept;
  void unlink(awaiter& one) noexcept;
  void drop_came() noexcept;

  const std::shared_ptr<descriptor> _of;
  std::mutex _mutex;
  std::deque<int> _came;
  awaiter* _first = nullptr;
  awaiter* _last = nullptr;
  bool _armed = false;
  bool _multishot = true;
  bool _proven = false;                // a multishot accept has worked: its errors are not the kernel's being too old
  scheduler::worker* _home = nullptr;  // whose engine has the operation
  std::shared_ptr<acceptor> _kept;
  arm_item<acceptor> _item;
  cancel_item _cancel;
  accept_operation _operation;
};

class acceptor::awaiter final : context::stop_listener {
 public:
  explicit awaiter(acceptor& from) noexcept : stop_listener(tells<awaiter>), _from(from) {}
  awaiter(const awaiter&) = delete;
  awaiter& operator=(const awaiter&) = delete;
  ~awaiter() {
    hear_no_more();
    if (_waiting != nullptr) _from.forget(*this);
    if (_entered) _from._of->leave();
  }

  [[nodiscard]] bool await_ready() noexcept {
    _entered = _from._of->enter();
    if (_entered) _result = _from.take();
    return !_entered || _result >= 0;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return _from.wait(*this, waiting.promise());
  }
  result<int> await_resume() noexcept {
    hear_no_more();
    if (const int got = std::exchange(_result, nothing); got >= 0) {
      return got;
    } else {
      const bool closed = !_entered || _from._of->closed();
      return std::unexpected(std::error_code(closed ? EBADF : -got, std::system_category()));
    }
  }

 private:
  friend class acceptor;
  friend class context::stop_listener;
  void stop_asked() noexcept { _from.stop(*this); }
  /// Not under the acceptor's lock: it waits for a stop request that takes it.
  void hear_no_more() noexcept {
    if (is_added()) _waiting->owner().unsubscribe(*this);
  }
  static constexpr int nothing = -EAGAIN;

  acceptor& _from;
  bool _entered = false;
  // The acceptor's, under its lock.
  context::promise_base* _waiting = nullptr;
  awaiter* _next = nullptr;
  awaiter* _previous = nullptr;
  bool _in_line = false;
  bool _stopped = false;
  int _result = nothing;
};

}  // namespace faio::net
