// uring_engine -- operations as entries of a ring; see uring_ring.hpp for the ring itself.
//
//   submit -> [submission ring] -enter-> kernel -> [completion ring] -reap-> completion function
//        \-> [backlog] --------^  when the ring is full and the kernel would only pile up what nobody has reaped
//
// Invariants
//   I1 Every started operation is with the kernel, in _backlog or in the ready list. The kernel can be asked to cancel all that it
//      has; where it cannot (before 5.19), operations with the kernel are listed in _in_kernel. So drain finds all of them.
//   I2 Operations reach the kernel in the order of their submits: while the backlog has something, all go there. Cancels are
//      later than their targets, and an operation that is submitted again is later than the cancel of its earlier life.
//   I3 A full submission ring is flushed only while the completion ring has room: what the kernel keeps for us beyond the rings
//      is at most one batch, besides what waits for the outside world.
//   I4 A cancel can miss: an operation that the kernel is moving between two of its lists (a queue of work, a thread, a poll) is in
//      neither. So whoever is cancelled is in _cancels or _cancelled until it completes, and is asked again when a cancel missed.
//   I5 The low bits of user_data tell operations (0, they are aligned) from the engine's own entries.
#pragma once

#include <cstdint>
#include <vector>

#include "engine_factory.hpp"
#include "engine_loop.hpp"
#include "faio/ioengine/bed_choice.hpp"
#include "futex_bed.hpp"
#include "operation_access.hpp"
#include "uring_ring.hpp"

namespace faio::ioengine::detail {

class uring_engine final : public engine_loop<uring_engine> {
 public:
  explicit uring_engine(const engine_options& options);
  /// `skip`: how many of the best sets of flags to leave out, to try what an older kernel would do.
  [[nodiscard]] std::expected<void, setup_error> open(const engine_options& options, std::size_t skip = 0);
  ~uring_engine() override;
  [[nodiscard]] std::size_t unsubmitted() const noexcept override { return _ring.unsubmitted(); }

 private:
  friend engine_loop<uring_engine>;

  /// For what must be tried again, and not at once.
  static constexpr __kernel_timespec short_pause{.tv_sec = 0, .tv_nsec = 1'000'000};
  static constexpr long long long_pause = 500'000'000;

  void start(operation& op) noexcept;
  void start_special(operation& op) noexcept;
  void ask_to_cancel(operation& op) noexcept override;
  void enter(std::chrono::nanoseconds timeout) noexcept override;
  std::size_t reap() noexcept override;
  void end_sleep() noexcept override;
  void cancel_all() noexcept override;
  [[nodiscard]] bool busy() const noexcept override { return _ring.completions() != 0 || _ring.kernel_has_more(); }
  [[nodiscard]] bool has_quick() const noexcept { return _window.quick; }
  [[nodiscard]] bool expects_answers() const noexcept override { return _window.quick || busy() || has_chores(); }
  int make_handle() noexcept override;
  void arm_handle(std::chrono::nanoseconds timeout) noexcept override;
  result<void*> add_pool(buffer_pool& pool) noexcept override;
  void remove_pool(buffer_pool& pool) noexcept override;

  [[nodiscard]] io_uring_sqe* make_room() noexcept;
  void fill(io_uring_sqe& sqe, operation& op) noexcept;
  void launch_special(io_uring_sqe& sqe, operation& op) noexcept;
  void decide_special() noexcept;
  void keep_for_later(operation& op) noexcept;
  [[nodiscard]] bool send_cancel(std::uint64_t target, std::uint32_t flags, std::uint64_t tag) noexcept;
  [[nodiscard]] bool send_cancel(operation& op) noexcept;
  [[nodiscard]] io_uring_sqe* own_sqe(std::uint8_t kernel_opcode, std::uint64_t tag) noexcept;
  void leave_lists(operation& op) noexcept;
  bool refill() noexcept;
  [[nodiscard]] bool has_chores() const noexcept;
  bool do_chores(std::chrono::nanoseconds& timeout) noexcept;
  void handle_refusal(int error, std::chrono::nanoseconds timeout) noexcept;

  bool handle_completion(std::uint64_t user_data, int result, std::uint32_t flags) noexcept;
  bool handle_special(operation& op, int result, std::uint32_t flags) noexcept;
  bool handle_zero_copy(operation& op, int result, std::uint32_t flags) noexcept;
  bool handle_refused_wait(operation& op, int& result) noexcept;
  [[nodiscard]] bool was_cut_short(const operation& op, int result) const noexcept;
  [[nodiscard]] bool is_ending(const operation& op) const noexcept {
    return operation_access::is(op, operation_access::cancel_asked) || (_special & draining) != 0;
  }
  void start_again(operation& op, std::uint8_t option) noexcept;
  void handle_own(std::uint64_t tag, int result, std::uint32_t flags) noexcept;
  void pause_cancels() noexcept;
  [[nodiscard]] std::expected<void, setup_error> open_waking();
  void watch_own(int fd, std::uint64_t tag) noexcept;
  void watch_again() noexcept;
  void quieten_handle() noexcept;
  [[nodiscard]] bool post_wake() const noexcept;

  [[nodiscard]] bool prepare_bed(waker<>& handshake) noexcept;

  uring_ring _ring;
  futex_bed _bed;
  bed_choice<> _choice;       // aside: the futex
  operation_link _in_kernel;  // only if _listed; or else nobody pays for the list
  operation_link _cancels;    // with the kernel, and their cancel is still to be sent
  operation_link _cancelled;  // with the kernel, and their cancel too
  operation_link _backlog;
  bool _open = false;
  bool _zero_copy = false;
  bool _listed = false;
  bool _watch_event = false;  // the poll of _event_fd or _timer_fd has ended and must be armed again
  bool _watch_timer = false;
  enum class missed_cancels : std::uint8_t { none, noticed, pausing } _missed = missed_cancels::none;
  __kernel_timespec _cancel_pause = short_pause;
  int _event_fd = -1;  // only where the kernel cannot post to a ring from a thread without one
  int _timer_fd = -1;  // only with a handle, and so is the next
  int _handle_fd = -1;
  std::vector<bool> _groups;
};

// Made in uring_engine.cpp only, where start, enter and reap can be inlined into it.
extern template class engine_loop<uring_engine>;

}  // namespace faio::ioengine::detail
