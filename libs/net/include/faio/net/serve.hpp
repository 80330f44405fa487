// serve -- a handler for each connection, and an end in good order.
//
//   co_await serve(listener, [](tcp_stream peer) -> faio::task<void> { ... }, {.grace = 5s});        // tests/serve_test.cpp
//
//   stop requested, or the listener closed ──> accepting ends ──> handlers have the grace ──> those that are left are asked to stop,
//                                                                                              and waited for
#pragma once

#include <chrono>
#include <exception>
#include <source_location>
#include <stop_token>
#include <system_error>
#include <utility>

#include "faio/context/hop.hpp"
#include "faio/context/result.hpp"
#include "faio/context/shield.hpp"
#include "faio/context/task_group.hpp"
#include "faio/context/timeout.hpp"

namespace faio::net {

/// For serve().
struct serve_options {
  /// How long handlers may go on when accepting has ended.
  std::chrono::nanoseconds grace = std::chrono::seconds(10);
};

namespace detail {

/// On the worker that the connection lives on, so that what the handler opens lives there too.
template <class Stream, class Handler>
task<void> handle(Stream peer, Handler& handler, std::source_location where) {
  if (scheduler::worker* const home = peer.home()) co_await context::resume_on(*home);
  std::exception_ptr thrown;
  try {
    co_await handler(std::move(peer));
  } catch (...) {
    thrown = std::current_exception();
  }
  if (thrown) context::runtime_core::report_unhandled(&context::runtime_core::current(), thrown, where);
}

inline task<void> join(task_group& group) { co_await group.join(); }

/// Shielded: hears of the stop by the token alone.
template <class Listener, class Handler>
task<result<void>> serve_until(Listener& listener, Handler handler, serve_options options, std::stop_token asked,
                               std::source_location where) {
  task_group handlers;
  result<void> ended;
  {
    const auto no_more = [&listener] { listener.close(); };
    const std::stop_callback on_stop(asked, no_more);
    for (;;) {
      auto peer = co_await listener.accept();
      if (!peer) {
        if (peer.error() != std::errc::bad_file_descriptor) ended = std::unexpected(peer.error());
        break;
      }
      handlers.spawn(handle(std::move(*peer), handler, where), where);
    }
  }
  listener.close();  // after an error; and nobody waits in a backlog that will not be looked at
  (void)co_await timeout(options.grace, join(handlers));  // timed out: they were stopped, and have ended
  co_return ended;
}

}  // namespace detail

/// Effect: accepts until it is asked to stop, or the listener is closed, and runs `handler(stream)`, a task, for each connection; then closes
/// the listener and gives the handlers options.grace to end; those that have not ended by then are asked to stop, and waited for. Call from: a task.
/// A stop request does not reach the handlers before that. Errors: what accept() gives that is neither. What a handler throws ends its
/// connection, and reaches config.on_unhandled.
template <class Listener, class Handler>
task<result<void>> serve(Listener& listener, Handler handler, serve_options options = {},
                         std::source_location where = std::source_location::current()) {
  auto asked = co_await current_stop_token();
  auto serving = detail::serve_until(listener, std::move(handler), options, std::move(asked), where);
  co_return co_await shield(std::move(serving));
}

}  // namespace faio::net
