// copy -- all of one stream into another, one way or both.
//
//   auto done = co_await copy_both(client, server, {.idle = 60s});                                      // tests/copy_test.cpp
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/context/task.hpp"
#include "faio/context/timeout.hpp"
#include "faio/context/when_all.hpp"
#include "faio/net/buffered.hpp"

namespace faio::net {

struct copy_options {
  /// Bytes at a time; what a slow receiver makes us hold.
  std::size_t buffer = 16 * 1024;
  /// copy_both: how long no byte may go either way, because neither side says anything, or the one that should take it does not: timed_out.
  /// Empty: for ever.
  std::optional<std::chrono::nanoseconds> idle = {};
};

/// What went from the first to the second, and back.
struct copied {
  std::uint64_t forth = 0;
  std::uint64_t back = 0;
};

namespace detail {

template <writable To>
task<result<void>> write_in_parts(To& to, std::span<const std::byte> what) {
  while (!what.empty()) {
    const result<std::size_t> wrote = co_await to.write_some(what);
    if (!wrote) co_return std::unexpected(wrote.error());
    what = what.subspan(*wrote);
  }
  co_return result<void>{};
}
template <writable To>
auto write_everything(To& to, std::span<const std::byte> what) {
  if constexpr (requires { to.write_all(what); }) {
    return to.write_all(what);
  } else {
    return write_in_parts(to, what);
  }
}

template <class Given, class A>
task<result<Given>> as_ours(A awaitable) {
  co_return result<Given>(co_await std::move(awaitable));
}
/// timeout() of something whose result may be one of its own.
template <class Given, class A>
auto within(std::chrono::nanoseconds limit, A awaitable) {
  if constexpr (std::same_as<context::awaited_t<A>, result<Given>>) {
    return timeout(limit, std::move(awaitable));
  } else {
    return timeout(limit, as_ours<Given>(std::move(awaitable)));
  }
}

/// Both directions of one copy_both: when something last went, and what went wrong first.
class conversation {
 public:
  explicit conversation(std::optional<std::chrono::nanoseconds> idle) : _idle(idle) { heard(); }
  [[nodiscard]] std::optional<std::chrono::nanoseconds> idle() const noexcept { return _idle; }
  void heard() noexcept {
    if (_idle) _last.store(context::now().time_since_epoch().count(), std::memory_order_relaxed);  // relaxed: a number
  }
  /// How long a silence may still go on.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> patience() const noexcept {
    if (!_idle) return std::nullopt;
    const auto since = ioengine::time_point(ioengine::time_point::duration(_last.load(std::memory_order_relaxed)));
    return since + *_idle - context::now();
  }
  /// True: it is the first.
  bool failed(std::error_code error) noexcept {
    if (_has_failed.exchange(true, std::memory_order_relaxed)) return false;  // relaxed: it decides only who is first;
    _first = error;                                                           // when_all orders this and first()
    return true;
  }
  [[nodiscard]] std::error_code first() const noexcept { return _first; }

 private:
  const std::optional<std::chrono::nanoseconds> _idle;
  std::atomic<ioengine::time_point::rep> _last{0};
  std::atomic<bool> _has_failed{false};
  std::error_code _first;
};

/// A silence of this side alone is no silence: the other one may be talking.
template <readable From>
task<result<std::size_t>> read_patiently(From& from, std::span<std::byte> into, conversation& both) {
  for (;;) {
    const auto left = both.patience();
    if (!left) co_return result<std::size_t>(co_await from.read_some(into));
    if (*left <= std::chrono::nanoseconds::zero())
      co_return std::unexpected(std::make_error_code(std::errc::timed_out));
    auto got = co_await within<std::size_t>(*left, from.read_some(into));
    if (got || got.error() != std::errc::timed_out) co_return got;
  }
}

/// A receiver that takes nothing is silent too.
template <writable To>
task<result<void>> write_patiently(To& to, std::span<const std::byte> what, conversation& both) {
  if (!both.idle()) co_return result<void>(co_await write_everything(to, what));
  if constexpr (writable_in_parts<To>) {
    while (!what.empty()) {
      const auto left = *both.patience();
      if (left <= std::chrono::nanoseconds::zero())
        co_return std::unexpected(std::make_error_code(std::errc::timed_out));
      const auto wrote = co_await within<std::size_t>(left, to.write_some(what));
      if (wrote) {
        both.heard();
        what = what.subspan(*wrote);
      } else if (wrote.error() != std::errc::timed_out) {
        co_return std::unexpected(wrote.error());
      }
    }
    co_return result<void>{};
  } else {
    // It cannot be begun again when the other way has been talking meanwhile: all of the limit for each.
    auto wrote = co_await within<void>(*both.idle(), to.write_all(what));
    if (wrote) both.heard();
    co_return wrote;
  }
}

template <readable From, writable To>
task<result<std::uint64_t>> copy_in(From& from, To& to, std::size_t size, conversation& both) {
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(size);
  for (std::uint64_t count = 0;;) {
    auto got = co_await read_patiently(from, std::span(buffer.get(), size), both);
    if (!got) co_return std::unexpected(got.error());
    if (*got == 0) co_return count;
    both.heard();
    auto wrote = co_await write_patiently(to, std::span<const std::byte>(buffer.get(), *got), both);
    if (!wrote) {
      close_now(to);  // it lacks a piece that has been taken
      co_return std::unexpected(wrote.error());
    }
    count += *got;
  }
}

/// The end of one side is passed on to the other; an error ends both at once.
template <class From, class To>
task<std::uint64_t> one_way(From& from, To& to, std::size_t size, conversation& both) {
  auto count = co_await copy_in(from, to, size, both);
  if (count) {
    (void)to.shutdown();  // refused: the other side is gone already
    co_return *count;
  }
  if (both.failed(count.error())) {
    from.close();
    to.close();
  }
  co_return 0;
}

}  // namespace detail

/// Effect: reads until the end and writes all of it. Call from: a task. Gives how many bytes. Does not end `to`: see shutdown().
/// Stopped while it reads: nothing is lost, and both can go on. Stopped or failed while it writes: `to` is closed, since it lacks a piece; one whose
/// close() must be awaited is left to the caller.
template <readable From, writable To>
task<result<std::uint64_t>> copy(From& from, To& to, copy_options options = {}) {
  detail::conversation alone(std::nullopt);
  co_return co_await detail::copy_in(from, to, options.buffer, alone);
}

/// Effect: both ways at once, until both sides have ended; the end of one is passed on by shutdown(), and the other may go on. Call from: a task.
/// An error of any of the four halves, a stop request, or options.idle without a byte that goes either way: both streams are closed, and it is
/// what you get.
template <class A, class B>
task<result<copied>> copy_both(A& a, B& b, copy_options options = {}) {
  detail::conversation both(options.idle);
  const auto [forth, back] =
      co_await when_all(detail::one_way(a, b, options.buffer, both), detail::one_way(b, a, options.buffer, both));
  if (both.first()) co_return std::unexpected(both.first());
  co_return copied{forth, back};
}

}  // namespace faio::net
