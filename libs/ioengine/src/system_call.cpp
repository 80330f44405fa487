// system_call -- which calls give, without io_uring, the results that io_uring gives.
#include "system_call.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "operation_access.hpp"
#include "pool_access.hpp"

namespace faio::ioengine::detail {

using access = operation_access;
using outcome = attempt::outcome;

namespace {

/// Calls again when a signal came between; gives the result or -errno.
template <class Call>
auto call(Call function) noexcept -> ssize_t {
  for (;;) {
    const auto got = function();
    if (got >= 0) return static_cast<ssize_t>(got);
    if (errno != EINTR) return -errno;
  }
}

attempt done(ssize_t result) noexcept { return {outcome::done, static_cast<int>(result)}; }

bool is_read(const operation& op) noexcept { return op.code() == opcode::read || op.code() == opcode::readv; }

/// The buffers of read, write, readv or writev as one kind of thing.
struct vector_view {
  iovec single{};
  const iovec* first;
  int count;

  explicit vector_view(const operation& op) noexcept {
    if (op.code() == opcode::read || op.code() == opcode::write) {
      single = {access::address(op), access::length(op)};
      first = &single;
      count = 1;
    } else {
      first = static_cast<const iovec*>(access::address(op));
      count = static_cast<int>(access::length(op));
    }
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (int i = 0; i < count; ++i) sum += first[i].iov_len;
    return sum;
  }
};

/// What is left of them after some bytes, for a call that goes on where another has stopped.
class rest_of_buffers {
 public:
  rest_of_buffers(const iovec* first, std::size_t count, std::size_t done) noexcept {
    for (; count != 0 && done >= first->iov_len; ++first, --count) done -= first->iov_len;
    _count = std::min<std::size_t>(count, _buffers.size());  // the call before took them all: there are no more
    std::copy_n(first, _count, _buffers.begin());
    if (_count == 0) return;
    _buffers[0].iov_base = static_cast<std::byte*>(_buffers[0].iov_base) + done;
    _buffers[0].iov_len -= done;
  }
  [[nodiscard]] iovec* first() noexcept { return _buffers.data(); }
  [[nodiscard]] std::size_t count() const noexcept { return _count; }

 private:
  std::array<iovec, IOV_MAX> _buffers;
  std::size_t _count;
};

ssize_t transfer(const operation& op, const iovec* first, int count, std::uint64_t offset, int flags) noexcept {
  const auto at = static_cast<off_t>(offset);
  const int fd = access::fd(op);
  return call(
      [&] { return is_read(op) ? ::preadv2(fd, first, count, at, flags) : ::pwritev2(fd, first, count, at, flags); });
}
ssize_t transfer(const operation& op, const vector_view& view, std::uint64_t offset, int flags) noexcept {
  return transfer(op, view.first, view.count, offset, flags);
}

/// The plain calls, for descriptors that know no RWF_NOWAIT and were reported ready. At most PIPE_BUF at a time: that is what
/// "ready for writing" promises not to block.
attempt transfer_when_ready(const operation& op, const vector_view& view) noexcept {
  pollfd state{access::fd(op), static_cast<short>(is_read(op) ? POLLIN : POLLOUT), 0};
  if (::poll(&state, 1, 0) == 0) return {outcome::wait};
  if (is_read(op)) return done(call([&] { return ::readv(access::fd(op), view.first, view.count); }));
  const iovec* const end = view.first + view.count;
  const iovec* const first = std::find_if(view.first, end, [](const iovec& each) { return each.iov_len != 0; });
  if (first == end) return done(0);
  const iovec piece{first->iov_base, std::min<std::size_t>(first->iov_len, PIPE_BUF)};
  return done(call([&] { return ::writev(access::fd(op), &piece, 1); }));
}

/// A short transfer at an offset is the end of the file, or only the part that was in the page cache.
bool reached_end(const operation& op, std::uint64_t position) noexcept {
  if (!is_read(op)) return false;
  std::byte probe{};
  const iovec one{&probe, 1};
  return call([&] { return ::preadv2(access::fd(op), &one, 1, static_cast<off_t>(position), RWF_NOWAIT); }) == 0;
}

/// What was moved before the rest went to the pool is kept in the flags, which these operations do not use here.
attempt try_transfer(operation& op, bool ready) noexcept {
  const vector_view view(op);
  std::uint64_t offset = access::offset(op);
  ssize_t got = transfer(op, view, offset, RWF_NOWAIT);
  if (got == -ESPIPE && offset != operation::current_position) {  // the ring ignores the offset of a stream
    offset = operation::current_position;
    got = transfer(op, view, offset, RWF_NOWAIT);
  }
  if (got == -EAGAIN) return {outcome::wait};
  if (got == -EOPNOTSUPP) return ready ? transfer_when_ready(op, view) : attempt{outcome::unsure};
  if (got > 0 && offset != operation::current_position && static_cast<std::size_t>(got) < view.bytes() &&
      !reached_end(op, offset + static_cast<std::uint64_t>(got))) {
    access::set_op_flags(op, static_cast<std::uint32_t>(got));
    return {outcome::block};
  }
  return done(got);
}

int transfer_blocking(const operation& op) noexcept {
  const vector_view view(op);
  const std::uint32_t before = access::op_flags(op);
  if (before != 0) {
    rest_of_buffers rest(view.first, static_cast<std::size_t>(view.count), before);
    const ssize_t got = transfer(op, rest.first(), static_cast<int>(rest.count()), access::offset(op) + before, 0);
    return static_cast<int>(std::max<ssize_t>(got, 0) + before);  // an error comes again, with the next operation
  }
  ssize_t got = transfer(op, view, access::offset(op), 0);
  if (got == -ESPIPE) got = transfer(op, view, operation::current_position, 0);
  return static_cast<int>(got);
}

/// MSG_WAITALL goes on after a piece where there are no messages to be kept apart, as the ring does it.
bool is_gathering(const operation& op) noexcept {
  if ((access::op_flags(op) & MSG_WAITALL) == 0) return false;
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(access::fd(op), SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

/// recv and send, with MSG_WAITALL's progress kept in the offset, which they do not use otherwise.
attempt try_socket(operation& op) noexcept {
  const int flags = static_cast<int>(access::op_flags(op));
  auto* const buffer = static_cast<std::byte*>(access::address(op));
  for (;;) {
    const std::uint64_t progress = access::offset(op);
    const std::size_t rest = access::length(op) - progress;
    const ssize_t got = call([&] {
      return op.code() == opcode::recv ? ::recv(access::fd(op), buffer + progress, rest, flags | MSG_DONTWAIT)
                                       : ::send(access::fd(op), buffer + progress, rest, flags | MSG_DONTWAIT);
    });
    if (got == -EAGAIN && (flags & MSG_DONTWAIT) == 0) return {outcome::wait};
    if (got < 0) return done(progress > 0 ? static_cast<ssize_t>(progress) : got);
    const auto total = static_cast<std::uint64_t>(got) + progress;
    if (got == 0 || total >= access::length(op) || !is_gathering(op)) return done(static_cast<ssize_t>(total));
    access::set_offset(op, total);
  }
}

attempt try_pooled_recv(operation& op) noexcept {
  buffer_pool& pool = access::pool(op);
  const int flags = static_cast<int>(access::op_flags(op));
  const auto id = pool_access::peek(pool);
  if (!id) {
    // As the ring does it: a buffer is looked for when the receive is tried, and without one it does not wait.
    return done(::fcntl(access::fd(op), F_GETFD) < 0 ? -EBADF : -ENOBUFS);
  }
  pool_access::lend(pool, *id);
  const ssize_t got = call(
      [&] { return ::recv(access::fd(op), pool_access::buffer(pool, *id), pool.buffer_size(), flags | MSG_DONTWAIT); });
  if (got <= 0) pool_access::unlend(pool, *id);
  if (got == -EAGAIN && (flags & MSG_DONTWAIT) == 0) return {outcome::wait};
  if (got > 0) {
    pool_access::take(pool);
    access::set_flags(op, access::buffer_flag | (static_cast<std::uint32_t>(*id) << 16));
  }
  return done(got);
}

ssize_t pass_message(const operation& op, msghdr* message) noexcept {
  const int flags = static_cast<int>(access::op_flags(op)) | MSG_DONTWAIT;
  return call([&] {
    return op.code() == opcode::recvmsg ? ::recvmsg(access::fd(op), message, flags)
                                        : ::sendmsg(access::fd(op), message, flags);
  });
}

/// The rest of a message that a piece has gone of, its control data with it.
ssize_t pass_rest(const operation& op, msghdr& whole, std::size_t progress) noexcept {
  rest_of_buffers rest(whole.msg_iov, whole.msg_iovlen, progress);
  msghdr message{};
  message.msg_iov = rest.first();
  message.msg_iovlen = rest.count();
  const ssize_t got = pass_message(op, &message);
  if (got >= 0 && op.code() == opcode::recvmsg) whole.msg_flags = message.msg_flags;
  return got;
}

std::size_t size_of(const msghdr& message) noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) sum += message.msg_iov[i].iov_len;
  return sum;
}

/// As try_socket. With room for control data a receive does not go on: that belongs to its piece (and so does the ring).
attempt try_message(operation& op) noexcept {
  auto* const message = static_cast<msghdr*>(access::address(op));
  const bool with_control = op.code() == opcode::recvmsg && message != nullptr && message->msg_controllen != 0;
  for (;;) {
    const std::uint64_t progress = access::offset(op);
    const ssize_t got = progress == 0 ? pass_message(op, message) : pass_rest(op, *message, progress);
    if (got == -EAGAIN && (access::op_flags(op) & MSG_DONTWAIT) == 0) return {outcome::wait};
    if (got < 0) return done(progress > 0 ? static_cast<ssize_t>(progress) : got);
    const auto total = static_cast<std::uint64_t>(got) + progress;
    if (got == 0 || with_control || total >= size_of(*message) || !is_gathering(op))
      return done(static_cast<ssize_t>(total));
    access::set_offset(op, total);
  }
}

/// accept knows no MSG_DONTWAIT. A listener that blocks is told not to, and is left so: others, in other processes too, may be
/// between their look at the flag and their call, which must not block for a connection that we take.
///   SocketTest.EnginesThatShareABlockingListenerDoNotBlockEachOther
attempt try_accept(const operation& op) noexcept {
  const int fd = access::fd(op);
  auto* const address = static_cast<sockaddr*>(access::address(op));
  auto* const length = reinterpret_cast<socklen_t*>(access::offset(op));
  const int flags = static_cast<int>(access::op_flags(op));
  const int status = ::fcntl(fd, F_GETFL);
  if (status < 0) return done(-errno);
  if ((status & O_NONBLOCK) == 0) ::fcntl(fd, F_SETFL, status | O_NONBLOCK);
  const ssize_t got = call([&] { return ::accept4(fd, address, length, flags); });
  if (got == -EAGAIN) return {outcome::wait};
  return done(got);
}

/// Nor does connect; but a socket that is being connected has one user, who finds it as it was.
template <class Call>
ssize_t call_nonblocking(int fd, Call function) noexcept {
  const int status = ::fcntl(fd, F_GETFL);
  if (status < 0) return -errno;
  if ((status & O_NONBLOCK) != 0) return call(function);
  ::fcntl(fd, F_SETFL, status | O_NONBLOCK);
  const ssize_t got = call(function);
  ::fcntl(fd, F_SETFL, status);
  return got;
}

attempt try_connect(operation& op) noexcept {
  constexpr std::uint32_t in_progress = 1;
  const int fd = access::fd(op);
  if (access::op_flags(op) == in_progress) {
    pollfd state{fd, POLLOUT, 0};
    if (::poll(&state, 1, 0) == 0) return {outcome::wait};
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    access::set_op_flags(op, 0);
    return done(-error);
  }
  const auto* const address = static_cast<const sockaddr*>(access::address(op));
  const auto length = static_cast<socklen_t>(access::offset(op));
  const ssize_t got = call_nonblocking(fd, [&] { return ::connect(fd, address, length); });
  if (got == -EINPROGRESS) {
    access::set_op_flags(op, in_progress);
    return {outcome::wait};
  }
  if (got == -EAGAIN)
    return {outcome::later};  // a unix listener whose backlog is full: no event tells when it has room
  return done(got);
}

/// A fifo is opened without waiting for its other end, as the ring does it: that wait could not be ended.
int open_file(const operation& op) noexcept {
  const int directory = access::fd(op);
  const auto* const path = static_cast<const char*>(access::address(op));
  const int flags = static_cast<int>(access::op_flags(op));
  if (path == nullptr) return -EFAULT;  // what the kernel says; to the C library it is undefined
  struct stat status{};
  const int look = (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
  const bool fifo = (flags & (O_NONBLOCK | O_PATH)) == 0 && ::fstatat(directory, path, &status, look) == 0 &&
                    S_ISFIFO(status.st_mode);
  const auto opened = static_cast<int>(call([&] {
    return ::openat(directory, path, fifo ? flags | O_NONBLOCK : flags, static_cast<mode_t>(access::length(op)));
  }));
  if (fifo && opened >= 0) ::fcntl(opened, F_SETFL, ::fcntl(opened, F_GETFL) & ~O_NONBLOCK);
  return opened;
}

attempt try_close(const operation& op) noexcept {
  struct stat status{};
  if (::fstat(access::fd(op), &status) != 0) return done(-errno);
  if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)) return {outcome::block};  // may write back
  return done(::close(access::fd(op)) == 0 ? 0 : -errno);
}

attempt try_poll(const operation& op) noexcept {
  pollfd state{access::fd(op), static_cast<short>(access::op_flags(op)), 0};
  const ssize_t ready = call([&] { return ::poll(&state, 1, 0); });
  if (ready < 0) return done(ready);
  if (ready == 0) return {outcome::wait};
  if ((state.revents & POLLNVAL) != 0) return done(-EBADF);
  return done(state.revents);
}

}  // namespace

attempt try_now(operation& op, bool ready) noexcept {
  switch (op.code()) {
    case opcode::nop:
      return done(0);
    case opcode::read:
    case opcode::write:
    case opcode::readv:
    case opcode::writev:
      return try_transfer(op, ready);
    case opcode::recv:
      return access::is(op, access::pooled) ? try_pooled_recv(op) : try_socket(op);
    case opcode::send:
    case opcode::send_zero_copy:
      return try_socket(op);
    case opcode::recvmsg:
    case opcode::sendmsg:
      return try_message(op);
    case opcode::accept:
      return try_accept(op);
    case opcode::connect:
      return try_connect(op);
    case opcode::close:
      return try_close(op);
    case opcode::shutdown:
      return done(::shutdown(access::fd(op), static_cast<int>(access::length(op))) == 0 ? 0 : -errno);
    case opcode::poll:
      return try_poll(op);
    case opcode::openat:
    case opcode::fsync:
      return {outcome::block};
    case opcode::timeout:
      break;
  }
  return done(-EINVAL);
}

int do_blocking(operation& op) noexcept {
  const int fd = access::fd(op);
  switch (op.code()) {
    case opcode::read:
    case opcode::write:
    case opcode::readv:
    case opcode::writev:
      return transfer_blocking(op);
    case opcode::openat:
      return open_file(op);
    case opcode::fsync:
      return static_cast<int>(call([&] { return access::op_flags(op) != 0 ? ::fdatasync(fd) : ::fsync(fd); }));
    case opcode::close:  // not again after EINTR: the descriptor is gone
      return ::close(fd) == 0 ? 0 : -errno;
    default:
      return -EINVAL;
  }
}

int progress_of(const operation& op) noexcept {
  switch (op.code()) {
    case opcode::read:
    case opcode::write:
    case opcode::readv:
    case opcode::writev:
      return static_cast<int>(access::op_flags(op));
    case opcode::recv:
    case opcode::send:
    case opcode::send_zero_copy:
    case opcode::recvmsg:
    case opcode::sendmsg:
      return static_cast<int>(access::offset(op));
    default:
      return 0;
  }
}

void forget_progress(operation& op) noexcept {
  if (op.code() == opcode::connect) return access::set_op_flags(op, 0);
  if (progress_of(op) == 0) return;
  if (is_read(op) || op.code() == opcode::write || op.code() == opcode::writev)
    access::set_op_flags(op, 0);
  else
    access::set_offset(op, 0);
}

std::uint32_t awaited_events(const operation& op) noexcept {
  switch (op.code()) {
    case opcode::read:
    case opcode::readv:
    case opcode::accept:
      return EPOLLIN;
    case opcode::recv:
    case opcode::recvmsg:
      return (access::op_flags(op) & MSG_OOB) != 0 ? EPOLLPRI : EPOLLIN;
    case opcode::poll:
      return static_cast<std::uint16_t>(access::op_flags(op));
    default:
      return EPOLLOUT;
  }
}

}  // namespace faio::ioengine::detail
