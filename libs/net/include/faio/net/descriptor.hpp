// descriptor -- a socket that several tasks may use while another one closes it.
//
//   _uses:  [ closed : 1 | calls : 11 | operations : 20 ]     the owner counts as one operation until it closes
//
// I1  The number is given back to the system when it is closed and nobody uses it any more: neither an operation nor a call meets somebody
//     else's socket that got the same number.                                          CloseTest.CallsOnAClosedStreamReachNobodyElse
// I2  Once it is closed the count only falls: it comes to nothing once, and the number is given back once.
// I3  close() shuts the connection down if an operation is in flight, and only then: that ends it, and its task learns that it was closed. A
//     duplicate (send_fd, dup, a child) shares the connection, and would be shut down too.
//                                                                         CloseTest.AConnectionThatWasPassedOnOutlivesTheSendersCopy
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>

#include "faio/context/io.hpp"
#include "faio/context/result.hpp"
#include "faio/net/export.hpp"
#include "faio/net/residence.hpp"

namespace faio::net {

class receiver;

class FAIO_NET_API descriptor {
 public:
  /// Takes it over.
  explicit descriptor(int fd) noexcept;
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor();

  [[nodiscard]] int fd() const noexcept { return _fd; }
  /// What `of` points to; null: one that was closed before the world began.
  [[nodiscard]] static descriptor& in(const std::shared_ptr<descriptor>& of) noexcept {
    return of != nullptr ? *of : nothing();
  }
  /// Any thread, any number of times.
  void close() noexcept;
  /// The same by one who ends what is in flight by himself.
  void close_quietly() noexcept;
  /// Any thread. Gives the number up: from now on it is the caller's. device_or_resource_busy: something uses it, and it stays as it was.
  [[nodiscard]] result<int> release() noexcept;
  [[nodiscard]] bool closed() const noexcept { return (_uses.load(std::memory_order_acquire) & closed_bit) != 0; }

  /// Any thread. False: it is closed. True: the number stays valid until leave().
  [[nodiscard]] bool enter() noexcept { return add(one_operation); }
  void leave() noexcept { subtract(one_operation); }
  /// Any thread. What the system call `what(fd)`, which does not wait, gives; closed: -1, and errno is EBADF.
  template <class Call>
  int call(Call what) noexcept {
    if (!add(one_call)) {
      errno = EBADF;
      return -1;
    }
    const int gave = what(_fd);
    const int error = errno;
    subtract(one_call);
    errno = error;  // it may have closed the number
    return gave;
  }

  /// Where its operations are done.
  residence home;
  /// Who receives for the task that reads, if anybody does (tcp_stream::receive_ahead). That task's alone.
  std::unique_ptr<receiver> ahead;

 private:
  static constexpr std::uint32_t one_operation = 1;
  static constexpr std::uint32_t one_call = 1U << 20;
  static constexpr std::uint32_t closed_bit = 1U << 31;

  struct closed_from_the_start {};
  explicit descriptor(closed_from_the_start) noexcept;
  static descriptor& nothing() noexcept;

  bool add(std::uint32_t use) noexcept {
    // Not added to and then looked at: I2.
    std::uint32_t seen = _uses.load(std::memory_order_relaxed);  // relaxed: a guess, the exchange decides
    while ((seen & closed_bit) == 0) {
      // acquire, pairs with close(): what is done with the number comes after this.
      if (_uses.compare_exchange_weak(seen, seen + use, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  void subtract(std::uint32_t use) noexcept {
    // acq_rel: all uses are over before the number is given back.
    if (_uses.fetch_sub(use, std::memory_order_acq_rel) == (closed_bit | use)) give_back();
  }
  [[nodiscard]] std::uint32_t mark_closed() noexcept;
  void give_back() noexcept;
  const int _fd;
  std::atomic<std::uint32_t> _uses{one_operation};
};

/// One operation on a descriptor, awaited. Gives what the operation gave; bad_file_descriptor when it was closed before or meanwhile.
class FAIO_NET_API descriptor_awaiter : public context::io_awaiter {
 public:
  explicit descriptor_awaiter(descriptor& on) noexcept : _on(on) {}
  descriptor_awaiter(descriptor& on, completion complete) noexcept : io_awaiter(complete), _on(on) {}
  descriptor_awaiter(const descriptor_awaiter&) = delete;
  descriptor_awaiter& operator=(const descriptor_awaiter&) = delete;
  ~descriptor_awaiter() {
    if (_entered) _on.leave();
  }
  [[nodiscard]] bool await_ready() noexcept {
    _entered = _on.enter();
    return !_entered;
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    scheduler::worker* const there = _on.home.away_from(*scheduler::current_worker());
    if (there != nullptr) [[unlikely]]
      suspend_on(*there, waiting.promise());
    else
      io_awaiter::await_suspend(waiting);
  }
  faio::result<int> await_resume() noexcept {
    if (!_entered) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    auto gave = io_awaiter::await_resume();
    if (_on.closed()) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    return gave;
  }

 protected:
  [[nodiscard]] descriptor& on() const noexcept { return _on; }
  /// After resumption: this operation is over, and does not count as one in flight.
  void close() noexcept {
    if (std::exchange(_entered, false)) _on.leave();
    _on.close();
  }

 private:
  descriptor& _on;
  bool _entered = false;
};

/// What read_some and the like give to co_await: `prepare(operation&, fd)` describes the operation, `Given` is made of its result.
template <class Given, class Prepare>
class [[nodiscard("co_await it")]] descriptor_awaitable {
 public:
  descriptor_awaitable(descriptor& on, Prepare prepare) : _on(&on), _prepare(std::move(prepare)) {}

  class awaiter : public descriptor_awaiter {
   public:
    awaiter(descriptor& on, Prepare& prepare) : descriptor_awaiter(on) {
      prepare(static_cast<ioengine::operation&>(*this), on.fd());
    }
    faio::result<Given> await_resume() noexcept {
      auto gave = descriptor_awaiter::await_resume();
      if (!gave) return std::unexpected(gave.error());
      if constexpr (std::is_void_v<Given>) {
        return {};
      } else {
        return static_cast<Given>(*gave);
      }
    }
  };
  awaiter operator co_await() { return awaiter(*_on, _prepare); }

 private:
  descriptor* _on;
  Prepare _prepare;
};

template <class Given, class Prepare>
descriptor_awaitable<Given, Prepare> perform(descriptor& on, Prepare prepare) {
  return {on, std::move(prepare)};
}

/// The errno of the call that has just failed.
inline std::unexpected<std::error_code> last_error() noexcept {
  return std::unexpected(std::error_code(errno, std::system_category()));
}

}  // namespace faio::net
