// uring_services -- the uring engine's waking, its handle for other loops, and its buffer pools.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>

#include "pool_access.hpp"
#include "setup_errors.hpp"
#include "uring_abi.hpp"
#include "uring_engine.hpp"
#include "uring_tags.hpp"

namespace faio::ioengine::detail {

made_engine make_uring_engine(const engine_options& options) {
  auto made = std::make_unique<uring_engine>(options);
  if (auto opened = made->open(options); !opened) return std::unexpected(std::move(opened.error()));
  return made;
}

// ----------------------------------------------------------------------------------------------------------------- waking
//
// With nothing in flight the owner sleeps on a futex. Else a message posted to the ring by a system call that needs no ring (6.13) is the cheapest
// wake, and nothing has to be armed for it. Before that, an eventfd that the ring polls, multishot: each write is an edge, so nobody has to read it.

bool uring_engine::post_wake() const noexcept {
  io_uring_sqe message{};
  message.opcode = IORING_OP_MSG_RING;
  message.fd = _ring.fd();
  message.off = tag_wake;
  return ::syscall(__NR_io_uring_register, -1, uring_abi::register_send_msg_ring, &message, 1) == 0;
}

std::expected<void, setup_error> uring_engine::open_waking() {
  if (post_wake()) {
    _reason += ", woken by messages";
    return {};
  }
  _event_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (_event_fd < 0) return std::unexpected(explain_call_refusal("eventfd", errno));
  _watch_event = true;
  _reason += ", woken by an eventfd";
  return {};
}

void uring_engine::end_sleep() noexcept {
  // If the owner has got up since, the wake that we bring is one too many.
  if (_choice.is_aside()) {
    _bed.end();
    return;
  }
  if (_event_fd >= 0) {
    const std::uint64_t one = 1;
    // Cannot fail: the count would have to reach 2^64 - 1.
    [[maybe_unused]] const auto written = ::write(_event_fd, &one, sizeof one);
    return;
  }
  // It worked at setup, so only memory can be short: a wake must not be lost, and there is nobody to give the error to.
  while (!post_wake()) ::usleep(1000);
}

void uring_engine::watch_own(int fd, std::uint64_t tag) noexcept {
  io_uring_sqe* const sqe = own_sqe(IORING_OP_POLL_ADD, tag);
  bool& missing = tag == tag_event ? _watch_event : _watch_timer;
  missing = sqe == nullptr;
  if (sqe == nullptr) return;
  sqe->fd = fd;
  sqe->len = IORING_POLL_ADD_MULTI;
  sqe->poll32_events = std::endian::native == std::endian::little ? POLLIN : std::rotl(std::uint32_t{POLLIN}, 16);
}

void uring_engine::watch_again() noexcept {
  if (_watch_event) {
    // A new poll is by level first: without this read it would report the old count at once.
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(_event_fd, &count, sizeof count);
    watch_own(_event_fd, tag_event);
  }
  if (_watch_timer) watch_own(_timer_fd, tag_timer);
}

void uring_engine::handle_own(std::uint64_t tag, int result, std::uint32_t flags) noexcept {
  using access = operation_access;
  if ((flags & access::more_flag) != 0) return;
  // ENOENT and EALREADY of a target that has completed are the rule; with others still there, one of them may have been meant.
  // (A drain asks again by itself.)
  if (tag == tag_cancel && result < 0 && _missed == missed_cancels::none && !is_empty(_cancelled) &&
      (_special & draining) == 0)
    _missed = missed_cancels::noticed;
  if (tag == tag_again) {
    _missed = missed_cancels::none;
    _cancel_pause.tv_nsec = std::min(2 * _cancel_pause.tv_nsec, long_pause);
    move_all(_cancelled, _cancels);
  }
  if (tag == tag_event) _watch_event = true;
  if (tag == tag_timer) _watch_timer = true;
}

// ------------------------------------------------------------------------------------------------------------- the handle
//
// An eventfd that the kernel writes when there is something for us, also what it only puts into the ring inside an enter.
// (Seen on 6.18: a poll(2) that already sleeps on such a ring is not woken by that; one on the eventfd is.) Timers come into
// the ring by a timerfd that it polls.

int uring_engine::make_handle() noexcept {
  _timer_fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  _handle_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (_timer_fd < 0 || _handle_fd < 0) return -1;
  if (::syscall(__NR_io_uring_register, _ring.fd(), IORING_REGISTER_EVENTFD, &_handle_fd, 1) != 0) return -1;
  _watch_timer = true;
  return _handle_fd;
}

/// Before the look into the ring: whatever comes after this makes the handle readable again.
void uring_engine::quieten_handle() noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(_handle_fd, &count, sizeof count);
}

void uring_engine::arm_handle(std::chrono::nanoseconds timeout) noexcept {
  itimerspec when{};
  if (timeout != forever) {
    const auto wait = std::max(timeout, std::chrono::nanoseconds(1));  // zero would disarm it
    const auto seconds = std::chrono::floor<std::chrono::seconds>(wait);
    when.it_value.tv_sec = seconds.count();
    when.it_value.tv_nsec = (wait - seconds).count();
  }
  ::timerfd_settime(_timer_fd, 0, &when, nullptr);
}

// ------------------------------------------------------------------------------------------------------------------ pools

namespace {

std::size_t ring_bytes(const buffer_pool& pool) { return pool.count() * sizeof(io_uring_buf); }

}  // namespace

result<void*> uring_engine::add_pool(buffer_pool& pool) noexcept {
  const auto fail = [](int error) { return std::unexpected(std::error_code(error, std::system_category())); };
  const auto unused = std::find(_groups.begin(), _groups.end(), false);
  if (_groups.size() > 0xffff && unused == _groups.end()) return fail(ENOSPC);
  const auto group = static_cast<std::uint16_t>(unused - _groups.begin());
  if (unused == _groups.end()) {
    try {
      _groups.push_back(false);
    } catch (const std::bad_alloc&) {
      return fail(ENOMEM);
    }
  }
  void* const memory = ::mmap(nullptr, ring_bytes(pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return fail(errno);
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
  registration.ring_entries = static_cast<std::uint32_t>(pool.count());
  registration.bgid = group;
  if (::syscall(__NR_io_uring_register, _ring.fd(), IORING_REGISTER_PBUF_RING, &registration, 1) != 0) {
    const int error = errno;
    ::munmap(memory, ring_bytes(pool));
    return fail(error == EINVAL ? EOPNOTSUPP
                                : error);  // the pool has checked its values: it is the kernel that is too old
  }
  _groups[group] = true;
  pool_access::set_ring(pool, memory, group);
  return memory;
}

void uring_engine::remove_pool(buffer_pool& pool) noexcept {
  void* const memory = pool_access::ring(pool);
  if (memory == nullptr) return;
  if (in_own_process()) {
    io_uring_buf_reg registration{};
    registration.bgid = pool_access::group(pool);
    ::syscall(__NR_io_uring_register, _ring.fd(), IORING_UNREGISTER_PBUF_RING, &registration, 1);
  }
  ::munmap(memory, ring_bytes(pool));
  _groups[pool_access::group(pool)] = false;
}

}  // namespace faio::ioengine::detail
