// permit_awaiter -- a coroutine takes permits, in line if need be.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "faio/sync/permits.hpp"
#include "faio/sync/stoppable.hpp"
#include "faio/sync/waiters.hpp"

namespace faio::sync {

class FAIO_SYNC_API permit_awaiter final : task_waiter {
 public:
  permit_awaiter(permits& from, std::uint64_t count, stoppable stop = stoppable::yes) noexcept
      : _from(from), _count(count), _stop(stop) {}
  ~permit_awaiter() {
    if (_taken || abandoned()) _from.give(_count);
  }

  [[nodiscard]] bool await_ready() noexcept {
    _taken = _from.try_take(_count);
    return _taken && context::may_go_on();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, context::promise_base>, "this can be awaited in a faio::task only");
    if (!_taken) return suspend(waiting.promise());
    context::come_by_the_loop(waiting.promise());
    return true;
  }
  /// True: taken. False: stop was requested.
  bool await_resume() noexcept {
    if (std::exchange(_taken, false)) return true;
    end();
    return state() == wait_state::granted;
  }

 private:
  bool suspend(context::promise_base& waiting);
  bool withdraw() noexcept override { return _from.cancel(*this); }

  permits& _from;
  std::uint64_t _count;
  stoppable _stop;
  bool _taken = false;  // without waiting, and not gone on yet
};

/// A plain thread takes permits.
FAIO_SYNC_API void take_blocking(permits& from, std::uint64_t count, const char* call);

}  // namespace faio::sync
