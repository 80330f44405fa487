// operation -- one thing asked of the kernel: an intrusive node that its caller owns, one cache line, nothing allocated.
//
//   struct reader : operation {                                        // derive, or keep it as a member
//     reader() : operation([](operation& self) noexcept { static_cast<reader&>(self).done(); }) {}
//     void done() noexcept { use(result()); }
//   };
//   reader op;
//   op.prepare_read(fd, buffer, 0);
//   engine.submit(op);                                                 // completes inside a later drive()
//
// Life of an operation
//   from       event                              to
//   idle       prepare_...                        idle       what to do is written into the node
//   idle       submit                             in flight  node, buffers and addresses belong to the engine
//   in flight  completion, more() is true         in flight  a multishot operation: the function will be called again
//   in flight  completion, more() is false        idle       before the function is called: it may prepare and submit again,
//                                                            or destroy the operation
//
// Invariants
//   I1 The completion function is called exactly once with more() == false for each submit, on the engine's thread, from
//      drive, wait_and_drive or drain; never from submit or cancel.       EngineTest.NeverCompletesInsideSubmit
//   I2 Everything an operation points to (buffers, addresses, message headers, paths, iovecs) stays alive and in place until
//      then. Cancelled or not: cancel only asks.                          CancelTest.CompletesTheTargetExactlyOnce
//   I3 An operation in flight is neither moved, copied, prepared nor destroyed. The first three do not compile or are an
//      assert; destroying one ends the program with a message, in release too: the kernel would write into freed memory.
//
// Thread roles: everything here belongs to the thread that owns the engine (before submit: to whoever prepares it).
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "faio/ioengine/export.hpp"
#include "faio/ioengine/timer_wheel.hpp"

namespace faio::ioengine {

class buffer_pool;
class engine;

/// What an operation does. The values are the kernel's IORING_OP_..., so that filling in an entry needs no table.
enum class opcode : std::uint8_t {
  nop = 0,
  readv = 1,
  writev = 2,
  fsync = 3,
  poll = 6,
  sendmsg = 9,
  recvmsg = 10,
  timeout = 11,
  accept = 13,
  connect = 16,
  openat = 18,
  close = 19,
  read = 22,
  write = 23,
  send = 26,
  recv = 27,
  shutdown = 34,
  send_zero_copy = 47,
};

namespace detail {

/// A link of a circular list of operations; a list's head is one that is no operation.
struct operation_link {
  operation_link* next = nullptr;
  operation_link* prev = nullptr;
};

struct operation_access;
struct submission_window;

}  // namespace detail

class FAIO_IOENGINE_API operation : private detail::operation_link {
 public:
  /// Called when the operation has completed; see the table above for what it may do.
  using completion = void (*)(operation&) noexcept;

  /// The offset that means "from where the file stands", and the only one that pipes, terminals and the like take.
  static constexpr std::uint64_t current_position = ~std::uint64_t{0};

  explicit operation(completion complete) noexcept : _complete(complete) {}
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;
  ~operation() {
    if (in_flight()) [[unlikely]]
      die_in_flight();
  }

  // What it gave, to be read in the completion function or later.

  /// >= 0 (a count of bytes, a new descriptor, poll's events, 0), or a negative errno.
  [[nodiscard]] int result() const noexcept { return _outcome.result; }
  /// True: a multishot operation goes on and will complete again.
  [[nodiscard]] bool more() const noexcept { return (_outcome.flags & more_flag) != 0; }
  /// True: the data is in the pool's buffer `buffer_id()`, to be given back by buffer_pool::give_back. Only if result() > 0;
  /// a buffer that was taken for nothing has gone back already.
  [[nodiscard]] bool has_buffer() const noexcept { return (_outcome.flags & buffer_flag) != 0; }
  [[nodiscard]] std::uint16_t buffer_id() const noexcept { return _outcome.buffer_id; }

  /// True from submit to the last completion.
  [[nodiscard]] bool in_flight() const noexcept { return _outcome.state != idle; }
  [[nodiscard]] opcode code() const noexcept { return _what.code; }

  // What to do. Each leaves the completion function alone; the errors named are the same on the uring and the epoll engine.

  /// Completes with 0, in the next drive.
  void prepare_nop() noexcept { prepare(opcode::nop, -1); }

  /// Reads up to buffer.size() bytes; 0 is the end of the file. Waits for pipes, sockets and terminals to have something,
  /// whether or not they are O_NONBLOCK. Short reads happen as with read(2). -EBADF, -EFAULT (a null buffer), -EISDIR, ...
  void prepare_read(int fd, std::span<std::byte> buffer, std::uint64_t offset = current_position) noexcept {
    prepare(opcode::read, fd, buffer.data(), buffer.size(), offset);
  }

  /// Writes up to buffer.size() bytes. A pipe without a reader raises SIGPIPE, as write(2) does, and gives -EPIPE.
  void prepare_write(int fd, std::span<const std::byte> buffer, std::uint64_t offset = current_position) noexcept {
    prepare(opcode::write, fd, buffer.data(), buffer.size(), offset);
  }

  /// As read and write, into or from several buffers. The array of iovecs stays in place too.
  void prepare_readv(int fd, std::span<const iovec> buffers, std::uint64_t offset = current_position) noexcept {
    prepare(opcode::readv, fd, buffers.data(), buffers.size(), offset);
  }
  void prepare_writev(int fd, std::span<const iovec> buffers, std::uint64_t offset = current_position) noexcept {
    prepare(opcode::writev, fd, buffers.data(), buffers.size(), offset);
  }

  /// Waits for a socket to have data. 0: the peer has ended. flags as recv(2); MSG_DONTWAIT gives -EAGAIN instead of waiting.
  void prepare_recv(int fd, std::span<std::byte> buffer, int flags = 0) noexcept {
    prepare(opcode::recv, fd, buffer.data(), buffer.size(), 0, static_cast<std::uint32_t>(flags));
  }

  /// As recv, but takes a buffer of the pool when there is data: thousands of idle connections hold no memory.
  /// -ENOBUFS: the pool is used up. result() > 0: has_buffer().
  void prepare_recv(int fd, buffer_pool& pool, int flags = 0) noexcept {
    prepare(opcode::recv, fd, &pool, 0, 0, static_cast<std::uint32_t>(flags), pooled);
  }

  /// As the one above, again and again: completes with more() for each piece of data, until it ends with 0 (peer ended), an
  /// error (-ENOBUFS among them: give buffers back and submit it again) or -ECANCELED.
  void prepare_recv_multishot(int fd, buffer_pool& pool, int flags = 0) noexcept {
    prepare(opcode::recv, fd, &pool, 0, 0, static_cast<std::uint32_t>(flags), pooled | multishot);
  }

  /// Never raises SIGPIPE: -EPIPE.
  void prepare_send(int fd, std::span<const std::byte> buffer, int flags = 0) noexcept {
    prepare(opcode::send, fd, buffer.data(), buffer.size(), 0, static_cast<std::uint32_t>(flags | MSG_NOSIGNAL));
  }

  /// As send, without a copy where kernel and socket can, else with one. Completes once, when the buffer is free again:
  /// that may be only when the peer has acknowledged. Pays from some 10 KiB on.
  void prepare_send_zero_copy(int fd, std::span<const std::byte> buffer, int flags = 0) noexcept {
    prepare(opcode::send_zero_copy, fd, buffer.data(), buffer.size(), 0,
            static_cast<std::uint32_t>(flags | MSG_NOSIGNAL), zero_copy);
  }

  /// As recvmsg(2) and sendmsg(2). The header and all that it points to stay in place.
  void prepare_recvmsg(int fd, msghdr& message, int flags = 0) noexcept {
    prepare(opcode::recvmsg, fd, &message, 1, 0, static_cast<std::uint32_t>(flags));
  }
  void prepare_sendmsg(int fd, const msghdr& message, int flags = 0) noexcept {
    prepare(opcode::sendmsg, fd, &message, 1, 0, static_cast<std::uint32_t>(flags | MSG_NOSIGNAL));
  }

  /// Completes with the descriptor of a new connection; flags as accept4(2). The address is filled in if both are given.
  void prepare_accept(int fd, sockaddr* address = nullptr, socklen_t* length = nullptr,
                      int flags = SOCK_CLOEXEC) noexcept {
    prepare(opcode::accept, fd, address, 0, reinterpret_cast<std::uintptr_t>(length),
            static_cast<std::uint32_t>(flags));
  }

  /// Again and again, with more(), until an error or -ECANCELED. Every descriptor it gives is the caller's to close.
  void prepare_accept_multishot(int fd, int flags = SOCK_CLOEXEC) noexcept {
    prepare(opcode::accept, fd, nullptr, 0, 0, static_cast<std::uint32_t>(flags), multishot);
  }

  /// Completes with 0 when connected. -ECONNREFUSED, -ETIMEDOUT, ...
  void prepare_connect(int fd, const sockaddr* address, socklen_t length) noexcept {
    prepare(opcode::connect, fd, address, 0, length);
  }

  /// Operations in flight on the descriptor are not ended by this (nor by close(2)): cancel them first.
  void prepare_close(int fd) noexcept { prepare(opcode::close, fd); }

  /// how: SHUT_RD, SHUT_WR, SHUT_RDWR.
  void prepare_shutdown(int fd, int how) noexcept {
    prepare(opcode::shutdown, fd, nullptr, static_cast<std::size_t>(how));
  }

  /// Completes with the new descriptor. As openat(2), but for fifos, which do not wait for the other end (README.md); AT_FDCWD for the current
  /// directory.
  void prepare_openat(int directory, const char* path, int flags, mode_t mode = 0) noexcept {
    prepare(opcode::openat, directory, path, mode, 0, static_cast<std::uint32_t>(flags));
  }

  /// data_only: fdatasync(2).
  void prepare_fsync(int fd, bool data_only = false) noexcept {
    prepare(opcode::fsync, fd, nullptr, 0, 0, data_only ? 1U : 0U);
  }

  /// Completes with those of the events (POLLIN, ...) that hold; POLLERR and POLLHUP are always asked for.
  void prepare_poll(int fd, short events) noexcept {
    prepare(opcode::poll, fd, nullptr, 0, 0, static_cast<std::uint16_t>(events));
  }

  // ---------------------------------------------------------------------------------------- end of the public interface

 protected:
  // Bits of _what.options: what is not the common way. An operation that has none of them costs the engines one test.
  static constexpr std::uint8_t multishot = 1U << 0;
  static constexpr std::uint8_t pooled = 1U << 1;  // the address is that of a buffer_pool
  static constexpr std::uint8_t zero_copy = 1U << 2;
  static constexpr std::uint8_t by_timer = 1U << 3;  // a timeout_operation
  static constexpr std::uint8_t by_copy =
      1U << 4;  // the engines' own from here on: a zero-copy send that the socket refused
  static constexpr std::uint8_t cancel_asked = 1U << 5;
  static constexpr std::uint8_t pausing = 1U << 6;  // with the kernel as a pause, after which it is tried again

  void prepare(opcode code, int fd, const void* address = nullptr, std::size_t length = 0, std::uint64_t offset = 0,
               std::uint32_t op_flags = 0, std::uint8_t options = 0) noexcept {
    assert(!in_flight() && "an operation in flight was prepared anew");
    // The kernel's field has 32 bits and a transfer at most 2 GiB less a page; what is beyond would be a short transfer.
    const std::uint32_t most = length < max_length ? static_cast<std::uint32_t>(length) : max_length;
    // Each word by one store: stores are what the way of a short operation is full of, and whoever loads a word that was stored in two parts waits for the cache.
    if constexpr (std::endian::native == std::endian::little) {
      _what = std::bit_cast<what>(static_cast<std::uint64_t>(code) | (std::uint64_t{options} << 8) |
                                  (std::uint64_t{static_cast<std::uint32_t>(fd)} << 32));
      _extent = std::bit_cast<extent>(whole(most | (std::uint64_t{op_flags} << 32)));
    } else {
      _what = {.code = code, .options = options, .fd = fd};
      _extent = {.length = most, .op_flags = op_flags};
    }
    _offset = offset;
    _address = const_cast<void*>(address);
  }

 private:
  friend struct detail::operation_access;
  friend struct detail::submission_window;
  [[noreturn]] static void die_in_flight() noexcept;
  /// A word that a compiler must not take apart again: clang stores a length that it has in a register, and flags that it knows, one by one.
  static std::uint64_t whole(std::uint64_t word) noexcept {
    __asm__("" : "+r"(word));
    return word;
  }

  // The bits of a completion that users see; they are the kernel's IORING_CQE_F_BUFFER and IORING_CQE_F_MORE.
  static constexpr std::uint32_t buffer_flag = 1U << 0;
  static constexpr std::uint32_t more_flag = 1U << 1;

  static constexpr std::uint32_t max_length = 0x7fff'f000;
  static constexpr std::uint8_t idle = 0;
  static constexpr std::uint8_t with_kernel = 1;

  struct alignas(8) outcome {
    std::int32_t result = 0;
    std::uint16_t buffer_id = 0;
    std::uint8_t flags = 0;
    std::uint8_t state = idle;  // 0, or where in its engine the operation is: detail::place
  };
  struct alignas(8) what {
    opcode code = opcode::nop;
    std::uint8_t options = 0;
    std::uint16_t unused = 0;
    std::int32_t fd = -1;
  };
  struct alignas(8) extent {
    std::uint32_t length = 0;
    std::uint32_t op_flags = 0;
  };

  completion _complete;
  outcome _outcome;
  // What to do, as the kernel's submission entry has it: filling one in is a copy of these four words.
  what _what;
  std::uint64_t _offset = 0;
  void* _address = nullptr;
  extent _extent;
};

static_assert(sizeof(operation) == 64, "an operation is one cache line");

/// Completes with -ETIME when its time has come, or -ECANCELED. On every engine, also the thread engine.
class FAIO_IOENGINE_API timeout_operation : public operation {
 public:
  explicit timeout_operation(completion complete) noexcept : operation(complete), _timer(&expire) {}

  /// Never early, at most 1 ms late plus the time the loop was busy (timer_wheel.hpp).
  void prepare_timeout(time_point deadline) noexcept {
    prepare(opcode::timeout, -1, nullptr, 0, 0, 0, by_timer);
    _deadline = deadline;
  }

 private:
  friend struct detail::operation_access;
  static void expire(timer_entry& timer) noexcept;

  /// Knows the operation it is part of, and the engine to tell.
  struct expiry : timer_entry {
    using timer_entry::timer_entry;
    timeout_operation* self = nullptr;
    engine* owner = nullptr;
  };
  expiry _timer;
  time_point _deadline{};
};

}  // namespace faio::ioengine
