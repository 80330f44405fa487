// uring_engine -- the way in (start, cancel, enter) and the way out (reap). Waking and pools: uring_services.cpp.
#include "uring_engine.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "pool_access.hpp"
#include "uring_abi.hpp"
#include "uring_tags.hpp"

namespace faio::ioengine::detail {

using access = operation_access;

namespace {

constexpr bool is_kernels(opcode code, int kernel_opcode) noexcept { return static_cast<int>(code) == kernel_opcode; }
static_assert(is_kernels(opcode::nop, IORING_OP_NOP) && is_kernels(opcode::readv, IORING_OP_READV) &&
              is_kernels(opcode::writev, IORING_OP_WRITEV) && is_kernels(opcode::fsync, IORING_OP_FSYNC) &&
              is_kernels(opcode::poll, IORING_OP_POLL_ADD) && is_kernels(opcode::sendmsg, IORING_OP_SENDMSG) &&
              is_kernels(opcode::recvmsg, IORING_OP_RECVMSG) && is_kernels(opcode::accept, IORING_OP_ACCEPT) &&
              is_kernels(opcode::connect, IORING_OP_CONNECT) && is_kernels(opcode::openat, IORING_OP_OPENAT) &&
              is_kernels(opcode::close, IORING_OP_CLOSE) && is_kernels(opcode::read, IORING_OP_READ) &&
              is_kernels(opcode::write, IORING_OP_WRITE) && is_kernels(opcode::send, IORING_OP_SEND) &&
              is_kernels(opcode::recv, IORING_OP_RECV) && is_kernels(opcode::shutdown, IORING_OP_SHUTDOWN) &&
              is_kernels(opcode::send_zero_copy, IORING_OP_SEND_ZC));

/// Whether an operation promises to wait where the kernel, for a descriptor that is O_NONBLOCK, may answer EAGAIN.
constexpr bool waits(opcode code) noexcept {
  return code == opcode::read || code == opcode::write || code == opcode::readv || code == opcode::writev;
}

/// Whether -ECANCELED may be what the descriptor itself has to say: a timerfd(2), whose clock was set.
constexpr bool may_be_told_of_cancelling(opcode code, std::uint64_t offset) noexcept {
  return (code == opcode::read || code == opcode::readv) && offset == operation::current_position;
}

[[noreturn]] void die_of(int error) noexcept {
  std::fprintf(stderr, "faio: io_uring_enter answered errno %d%s\n", -error,
               error == -EEXIST ? ": the engine is used on a thread that does not own it" : "");
  std::abort();
}

}  // namespace

uring_engine::uring_engine(const engine_options& options) : engine_loop(engine_kind::uring, options), _ring(_window) {
  make_empty(_in_kernel);
  make_empty(_cancels);
  make_empty(_cancelled);
  make_empty(_backlog);
}

std::expected<void, setup_error> uring_engine::open(const engine_options& options, std::size_t skip) {
  if (auto opened = _ring.open(options.ring_entries, skip); !opened) return opened;
  _listed = !_ring.can_cancel_any();
  decide_special();
  _open = true;
  _zero_copy = _ring.supports(IORING_OP_SEND_ZC);
  _reason = _ring.describe();
  return open_waking();
}

uring_engine::~uring_engine() {
  if (_open && in_own_process()) drain();
  // In a child of a fork: these are copies of the parent's descriptors and mappings; the ring itself is untouched.
  if (_open) _ring.close();
  if (_event_fd >= 0) ::close(_event_fd);
  if (_timer_fd >= 0) ::close(_timer_fd);
  if (_handle_fd >= 0) ::close(_handle_fd);
}

// ------------------------------------------------------------------------------------------------------------- the way in

static_assert(sizeof(submission_window::entry) == sizeof(io_uring_sqe) &&
              offsetof(submission_window::entry, offset) == offsetof(io_uring_sqe, off) &&
              offsetof(submission_window::entry, address) == offsetof(io_uring_sqe, addr) &&
              offsetof(submission_window::entry, extent) == offsetof(io_uring_sqe, len) &&
              offsetof(submission_window::entry, user_data) == offsetof(io_uring_sqe, user_data) &&
              offsetof(submission_window::entry, buffer_group) == offsetof(io_uring_sqe, buf_index));
static_assert(offsetof(access::what, code) == offsetof(io_uring_sqe, opcode) &&
              offsetof(access::what, options) == offsetof(io_uring_sqe, flags) &&
              offsetof(access::what, fd) == offsetof(io_uring_sqe, fd) &&
              offsetof(access::extent, op_flags) == offsetof(io_uring_sqe, rw_flags) - offsetof(io_uring_sqe, len));

inline void uring_engine::fill(io_uring_sqe& sqe, operation& op) noexcept {
  _window.fill(reinterpret_cast<submission_window::entry&>(sqe), op);
}

[[gnu::always_inline]] inline void uring_engine::start(operation& op) noexcept {
  io_uring_sqe* sqe = _ring.next_sqe();
  if (sqe == nullptr) [[unlikely]] {
    sqe = make_room();
    if (sqe == nullptr) return keep_for_later(op);
  }
  fill(*sqe, op);
  access::put(op, place::kernel);
}

void uring_engine::start_special(operation& op) noexcept {
  io_uring_sqe* sqe = is_empty(_backlog) ? _ring.next_sqe() : nullptr;
  if (sqe == nullptr && is_empty(_backlog)) sqe = make_room();
  if (sqe == nullptr) return keep_for_later(op);
  launch_special(*sqe, op);
}

void uring_engine::launch_special(io_uring_sqe& sqe, operation& op) noexcept {
  fill(sqe, op);
  sqe.flags = 0;  // there, an operation has its options
  if (access::is(op, access::pooled)) {
    sqe.flags = IOSQE_BUFFER_SELECT;
    sqe.addr = 0;
    sqe.buf_group = pool_access::group(access::pool(op));
  }
  if (access::is(op, access::multishot))
    sqe.ioprio = op.code() == opcode::accept ? uring_abi::accept_multishot : uring_abi::recv_multishot;
  if (access::is(op, access::zero_copy) && (!_zero_copy || access::is(op, access::by_copy)))
    sqe.opcode = IORING_OP_SEND;
  if (access::is(op, access::pausing)) {
    sqe = io_uring_sqe{};
    sqe.opcode = IORING_OP_TIMEOUT;
    sqe.fd = -1;
    sqe.addr = reinterpret_cast<std::uintptr_t>(&short_pause);
    sqe.len = 1;
    sqe.user_data = reinterpret_cast<std::uintptr_t>(&op);
  }
  access::put(op, place::kernel);
  if (_listed) push_back(_in_kernel, op);
}

/// Whether submits must come by start_special: while there is a backlog (I2), and for the list.
void uring_engine::decide_special() noexcept {
  if (_listed || !is_empty(_backlog))
    _special |= kind_is_special;
  else
    _special &= static_cast<std::uint8_t>(~kind_is_special);
}

void uring_engine::keep_for_later(operation& op) noexcept {
  access::put(op, place::backlog);
  push_back(_backlog, op);
  decide_special();
}

io_uring_sqe* uring_engine::make_room() noexcept {
  if (_ring.completions_full() || _ring.overflowed()) return nullptr;  // I3
  const int error = _ring.enter(no_time);
  if (error != 0) handle_refusal(error, no_time);
  return _ring.next_sqe();
}

void uring_engine::ask_to_cancel(operation& op) noexcept {
  if (access::where(op) == place::backlog) {
    unlink(op);
    decide_special();
    complete_later(op, -ECANCELED);
    return;
  }
  if (_listed) unlink(op);
  push_back(send_cancel(op) ? _cancelled : _cancels, op);
  _cancel_pause = short_pause;
}

/// An entry for the engine itself, or null: no room now.
io_uring_sqe* uring_engine::own_sqe(std::uint8_t kernel_opcode, std::uint64_t tag) noexcept {
  io_uring_sqe* sqe = _ring.next_sqe();
  if (sqe == nullptr) sqe = make_room();
  if (sqe == nullptr) return nullptr;
  *sqe = io_uring_sqe{};
  sqe->opcode = kernel_opcode;
  sqe->fd = -1;
  sqe->user_data = tag;
  return sqe;
}

/// False: no room now.
bool uring_engine::send_cancel(std::uint64_t target, std::uint32_t flags, std::uint64_t tag) noexcept {
  io_uring_sqe* const sqe = own_sqe(IORING_OP_ASYNC_CANCEL, tag);
  if (sqe == nullptr) return false;
  sqe->addr = target;
  sqe->cancel_flags = flags;
  return true;
}
bool uring_engine::send_cancel(operation& op) noexcept {
  return send_cancel(reinterpret_cast<std::uintptr_t>(&op), 0, tag_cancel);
}

/// I4: soon, but not at once and less and less often: what a cancel cannot end (a file, a send that nobody acknowledges) may take
/// its time.
void uring_engine::pause_cancels() noexcept {
  io_uring_sqe* const sqe = own_sqe(IORING_OP_TIMEOUT, tag_again);
  if (sqe == nullptr) return;
  sqe->addr = reinterpret_cast<std::uintptr_t>(&_cancel_pause);
  sqe->len = 1;
  _missed = missed_cancels::pausing;
}

void uring_engine::cancel_all() noexcept {
  while (!is_empty(_backlog)) complete_later(pop_front(_backlog), -ECANCELED);
  decide_special();
  if (!_listed) {
    // The engine's own polls are ended too: handle_own arms them again. No room: drain calls again.
    if (in_flight() != 0) (void)send_cancel(0, IORING_ASYNC_CANCEL_ALL | IORING_ASYNC_CANCEL_ANY, tag_ignored);
    return;
  }
  for (operation_link* list : {&_in_kernel, &_cancelled})
    for (operation_link* link = list->next; link != list; link = link->next)
      if (!send_cancel(reinterpret_cast<std::uintptr_t>(&access::from(*link)), 0, tag_ignored)) return;
}

/// Before an operation that was with the kernel completes.
inline void uring_engine::leave_lists(operation& op) noexcept {
  if (_listed || access::is(op, access::cancel_asked)) [[unlikely]]
    unlink(op);
}

/// Moves what was kept into the submission ring. True: all of it.
bool uring_engine::refill() noexcept {
  while (!is_empty(_cancels)) {
    operation& op = front(_cancels);
    if (!send_cancel(op)) return false;
    unlink(op);
    push_back(_cancelled, op);
  }
  while (!is_empty(_backlog)) {
    io_uring_sqe* const sqe = _ring.next_sqe();
    if (sqe == nullptr) return false;
    launch_special(*sqe, pop_front(_backlog));
  }
  decide_special();
  return true;
}

/// With nothing under way nothing can come but a wake or a timer, and a futex is woken in half the time of a ring.
[[gnu::always_inline]] inline bool uring_engine::prepare_bed(waker<>& handshake) noexcept {
  const bool nothing = in_flight() == 0 && _ring.unsubmitted() == 0 && !has_chores() && _ring.completions() == 0 &&
                       !_ring.kernel_has_more();
  return _choice.prepare_sleep(handshake, nothing);
}

[[gnu::always_inline]] inline void uring_engine::enter(std::chrono::nanoseconds timeout) noexcept {
  if (timeout != no_time && _choice.is_aside()) {
    _bed.sleep(timeout);
    _choice.get_up();
    return;
  }
  if (has_chores() && !do_chores(timeout)) [[unlikely]]
    return;
  if (_ring.completions() != 0) timeout = no_time;
  if (timeout == no_time && _ring.unsubmitted() == 0 && !_ring.kernel_has_more()) return;
  const int error = _ring.enter(timeout);
  _window.quick = false;
  if (error != 0) [[unlikely]]
    handle_refusal(error, timeout);
}

inline bool uring_engine::has_chores() const noexcept {
  return _watch_event || _watch_timer || _missed == missed_cancels::noticed || _handle_fd >= 0 || !is_empty(_backlog) ||
         !is_empty(_cancels);
}

/// What an enter rarely has to do before. False: the kernel takes nothing now, and has been waited for.
bool uring_engine::do_chores(std::chrono::nanoseconds& timeout) noexcept {
  if (_watch_event || _watch_timer) watch_again();
  if (_missed == missed_cancels::noticed) pause_cancels();
  if (_handle_fd >= 0) quieten_handle();
  if (is_empty(_backlog) && is_empty(_cancels)) return true;
  while (!refill()) {
    if (_ring.completions_full() || _ring.overflowed()) {  // I3: reap first
      timeout = no_time;
      return true;
    }
    const unsigned before = _ring.unsubmitted();
    const int error = _ring.enter(no_time);
    if (error != 0) {
      handle_refusal(error, timeout);
      return false;
    }
    if (_ring.unsubmitted() == before) return true;
  }
  return true;
}

void uring_engine::handle_refusal(int error, std::chrono::nanoseconds timeout) noexcept {
  using namespace std::chrono_literals;
  switch (error) {
    case -ETIME:
    case -EINTR:  // a signal ended the wait: the caller looks at its deadline and comes again
      return;
    case -EBUSY:
    case -EAGAIN:
    case -ENOMEM: {
      // The kernel takes nothing now: completions must be reaped first, or memory is short. All entries are still in the ring.
      // Wait for a completion instead of trying again at once; not for long, since perhaps nothing is on its way.
      if (timeout == 0ns) return;
      const auto pause = timeout < 0ns ? 1ms : std::min<std::chrono::nanoseconds>(timeout, 1ms);
      const int waited = _ring.enter(pause, false);
      // Refused again, without anything to submit: sleep without the ring, so that this is never a spin.
      if (waited == -EBUSY || waited == -EAGAIN || waited == -ENOMEM) ::usleep(1000);
      return;
    }
    default:
      die_of(error);
  }
}

// ------------------------------------------------------------------------------------------------------------ the way out

/// True: a function was called.
[[gnu::always_inline]] inline bool uring_engine::handle_completion(std::uint64_t user_data, int result,
                                                                   std::uint32_t flags) noexcept {
  if ((user_data & tag_mask) != 0) [[unlikely]] {
    handle_own(user_data, result, flags);
    return false;
  }
  operation& op = *reinterpret_cast<operation*>(user_data);
  if ((access::options(op) | _listed) != 0 || result < 0) [[unlikely]]
    return handle_special(op, result, flags);
  complete_plain(op, result, 0);
  return true;
}

[[gnu::always_inline]] inline std::size_t uring_engine::reap() noexcept {
  std::size_t no_calls = 0;
  const std::size_t taken = _ring.take_completions(
      most_completions(), [&](std::uint64_t user_data, int result, std::uint32_t flags) noexcept {
        if (!handle_completion(user_data, result, flags)) ++no_calls;
      });
  return taken - no_calls;
}

bool uring_engine::handle_special(operation& op, int result, std::uint32_t flags) noexcept {
  if (access::is(op, access::zero_copy) && handle_zero_copy(op, result, flags)) return false;
  if (access::is(op, access::zero_copy) && (flags & uring_abi::notification) != 0) result = access::result(op);
  if (result < 0 && handle_refused_wait(op, result)) return false;
  if ((flags & access::buffer_flag) != 0) {
    const auto id = static_cast<std::uint16_t>(flags >> 16);
    buffer_pool& pool = access::pool(op);
    pool_access::mark_taken(pool, id);
    if (result <= 0) {  // taken for nothing
      pool.give_back(id);
      flags &= ~access::buffer_flag;
    }
  }
  bool more = access::is(op, access::multishot) && (flags & access::more_flag) != 0;
  if (!more && was_cut_short(op, result)) {
    start_again(op, 0);
    more = true;
  }
  if (!more) leave_lists(op);
  constexpr std::uint32_t buffer_bits = 0xffff'0000U | access::buffer_flag;
  complete(op, result, (flags & buffer_bits) | (more ? access::more_flag : 0));
  return true;
}

/// A multishot operation that the kernel has ended with a good result: the completion ring was full. The promise is to go on.
///   SocketTest.AMultishotAcceptGoesOnWhenTheCompletionQueueWasFull
bool uring_engine::was_cut_short(const operation& op, int result) const noexcept {
  return access::is(op, access::multishot) && (op.code() == opcode::accept ? result >= 0 : result > 0) &&
         !is_ending(op);
}

/// A zero-copy send completes twice: with its result, and when the buffer is free. True: not finished yet.
bool uring_engine::handle_zero_copy(operation& op, int result, std::uint32_t flags) noexcept {
  if ((flags & access::more_flag) != 0) {
    access::result(op) = result;
    return true;
  }
  const int final = (flags & uring_abi::notification) != 0 ? access::result(op) : result;
  if (final != -EOPNOTSUPP || access::is(op, access::by_copy) || access::is(op, access::cancel_asked)) return false;
  // The socket cannot (unix sockets, say): the promise is to copy then.
  start_again(op, access::by_copy);
  return true;
}

/// Errors that come only of how the kernel waits. After many calls for nothing it gives the wait to a thread of its own, which on
/// an O_NONBLOCK descriptor does not wait, and which a cancel interrupts. And when it needs such a thread, for fsync(2) say, and signals keep it
/// from making one, it cancels what nobody wanted to be cancelled. True: not finished yet.
///   FileTest.AReaderThatIsCalledForNothingManyTimesGoesOnWaiting, SignalTest.InterruptsAreNotSeenByTheLoop
bool uring_engine::handle_refused_wait(operation& op, int& result) noexcept {
  // ERESTARTSYS, which is the kernel's own, and comes out all the same: an open that a cancel has interrupted (seen on 6.18).
  constexpr int restart = 512;
  const bool paused = access::is(op, access::pausing) && result == -ETIME;
  const bool refused = (result == -EAGAIN && waits(op.code())) ||
                       (result == -ECANCELED && !may_be_told_of_cancelling(op.code(), access::offset(op)));
  if (is_ending(op)) {
    if (paused || refused || result == -EINTR || result == -restart) result = -ECANCELED;
    return false;
  }
  if (paused) {
    access::options(op) &= static_cast<std::uint8_t>(~access::pausing);
    start_again(op, 0);
  } else if (refused) {
    // Not at once, or a descriptor that always answers so would make this a spin; and not when it is readable: what has no
    // readiness would say so always.
    start_again(op, access::pausing);
  }
  return paused || refused;
}

/// From inside its own completion, as something else.
void uring_engine::start_again(operation& op, std::uint8_t option) noexcept {
  leave_lists(op);
  access::options(op) |= option;
  start_special(op);
}

template class engine_loop<uring_engine>;

}  // namespace faio::ioengine::detail
