// engine_loop -- the loop that all kinds have, made for each of them, so that one virtual call leads to straight code.
//
//   submit          into the ring at once, or checks, then Kind::start
//   drive           enter_drive -> Kind::enter(0)        -> turn -> leave_drive
//   wait_and_drive  enter_drive -> Kind::enter(timeout)  -> turn -> leave_drive, again until there is something to return for
//   turn            Kind::reap, the ready list, the timers
#pragma once

#include <algorithm>
#include <cassert>

#include "faio/ioengine/engine.hpp"
#include "operation_access.hpp"
#include "sanitizers.hpp"

namespace faio::ioengine {

/// For an operation without options, the common way.
[[gnu::always_inline]] inline void engine::complete_plain(operation& op, int result, std::uint32_t flags) noexcept {
  using access = detail::operation_access;
#ifdef FAIO_ADDRESS_SANITIZER
  if (_poison_buffers) detail::unpoison_buffers(op);
#endif
  detail::take_from_kernel(op);
  access::set_outcome(op, result, flags, detail::place::idle);
  --_in_flight;
  access::complete(op)(op);
}

inline void engine::complete(operation& op, int result, std::uint32_t flags) noexcept {
  using access = detail::operation_access;
  if ((flags & access::more_flag) == 0) {
    access::forget_cancel(op);
    complete_plain(op, result, flags);
    return;
  }
  access::result(op) = result;
  access::set_flags(op, flags);
#ifdef FAIO_ADDRESS_SANITIZER
  if (_poison_buffers) detail::unpoison_buffers(op);
#endif
  detail::take_from_kernel(op);
  access::complete(op)(op);
}

inline std::chrono::nanoseconds engine::time_until(time_point when) const noexcept {
  if (when == time_point::max()) return forever;
  const time_point now = _time->now();
  if (when <= now) return std::chrono::nanoseconds::zero();  // first: a difference to long ago would overflow
  return when - now;
}

inline bool engine::enter_drive() noexcept {
  assert(_owner == std::this_thread::get_id() && "the engine is driven by a thread that does not own it");
  assert(!_driving && "drive from inside a completion function");
  if (_driving) [[unlikely]]
    return false;
  _driving = true;
  if (_handle >= 0) [[unlikely]]
    _woken_between = _waker.finish_sleep();
  return true;
}

inline std::size_t engine::leave_drive(std::size_t called) noexcept {
  _driving = false;
  if (_handle >= 0) [[unlikely]]
    rest_with_handle();
  return called;
}

namespace detail {

/// Kind is final. It has start(op), which finds an operation a place, and start_special(op), the same for operations with options or
/// an engine with _special.
template <class Kind>
class engine_loop : public engine {
 public:
  bool submit_otherwise(operation& op) noexcept final {
    using access = operation_access;
    assert(!op.in_flight() && "an operation in flight was submitted again");
    if (op.in_flight()) [[unlikely]]
      return false;
    ++_in_flight;
    const bool special = (access::options(op) | (_special & ~watched)) != 0;
    if (special && started_here(op)) [[unlikely]]
      return true;
#ifdef FAIO_ADDRESS_SANITIZER
    if (_poison_buffers) {
      check_buffers(op);
      poison_buffers(op);
    }
#endif
    hand_to_kernel(op);
    if (special) [[unlikely]]
      self().start_special(op);
    else
      self().start(op);
    return true;
  }

  std::size_t drive() noexcept final {
    if (!enter_drive()) return 0;
    self().enter(no_time);
    return leave_drive(turn());
  }

  using engine::wait_and_drive;
  std::size_t wait_and_drive(time_point deadline) noexcept final {
    if (!enter_drive()) return 0;
    // Operations that are done at once are no reason to make ready for a sleep: two atomic exchanges in each turn. A wake that has come meanwhile stays
    // for the next call.
    if constexpr (requires { self().has_quick(); }) {
      if (self().has_quick()) {
        self().enter(no_time);
        if (const std::size_t called = turn(); called != 0) return leave_drive(called);
      }
    }
    for (;;) {
      auto timeout = no_time;
      if (!has_ready()) [[likely]]
        timeout = _wheel.empty() ? time_until(deadline) : time_until(std::min(*_wheel.next_deadline(), deadline));
      bool woken = _woken_between;
      _woken_between = false;
      if (timeout != no_time && !woken && prepare_sleep()) {
        self().enter(timeout);
        woken = _waker.finish_sleep();  // before any function is called: a wake from now on needs no system call
      } else {
        woken = woken || timeout != no_time;
        self().enter(no_time);
      }
      const std::size_t called = turn();
      if (called != 0 || woken || time_until(deadline) == no_time) return leave_drive(called);
    }
  }

 protected:
  static constexpr std::chrono::nanoseconds no_time = std::chrono::nanoseconds::zero();

 private:
  friend Kind;  // and nobody else makes one
  engine_loop(engine_kind kind, const engine_options& options) : engine(kind, options) {}

  /// A kind that can sleep in two ways says which before anybody may have to end it.
  bool prepare_sleep() noexcept {
    if constexpr (requires { self().prepare_bed(_waker); })
      return self().prepare_bed(_waker);
    else
      return _waker.prepare_sleep();
  }

  [[nodiscard]] Kind& self() noexcept { return static_cast<Kind&>(*this); }

  std::size_t turn() noexcept {
    std::size_t called = self().reap();
    if (has_ready()) called += run_ready();
    if (!_wheel.empty()) called += _wheel.advance(_time->now(), _most_timers);
    return called;
  }
};

}  // namespace detail
}  // namespace faio::ioengine
