// engine -- what all kinds share: the ready list, timers, cancelling, draining, the handle. The loop: engine_loop.hpp.
#include "faio/ioengine/engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "engine_loop.hpp"

namespace faio::ioengine {

using access = detail::operation_access;
using detail::place;

namespace {

struct steady_clock_source final : clock {
  [[nodiscard]] time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const clock& clock::steady() noexcept {
  static const steady_clock_source source;
  return source;
}

engine::engine(engine_kind kind, const engine_options& options)
    : _poison_buffers(options.poison_buffers),
      _kind(kind),
      _process(::getpid()),
      _owner(std::this_thread::get_id()),
      _time(options.time != nullptr ? options.time : &clock::steady()),
      _wheel(_time->now()) {
  detail::make_empty(_ready);
  detail::make_empty(_timeouts);
#if defined(FAIO_ADDRESS_SANITIZER) || defined(FAIO_THREAD_SANITIZER)
  _special |= watched;
#endif
}

engine::~engine() = default;

bool engine::in_own_process() const noexcept { return ::getpid() == _process; }

/// What is no kind's business: operations that come during a drain, and timeouts.
bool engine::started_here(operation& op) noexcept {
  if ((_special & draining) != 0) {
    complete_later(op, -ECANCELED);
    return true;
  }
  if (op.code() != opcode::timeout) return false;
  auto& timeout = static_cast<timeout_operation&>(op);
  access::set_engine(timeout, *this);
  access::put(op, place::timer);
  detail::push_back(_timeouts, op);
  add_timer(access::timer(timeout), access::deadline(timeout));
  return true;
}

bool engine::cancel(operation& op) noexcept {
  assert(_owner == std::this_thread::get_id() && "cancel on a thread that does not own the engine");
  switch (access::where(op)) {
    case place::idle:
      return false;
    case place::ready:
      // Its result is there already and arrives in the next drive. For one piece of a multishot operation, that is the piece;
      // the end follows it.
      access::options(op) |= access::cancel_asked;
      return true;
    case place::timer:
      _wheel.cancel(access::timer(static_cast<timeout_operation&>(op)));
      detail::unlink(op);
      complete_later(op, -ECANCELED);
      return true;
    default:
      if (!access::is(op, access::cancel_asked)) {
        access::options(op) |= access::cancel_asked;
        ask_to_cancel(op);
      }
      return true;
  }
}

void engine::complete_later(operation& op, int result, std::uint32_t flags) noexcept {
  access::set_outcome(op, result, flags, place::ready);
  detail::push_back(_ready, op);
}

std::size_t engine::run_ready() noexcept {
  // Only what is there now: a function that submits again what completes at once must not keep the turn from ending.
  detail::operation_link batch;
  detail::make_empty(batch);
  detail::move_all(_ready, batch);
  std::size_t called = 0;
  while (!detail::is_empty(batch) && called < _most_completions) {
    operation& op = detail::pop_front(batch);
    ++called;
    if ((access::flags(op) & access::more_flag) != 0) keep_going(op);
    complete(op, access::result(op), access::flags(op));
  }
  if (!detail::is_empty(batch)) {  // before those that have come since
    detail::move_all(_ready, batch);
    detail::move_all(batch, _ready);
  }
  return called;
}

void engine::drain() noexcept {
  assert(!_driving && "drain from inside a completion function");
  if (_driving) return;
  _special |= draining;
  const std::size_t limit = std::exchange(_most_completions, no_limit);  // here everybody waits for all of them
  bool woken = false;
  // What cannot be cancelled ends by itself. What was missed, because it was between two places or there was no room to ask, is
  // asked again: soon, and whenever something has ended. The asking has an answer that ends a sleep, so not in every turn.
  constexpr std::chrono::milliseconds soon(10);
  std::size_t asked_for = 0;
  std::chrono::steady_clock::time_point ask_again;
  while (_in_flight != 0) {
    if (const auto now = std::chrono::steady_clock::now(); _in_flight != asked_for || now >= ask_again) {
      asked_for = _in_flight;
      ask_again = now + soon;
      for (auto* link = _timeouts.next; link != &_timeouts;) {
        operation& op = access::from(*link);
        link = link->next;
        cancel(op);
      }
      cancel_all();
    }
    (void)enter_drive();
    woken |= _woken_between;
    if (has_ready() || !_waker.prepare_sleep()) {
      woken |= !has_ready();
      enter(std::chrono::nanoseconds::zero());
    } else {
      enter(soon);
      woken |= _waker.finish_sleep();
    }
    (void)leave_drive(reap() + run_ready());
  }
  if (woken) wake();  // somebody meant it for the loop, not for the drain
  _most_completions = limit;
  _special &= static_cast<std::uint8_t>(~draining);
}

// Timers.

void engine::add_timer(timer_entry& timer, time_point deadline) noexcept {
  _wheel.add(timer, deadline);
  arm_handle_for_timers();
}

void engine::rearm_timer(timer_entry& timer, time_point deadline) noexcept {
  _wheel.rearm(timer, deadline);
  arm_handle_for_timers();
}

bool engine::cancel_timer(timer_entry& timer) noexcept { return _wheel.cancel(timer); }

void timeout_operation::expire(timer_entry& timer) noexcept {
  const auto& expired = static_cast<expiry&>(timer);
  detail::unlink(*expired.self);
  expired.owner->complete(*expired.self, -ETIME, 0);
}

// The handle for other people's loops.

int engine::native_handle() noexcept {
  if (_handle == no_handle) {
    _handle = make_handle();
    if (_handle >= 0 && !_driving) rest_with_handle();
  }
  return _handle;
}

/// Between two drives the owner counts as asleep: a wake must make the handle readable.
void engine::rest_with_handle() noexcept {
  enter(std::chrono::nanoseconds::zero());  // what functions submitted: nobody else will, until the handle is readable
  const bool may_sleep = _waker.prepare_sleep();
  if (!may_sleep) (void)_waker.prepare_sleep();
  if (!may_sleep || has_ready() || busy()) end_sleep();
  arm_handle_for_timers();
}

void engine::arm_handle_for_timers() noexcept {
  if (_handle < 0 || _driving) return;
  const auto timer = _wheel.next_deadline();
  arm_handle(timer ? time_until(*timer) : forever);
}

}  // namespace faio::ioengine
