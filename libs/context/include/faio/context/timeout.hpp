// timeout -- a time limit for anything that can be awaited; and interval, a beat.
#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <expected>
#include <functional>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/context/sleep.hpp"
#include "faio/context/task.hpp"
#include "faio/context/when_any.hpp"

namespace faio {

namespace context {

/// What co_await of an A gives.
template <class A>
decltype(auto) get_awaiter(A&& awaitable) {
  if constexpr (requires { std::forward<A>(awaitable).operator co_await(); }) {
    return std::forward<A>(awaitable).operator co_await();
  } else if constexpr (requires { operator co_await(std::forward<A>(awaitable)); }) {
    return operator co_await(std::forward<A>(awaitable));
  } else {
    return std::forward<A>(awaitable);
  }
}
template <class A>
using awaited_t = decltype(get_awaiter(std::declval<A>()).await_resume());

/// Not wrapped twice. A std::reference_wrapper for a reference.
template <class T>
struct as_result {
  using type = result<T>;
};
template <class T>
struct as_result<T&> {
  using type = result<std::reference_wrapper<T>>;
};
template <class T>
  requires is_result<T>
struct as_result<T> {
  using type = T;
};

template <class A>
task<awaited_t<A>> await_it(A awaitable) {
  co_return co_await std::move(awaitable);
}
inline task<void> await_time(ioengine::time_point deadline) { co_await sleep_until(deadline); }

/// Says by itself whether there is something in it, and why not: a result, or a guard of faio::sync.
template <class T>
concept fallible = requires(const T& one) {
  { one.has_value() } -> std::same_as<bool>;
  { one.error() } -> std::convertible_to<std::error_code>;
};
template <class A, class T>
task<void> await_into(A awaitable, std::optional<T>& into) {
  into.emplace(co_await std::move(awaitable));
}

template <class A>
task<typename as_result<awaited_t<A>>::type> with_timeout(std::chrono::nanoseconds duration, A awaitable) {
  using given = awaited_t<A>;
  const auto deadline = deadline_after(duration);  // a task is lazy: this is when it is awaited
  if constexpr (fallible<given>) {
    // What it took at the last moment, when the time was up already, is not dropped: it may be a message, or a permit.
    // tests of libs/sync: ChannelStressTest
    std::optional<given> got;
    const auto first = co_await when_any(await_into(std::move(awaitable), got), await_time(deadline));
    if (got && got->has_value()) co_return std::move(*got);
    if (first.index == 0) co_return std::unexpected(got->error());
  } else {
    auto first = co_await when_any(await_it<A>(std::move(awaitable)), await_time(deadline));
    if (first.index == 0) {
      if constexpr (std::is_void_v<given>) {
        co_return {};
      } else {
        co_return std::get<0>(std::move(first.value));
      }
    }
  }
  // The time was up, or the stop request of somebody above ended the sleep first: that is no timeout.
  const auto why = now() < deadline ? std::errc::operation_canceled : std::errc::timed_out;
  co_return std::unexpected(std::make_error_code(why));
}

}  // namespace context

/// Effect: awaits it for at most `duration` from the co_await on. Gives a result<T>: the value, or timed_out; one that gives a result<T> itself is not
/// wrapped again. Call from: a task. When the time is up the awaitable is asked to stop and waited for: nothing of it is left running;
/// a result<T> with a value that it gives even then is given: nothing that it took is lost.
/// Stop requested: it is passed on to the awaitable. Errors: what it throws, if it ends in time.
///     auto line = co_await faio::timeout(1s, read_line());                                    // tests/timeout_test.cpp
template <class A>
[[nodiscard("co_await it")]] auto timeout(std::chrono::nanoseconds duration, A awaitable) {
  return context::with_timeout<A>(duration, std::move(awaitable));
}

/// Beats at a fixed rate: each `co_await` of tick() waits for the next point of time; one that is late does not move the ones after it.
///     faio::interval every(100ms);
///     for (;;) { co_await every.tick(); ... }                                                 // tests/timeout_test.cpp
class interval {
 public:
  /// Begins to count now. std::invalid_argument: the period is not longer than zero.
  explicit interval(std::chrono::nanoseconds period) : _period(period), _next(context::now()) {
    if (period <= std::chrono::nanoseconds::zero()) throw_bad_period();
  }

  /// result<void>, as sleep_until. The first comes after one period. Beats that were missed altogether are skipped.
  [[nodiscard("co_await it")]] context::sleep_awaitable tick() {
    _next = _period < ioengine::time_point::max() - _next ? _next + _period : ioengine::time_point::max();
    const auto now = context::now();
    if (_next < now) _next += (now - _next) / _period * _period;
    return context::sleep_awaitable(_next);
  }

 private:
  [[noreturn]] static void throw_bad_period() {
    throw std::invalid_argument("faio: the period of an interval must be longer than zero");
  }

  std::chrono::nanoseconds _period;
  ioengine::time_point _next;
};

}  // namespace faio
