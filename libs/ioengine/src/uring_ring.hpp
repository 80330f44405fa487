// uring_ring -- the two rings shared with the kernel: setup with what this kernel has, entries in, entries out, enter.
//
// Everything is the owner's. The memory is shared with the kernel alone: the owner writes the submission tail and the
// completion head, the kernel the other two.
#pragma once

#include <liburing.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <expected>
#include <string>

#include "enter_call.hpp"
#include "faio/ioengine/engine_options.hpp"
#include "faio/ioengine/submission_window.hpp"

namespace faio::ioengine::detail {

class uring_ring {
 public:
  explicit uring_ring(submission_window& window) noexcept : _window(window) {}
  uring_ring(const uring_ring&) = delete;
  uring_ring& operator=(const uring_ring&) = delete;

  /// Makes the ring with the best flags that the kernel takes, leaving out the `skip` best sets. Once.
  [[nodiscard]] std::expected<void, setup_error> open(unsigned entries, std::size_t skip = 0);
  /// Unmaps and closes. In a child of a fork too: the parent's ring stays.
  void close() noexcept;

  /// What it uses of the kernel, in words.
  [[nodiscard]] std::string describe() const;

  /// A submission entry to be written, all of it, or null when all are taken.
  [[nodiscard]] io_uring_sqe* next_sqe() noexcept {
    if (!_window.has_room() && !move_window()) [[unlikely]]
      return nullptr;
    return reinterpret_cast<io_uring_sqe*>(_window.next++);
  }
  [[nodiscard]] unsigned unsubmitted() const noexcept {
    // relaxed: without a polling thread, the kernel moves the head only inside our own enter.
    return sq_tail() - __atomic_load_n(_ring.sq.khead, __ATOMIC_RELAXED);
  }

  /// The kernel has completions that it can put into the ring only inside an enter.
  [[nodiscard]] bool kernel_has_more() const noexcept {
    return (__atomic_load_n(_ring.sq.kflags, __ATOMIC_RELAXED) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
  }
  [[nodiscard]] bool overflowed() const noexcept {
    return (__atomic_load_n(_ring.sq.kflags, __ATOMIC_RELAXED) & IORING_SQ_CQ_OVERFLOW) != 0;
  }

  /// Submits what there is, if `submit`. Blocks until a completion is there or the time is over, if timeout is not zero
  /// (negative: without end). Gives 0 or the kernel's -errno; -ETIME and -EINTR are no errors but ends of the wait.
  int enter(std::chrono::nanoseconds timeout, bool submit = true) noexcept;

  /// Completions that can be taken now.
  [[nodiscard]] unsigned completions() const noexcept { return tail() - *_ring.cq.khead; }
  [[nodiscard]] bool completions_full() const noexcept { return completions() >= _ring.cq.ring_entries; }

  /// Takes what is there now, at most so many, one by one; the slot is free again before `visit(user_data, result, flags)` runs, so
  /// visit may enter. Gives how many.
  template <class Visit>
  unsigned take_completions(std::size_t most, Visit visit) noexcept {
    unsigned* const shared_head = _ring.cq.khead;
    const io_uring_cqe* const entries = _ring.cq.cqes;
    const unsigned mask = _ring.cq.ring_mask;
    unsigned head = *shared_head;
    const unsigned count = static_cast<unsigned>(std::min<std::size_t>(tail() - head, most));
    const unsigned end = head + count;
    while (head != end) {
      if (end - head > ahead) fetch(entries[(head + ahead) & mask].user_data);
      const io_uring_cqe& cqe = entries[head & mask];
      const std::uint64_t user_data = cqe.user_data;
      const std::int32_t result = cqe.res;
      const std::uint32_t flags = cqe.flags;
      // release, pairs with the kernel's acquire of the head: the entry was read before it is written again.
      __atomic_store_n(shared_head, ++head, __ATOMIC_RELEASE);
      visit(user_data, result, flags);
    }
    return count;
  }

  [[nodiscard]] int fd() const noexcept { return _ring.ring_fd; }
  /// Whether one entry can cancel everything: 5.19, as cooperative task running.
  [[nodiscard]] bool can_cancel_any() const noexcept { return (_setup_flags & IORING_SETUP_COOP_TASKRUN) != 0; }
  [[nodiscard]] bool supports(std::uint8_t kernel_opcode) noexcept;

 private:
  /// How far ahead of its turn what a completion is for is asked for: an operation that others have kept the cache from for long is 100 ns away, and one
  /// completion takes about half of that.
  static constexpr unsigned ahead = 2;
  /// The operation, and the line behind it, where whoever it is a part of has what it needs first. If it is none, nothing happens.
  static void fetch(std::uint64_t user_data) noexcept {
    constexpr std::uint64_t line = 64;
    __builtin_prefetch(reinterpret_cast<const void*>(user_data), 1);
    __builtin_prefetch(reinterpret_cast<const void*>(user_data + line), 1);
  }

  using entry = submission_window::entry;
  [[nodiscard]] unsigned sq_tail() const noexcept {
    return _ring.sq.sqe_tail + static_cast<unsigned>(_window.next - _counted);
  }
  /// To the free entries that follow each other, when those before are used up. False: there are none.
  bool move_window() noexcept {
    const unsigned tail = _ring.sq.sqe_tail = sq_tail();
    // relaxed: see unsubmitted.
    const unsigned room = __atomic_load_n(_ring.sq.khead, __ATOMIC_RELAXED) + _ring.sq.ring_entries - tail;
    const unsigned at = tail & _ring.sq.ring_mask;
    _counted = _window.next = reinterpret_cast<entry*>(_ring.sq.sqes) + at;
    _window.end = _window.next + std::min(room, _ring.sq.ring_entries - at);
    return room != 0;
  }
  [[nodiscard]] int call_enter(std::chrono::nanoseconds timeout, unsigned to_submit) const noexcept;
  // acquire, pairs with the kernel's release of the tail: the entries before it are written.
  [[nodiscard]] unsigned tail() const noexcept { return __atomic_load_n(_ring.cq.ktail, __ATOMIC_ACQUIRE); }

  io_uring _ring{};
  submission_window& _window;
  const entry* _counted = nullptr;  // _ring.sq.sqe_tail counts to here
  unsigned _setup_flags = 0;
  unsigned _enter_flags = 0;  // on every enter: the registered ring
  unsigned _wait_flags = 0;   // on every enter that blocks
  int _enter_fd = -1;
};

[[gnu::always_inline]] inline int uring_ring::enter(std::chrono::nanoseconds timeout, bool submit) noexcept {
  // release, pairs with the kernel's acquire of the tail: the entries are written.
  __atomic_store_n(_ring.sq.ktail, sq_tail(), __ATOMIC_RELEASE);
  const int entered = call_enter(timeout, submit ? unsubmitted() : 0);
  return entered < 0 ? entered : 0;
}

[[gnu::always_inline]] inline int uring_ring::call_enter(std::chrono::nanoseconds timeout,
                                                         unsigned to_submit) const noexcept {
  constexpr auto no_time = std::chrono::nanoseconds::zero();
  const auto fd = static_cast<unsigned>(_enter_fd);
  const unsigned flags = _enter_flags | IORING_ENTER_GETEVENTS;
  if (timeout <= no_time) {
    const bool wait = timeout < no_time;
    return enter_call(fd, to_submit, wait ? 1 : 0, wait ? flags | _wait_flags : flags, nullptr, 0);
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  __kernel_timespec time{};
  time.tv_sec = seconds.count();
  time.tv_nsec = (timeout - seconds).count();
  io_uring_getevents_arg argument{};
  argument.ts = reinterpret_cast<std::uintptr_t>(&time);
  return enter_call(fd, to_submit, 1, flags | _wait_flags | IORING_ENTER_EXT_ARG, &argument, sizeof argument);
}

}  // namespace faio::ioengine::detail
