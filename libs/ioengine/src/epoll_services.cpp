// epoll_services -- the epoll engine's opening, sleeping, waking, and its handle for other loops.
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "epoll_engine.hpp"
#include "setup_errors.hpp"

namespace faio::ioengine::detail {

namespace {

// In an event's data where others have their number: no descriptor is negative.
constexpr std::uint64_t own_descriptor = 0xffff'ffffU;

timespec to_timespec(std::chrono::nanoseconds time) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  timespec spec{};
  spec.tv_sec = seconds.count();
  spec.tv_nsec = (time - seconds).count();
  return spec;
}

/// Edge triggered: each write, each expiry is one event, and nobody has to read it away.
bool watch_own(int epoll_fd, int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = own_descriptor;
  return ::epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

made_engine make_epoll_engine(const engine_options& options, std::string reason) {
  auto made = std::make_unique<epoll_engine>(options, std::move(reason));
  if (auto opened = made->open(); !opened) return std::unexpected(std::move(opened.error()));
  return made;
}

epoll_engine::epoll_engine(const engine_options& options, std::string reason)
    : engine_loop(engine_kind::epoll, options), _pool_threads(options.blocking_threads) {
  _reason = std::move(reason);
  make_empty(_again);
  make_empty(_later);
  make_empty(_orphans);
}

std::expected<void, setup_error> epoll_engine::open() {
  _epoll_fd = ::epoll_create1(EPOLL_CLOEXEC);
  if (_epoll_fd < 0) return std::unexpected(explain_call_refusal("epoll_create1", errno));
  _event_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (_event_fd < 0) return std::unexpected(explain_call_refusal("eventfd", errno));
  if (!watch_own(_epoll_fd, _event_fd)) return std::unexpected(explain_call_refusal("epoll_ctl", errno));
  return {};
}

epoll_engine::~epoll_engine() {
  if (in_own_process())
    drain();
  else
    // A child of a fork has no pool threads, and perhaps a mutex that one of them held: leave all of it alone. The memory is
    // small, and the child is about to exec or exit.
    (void)_pool.release();
  _pool.reset();  // before the eventfd, which its threads write to
  // Plain closes, no epoll_ctl: in a child of a fork these are copies, and the parent's registrations stay.
  for (const int fd : {_timer_fd, _event_fd, _epoll_fd})
    if (fd >= 0) ::close(fd);
}

int epoll_engine::wait_for_events(epoll_event* events, int capacity, std::chrono::nanoseconds timeout) noexcept {
  if (_precise_wait) {
    const timespec spec = to_timespec(std::max(timeout, std::chrono::nanoseconds::zero()));
    const auto* const limit = timeout < std::chrono::nanoseconds::zero() ? nullptr : &spec;
    const auto count = ::syscall(SYS_epoll_pwait2, _epoll_fd, events, capacity, limit, nullptr, 0);
    if (count >= 0) return static_cast<int>(count);
    if (errno != ENOSYS && errno != EPERM) return 0;  // EINTR: the caller looks at its deadline and comes again
    _precise_wait = false;                            // before 5.11, or a policy that is older than the call
  }
  int milliseconds = -1;
  if (timeout >= std::chrono::nanoseconds::zero())  // rounded up: never early
    milliseconds = static_cast<int>(
        std::min<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count(), INT_MAX));
  return std::max(::epoll_wait(_epoll_fd, events, capacity, milliseconds), 0);
}

void epoll_engine::end_sleep() noexcept {
  const std::uint64_t one = 1;
  // Cannot fail: the count would have to reach 2^64 - 1.
  [[maybe_unused]] const auto written = ::write(_event_fd, &one, sizeof one);
}

int epoll_engine::make_handle() noexcept {
  _timer_fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (_timer_fd < 0 || !watch_own(_epoll_fd, _timer_fd)) return -1;
  return _epoll_fd;
}

void epoll_engine::arm_handle(std::chrono::nanoseconds timeout) noexcept {
  itimerspec when{};
  if (timeout != forever)
    when.it_value = to_timespec(std::max(timeout, std::chrono::nanoseconds(1)));  // zero would disarm it
  ::timerfd_settime(_timer_fd, 0, &when, nullptr);
}

}  // namespace faio::ioengine::detail
