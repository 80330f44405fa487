// stream -- a connection: bytes in order, both ways. What tcp_stream and unix_stream share.
//
// Stopping and time limits: a read that is stopped has taken nothing, the stream goes on. A write_all or read_exactly that is stopped in
// the middle leaves the peer, or the caller, with a part: it closes the stream, so that nobody goes on with half a message.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faio/context/task.hpp"
#include "faio/net/descriptor.hpp"
#include "faio/net/endpoint.hpp"
#include "faio/net/receiver.hpp"

namespace faio::net {

namespace detail {

FAIO_NET_API endpoint local_of(descriptor& on);

/// A read on its way: `Plain`, an operation of its own, or a wait for what the stream's receiver gets.
template <class Plain>
class read_way {
 public:
  template <class... Args>
  explicit read_way(descriptor& on, Args&&... args) noexcept : _on(on), _ahead(on.ahead.get()) {
    if (_ahead != nullptr) [[unlikely]]
      std::construct_at(&_received);
    else
      std::construct_at(&_plain, on, std::forward<Args>(args)...);
  }
  read_way(const read_way&) = delete;
  read_way& operator=(const read_way&) = delete;
  ~read_way() {
    if (_ahead != nullptr) [[unlikely]]
      std::destroy_at(&_received);
    else
      std::destroy_at(&_plain);
  }

 protected:
  [[nodiscard]] bool is_ahead() const noexcept { return _ahead != nullptr; }
  [[nodiscard]] Plain& plain() noexcept { return _plain; }
  template <class Promise>
  bool suspend(std::span<std::byte> into, std::size_t least, std::coroutine_handle<Promise> waiting) {
    if (_ahead != nullptr) [[unlikely]]
      return _received.wait(*_ahead, into, least, waiting.promise());
    _plain.await_suspend(waiting);
    return true;
  }
  /// How many came: fewer than the least, the peer has ended. An error: received() came before it.
  faio::result<std::size_t> give() noexcept { return _received.give(_on); }
  [[nodiscard]] std::size_t received() const noexcept { return _received.done(); }
  void close() noexcept { _on.close(); }

 private:
  descriptor& _on;
  receiver* const _ahead;
  union {
    Plain _plain;
    receiver::waiter _received;
  };
};

class one_receive final : public descriptor_awaiter {
 public:
  one_receive(descriptor& on, std::span<std::byte> into) noexcept : descriptor_awaiter(on) {
    prepare_recv(on.fd(), into);
  }
};

/// Bytes that a read_until has kept come first.
class [[nodiscard("co_await it")]] read_awaitable {
 public:
  read_awaitable(descriptor& on, std::span<std::byte> into, std::string& kept) noexcept
      : _on(&on), _into(into), _kept(&kept) {}

  class awaiter : read_way<one_receive> {
   public:
    awaiter(descriptor& on, std::span<std::byte> into, std::string& kept) noexcept
        : read_way(on, into), _into(into), _kept(kept) {}
    [[nodiscard]] bool await_ready() noexcept {
      _had = take_kept(_kept, _into);
      return _had != 0 || (!is_ahead() && plain().await_ready());
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      return suspend(_into, std::min<std::size_t>(_into.size(), 1), waiting);
    }
    faio::result<std::size_t> await_resume() noexcept {
      if (_had != 0) return _had;
      if (is_ahead()) return give();
      auto gave = plain().await_resume();
      if (!gave) return std::unexpected(gave.error());
      return static_cast<std::size_t>(*gave);
    }

   private:
    std::span<std::byte> _into;
    std::string& _kept;
    std::size_t _had = 0;
  };
  awaiter operator co_await() const noexcept { return awaiter(*_on, _into, *_kept); }

  static std::size_t take_kept(std::string& kept, std::span<std::byte> into) noexcept {
    const std::size_t count = std::min(into.size(), kept.size());
    if (count != 0) {
      std::memcpy(into.data(), kept.data(), count);
      kept.erase(0, count);
    }
    return count;
  }

 private:
  descriptor* _on;
  std::span<std::byte> _into;
  std::string* _kept;
};

struct write_step {
  std::span<const std::byte> from;
  void operator()(ioengine::operation& op, int fd) const noexcept { op.prepare_send(fd, from); }
};

/// All of a buffer, one way or the other. After a part the operation is submitted again from its own completion: no coroutine is resumed in
/// between, and none is needed to go round.
class FAIO_NET_API whole_awaiter : public descriptor_awaiter {
 public:
  faio::result<void> await_resume() noexcept;

 protected:
  enum class way : unsigned char { in, out };
  whole_awaiter(descriptor& on, way direction, std::byte* buffer, std::size_t size) noexcept
      : descriptor_awaiter(on, &came), _buffer(buffer), _size(size), _way(direction) {}
  /// So many are there without asking. True: that is all.
  [[nodiscard]] bool begin(std::size_t have) noexcept {
    _done = have;
    if (_done == _size) return true;
    prepare_rest();
    return descriptor_awaiter::await_ready();
  }

 private:
  void prepare_rest() noexcept {
    if (_way == way::out) {
      prepare_send(on().fd(), {_buffer + _done, _size - _done});
    } else {
      prepare_recv(on().fd(), {_buffer + _done, _size - _done});
    }
  }
  static void came(operation& op) noexcept;

  std::byte* _buffer;
  std::size_t _size;
  std::size_t _done = 0;
  way _way;
};

class [[nodiscard("co_await it")]] write_all_awaitable {
 public:
  write_all_awaitable(descriptor& on, std::span<const std::byte> from) noexcept : _on(&on), _from(from) {}
  class awaiter : public whole_awaiter {
   public:
    awaiter(descriptor& on, std::span<const std::byte> from) noexcept
        : whole_awaiter(on, way::out, const_cast<std::byte*>(from.data()), from.size()) {}
    [[nodiscard]] bool await_ready() noexcept { return begin(0); }
  };
  awaiter operator co_await() const noexcept { return awaiter(*_on, _from); }

 private:
  descriptor* _on;
  std::span<const std::byte> _from;
};

/// All of a buffer, in.
class whole_receive final : public whole_awaiter {
 public:
  whole_receive(descriptor& on, std::span<std::byte> into) noexcept
      : whole_awaiter(on, way::in, into.data(), into.size()) {}
  using whole_awaiter::begin;
};

class [[nodiscard("co_await it")]] read_exactly_awaitable {
 public:
  read_exactly_awaitable(descriptor& on, std::span<std::byte> into, std::string& kept) noexcept
      : _on(&on), _into(into), _kept(&kept) {}
  class awaiter : read_way<whole_receive> {
   public:
    awaiter(descriptor& on, std::span<std::byte> into, std::string& kept) noexcept
        : read_way(on, into), _into(into), _kept(kept) {}
    [[nodiscard]] bool await_ready() noexcept {
      _had = read_awaitable::take_kept(_kept, _into);
      return is_ahead() ? _had == _into.size() : plain().begin(_had);
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      return suspend(_into.subspan(_had), _into.size() - _had, waiting);
    }
    faio::result<void> await_resume() noexcept {
      if (!is_ahead()) return plain().await_resume();
      if (_had == _into.size()) return {};
      const auto gave = give();
      if (gave && _had + *gave == _into.size()) return {};
      if (gave) return std::unexpected(make_error_code(errc::end_of_stream));
      if (_had + received() != 0) close();
      return std::unexpected(gave.error());
    }

   private:
    std::span<std::byte> _into;
    std::string& _kept;
    std::size_t _had = 0;
  };
  awaiter operator co_await() const noexcept { return awaiter(*_on, _into, *_kept); }

 private:
  descriptor* _on;
  std::span<std::byte> _into;
  std::string* _kept;
};

}  // namespace detail

/// The reading side. One task at a time.
class FAIO_NET_API read_half {
 public:
  /// For the library: takes part in it.
  explicit read_half(std::shared_ptr<descriptor> of) noexcept : _of(std::move(of)) {}

  /// Call from: a task. At least one byte, as many as there are; 0: the peer has ended. Stopped: operation_canceled, nothing was taken.
  detail::read_awaitable read_some(std::span<std::byte> into) noexcept { return {descriptor::in(_of), into, _kept}; }
  /// All of it. errc::end_of_stream: the peer ended before; stopped in the middle: the stream is closed.
  detail::read_exactly_awaitable read_exactly(std::span<std::byte> into) noexcept {
    return {descriptor::in(_of), into, _kept};
  }
  /// Up to and with `delimiter`, at most `limit` bytes: errc::too_long. What came behind it is for the next read.
  task<result<std::string>> read_until(std::string_view delimiter, std::size_t limit = 64 * 1024);
  /// Into several buffers.
  task<result<std::size_t>> read_vectored(std::span<const iovec> into);
  /// Any thread. The whole stream: the other half too.
  void close() noexcept { descriptor::in(_of).close(); }

 protected:
  std::shared_ptr<descriptor> _of;

 private:
  std::string _kept;  // behind the last delimiter
};

/// The writing side. One task at a time.
class FAIO_NET_API write_half {
 public:
  /// For the library: takes part in it.
  explicit write_half(std::shared_ptr<descriptor> of) noexcept : _of(std::move(of)) {}

  /// Call from: a task. At least one byte, as many as there is room for. Never raises SIGPIPE.
  descriptor_awaitable<std::size_t, detail::write_step> write_some(std::span<const std::byte> from) {
    return perform<std::size_t>(descriptor::in(_of), detail::write_step{from});
  }
  /// All of it. Stopped in the middle: the stream is closed.
  detail::write_all_awaitable write_all(std::span<const std::byte> from) noexcept {
    return {descriptor::in(_of), from};
  }
  /// The same for text.
  detail::write_all_awaitable write_all(std::string_view text) noexcept {
    return write_all(std::as_bytes(std::span(text)));
  }
  /// All of several buffers.
  task<result<void>> write_vectored(std::span<const iovec> from);
  /// Ends this direction: the peer reads to the end.
  result<void> shutdown();
  /// Any thread. The whole stream: the other half too.
  void close() noexcept { descriptor::in(_of).close(); }

 protected:
  std::shared_ptr<descriptor> _of;
};

/// Both sides together; move-only. Destroyed: closed. One that is closed, was moved from or split gives bad_file_descriptor.
class FAIO_NET_API stream {
 public:
  /// For the library: takes it over.
  explicit stream(std::shared_ptr<descriptor> of) : _of(std::move(of)), _in(_of), _out(_of) {}
  stream(stream&&) noexcept = default;
  stream& operator=(stream&& other) noexcept {
    close();
    _of = std::move(other._of);
    _in = std::move(other._in);
    _out = std::move(other._out);
    return *this;
  }
  ~stream() { close(); }

  /// As read_half::read_some: at least one byte, as many as there are; 0: the peer has ended.
  auto read_some(std::span<std::byte> into) { return _in.read_some(into); }
  /// As read_half::read_exactly: all of it, or errc::end_of_stream.
  auto read_exactly(std::span<std::byte> into) { return _in.read_exactly(into); }
  /// As read_half::read_until: up to and with the delimiter, at most `limit` bytes: errc::too_long.
  task<result<std::string>> read_until(std::string_view delimiter, std::size_t limit = 64 * 1024) {
    return _in.read_until(delimiter, limit);
  }
  /// As read_half::read_vectored.
  task<result<std::size_t>> read_vectored(std::span<const iovec> into) { return _in.read_vectored(into); }
  /// As write_half::write_some: at least one byte, as many as there is room for.
  auto write_some(std::span<const std::byte> from) { return _out.write_some(from); }
  /// As write_half::write_all: all of it. Stopped in the middle: the stream is closed.
  auto write_all(std::span<const std::byte> from) { return _out.write_all(from); }
  /// The same for text.
  auto write_all(std::string_view text) { return _out.write_all(text); }
  /// As write_half::write_vectored.
  task<result<void>> write_vectored(std::span<const iovec> from) { return _out.write_vectored(from); }
  /// how: SHUT_RD, SHUT_WR, SHUT_RDWR.
  result<void> shutdown(int how = SHUT_WR);

  /// Two halves for two tasks; the connection is closed when both have gone. The stream is empty afterwards.
  std::pair<read_half, write_half> split() && {
    std::pair<read_half, write_half> halves(std::move(_in), std::move(_out));
    _of.reset();
    return halves;
  }

  /// Any thread, any number of times. What another task reads or writes ends with bad_file_descriptor: for that, and only if there is such a
  /// task, the connection is shut down, for duplicates of the descriptor too. Without one a duplicate, say the one that send_fd sent, goes on.
  void close() noexcept { descriptor::in(_of).close(); }
  /// Any thread. Gives the descriptor up: it is the caller's to close, and the stream is as if closed. device_or_resource_busy: a task reads or
  /// writes, and nothing was done. What read_until read ahead stays here: read_some takes it, also afterwards.
  [[nodiscard]] result<int> release() noexcept { return descriptor::in(_of).release(); }
  /// Any thread. False: closed, split or moved from.
  [[nodiscard]] bool is_open() const noexcept { return _of != nullptr && !_of->closed(); }
  /// Our end of it.
  [[nodiscard]] endpoint local() const;
  /// The peer's end of it.
  [[nodiscard]] endpoint remote() const;
  /// For options that have no name here. The stream's: do not close it. -1: it was moved from, or split.
  [[nodiscard]] int native_handle() const noexcept { return descriptor::in(_of).fd(); }
  /// For the library: the worker that it lives on; null: any.
  [[nodiscard]] scheduler::worker* home() const noexcept { return descriptor::in(_of).home.where(); }

 protected:
  result<void> set_option(int level, int name, int value);
  std::shared_ptr<descriptor> _of;

 private:
  read_half _in;
  write_half _out;
};

}  // namespace faio::net
