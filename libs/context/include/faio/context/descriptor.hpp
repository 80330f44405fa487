// descriptor -- a file descriptor that several tasks may use while another one closes it.
//
//   _uses:  [ closed : 1 | in use : 31 ]     the owner counts as one until it closes
//
// I1  The number is given back to the system when it is closed and no operation uses it any more: an operation never meets somebody else's
//     file that got the same number.
// I2  Once it is closed the count only falls: it comes to nothing once.                       DescriptorTest.GivesItsNumberBackOnce
// I3  close() shuts a socket down first: what is in flight ends, and its task learns that it was closed. What waits for a pipe or a terminal
//     is not ended by that; its task's stop token ends it.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <type_traits>
#include <utility>

#include "faio/context/export.hpp"
#include "faio/context/io.hpp"
#include "faio/context/result.hpp"

namespace faio::context {

class FAIO_CONTEXT_API descriptor {
 public:
  /// Takes it over.
  explicit descriptor(int fd) noexcept : _fd(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { close(); }

  [[nodiscard]] int fd() const noexcept { return _fd; }
  /// Any thread, any number of times.
  void close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return (_uses.load(std::memory_order_acquire) & closed_bit) != 0; }

  /// Any thread. False: it is closed. True: the number stays valid until leave().
  [[nodiscard]] bool enter() noexcept {
    // Not counted and then looked at: I2.
    std::uint32_t seen = _uses.load(std::memory_order_relaxed);  // relaxed: a guess, the exchange decides
    while ((seen & closed_bit) == 0) {
      // acquire, both, pairs with close(): whoever sees the bit also sees the shutdown.
      if (_uses.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }
  void leave() noexcept {
    // acq_rel: all uses are over before the number is given back.
    if (_uses.fetch_sub(1, std::memory_order_acq_rel) == (closed_bit | 1)) give_back();
  }

  // ---- end of the public interface ----

 private:
  static constexpr std::uint32_t closed_bit = 1U << 31;
  void give_back() noexcept;
  const int _fd;
  std::atomic<std::uint32_t> _uses{1};
};

/// One operation on a descriptor, awaited. Gives what the operation gave; bad_file_descriptor when it was closed before or meanwhile.
class FAIO_CONTEXT_API descriptor_awaiter : public io_awaiter {
 public:
  explicit descriptor_awaiter(descriptor& on) noexcept : _on(on) {}
  descriptor_awaiter(const descriptor_awaiter&) = delete;
  descriptor_awaiter& operator=(const descriptor_awaiter&) = delete;
  [[nodiscard]] bool await_ready() noexcept {
    _entered = _on.enter();
    return !_entered;
  }
  faio::result<int> await_resume() noexcept {
    if (!_entered) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    auto gave = io_awaiter::await_resume();
    if (_on.closed()) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    return gave;
  }

 protected:
  ~descriptor_awaiter() {
    if (_entered) _on.leave();
  }

 private:
  descriptor& _on;
  bool _entered = false;
};

/// What perform() gives to co_await.
template <class Given, class Prepare>
class [[nodiscard("co_await it")]] descriptor_awaitable {
 public:
  descriptor_awaitable(descriptor& on, Prepare prepare) : _on(&on), _prepare(std::move(prepare)) {}

  class awaiter final : public descriptor_awaiter {
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

/// Effect: as io(), on a descriptor that may be closed meanwhile: `prepare(operation&, fd)` describes the operation, `Given` is made of its result.
template <class Given, class Prepare>
descriptor_awaitable<Given, Prepare> perform(descriptor& on, Prepare prepare) {
  return {on, std::move(prepare)};
}

/// The errno of the call that has just failed.
inline std::error_code last_error_code() noexcept { return {errno, std::system_category()}; }
inline std::unexpected<std::error_code> last_error() noexcept { return std::unexpected(last_error_code()); }

}  // namespace faio::context
