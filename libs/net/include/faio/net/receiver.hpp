// receiver -- receives for a stream before anybody asks: one multishot receive, which stays in the engine of its worker from message to message.
//
//   engine ── a piece, in a buffer of the worker's pool ──> the task that reads, or _came        read ──> takes from _came, or waits
//
// Armed: the operation is in some worker's engine, or its arming is on its way to one. It is armed by a task that waits, at the stream's home,
// and stays armed until the peer ends, the stream is closed or moves to another worker, or nobody takes what comes.
//
// I1  Every byte goes once, in order, to the task that reads or to _came. A read that is stopped leaves what it has not been given.
// I2  A buffer goes back to its pool before the completion function ends: what nobody waits for is copied. So a pool is used up only by what came
//     at once, and then the receive is armed again.
// I3  While it is armed it keeps the descriptor, as an operation in flight: close() shuts the connection down, and that ends it.
// I4  Nobody takes what comes: with `most_kept` bytes in _came the operation is cancelled, and the rest waits in the system's buffers. What the kernel
//     received before it heard of that is kept all the same.
// I5  A stream that has just moved to a worker, or has just begun, receives when somebody waits, and then alone: only after `settled` messages there the
//     receive stays. What is in a worker's engine is that worker's to end, and if it computes for long, a stream that moves away would have to wait
//     for that each time: the p99 beside a connection that computes was 2.5 times as long.
//
// Where there are no buffers to choose from (no memory for them, the thread engine, a kernel before 5.19), and on kernels before 6.0, each wait is a
// receive of its own, and nothing comes ahead.
//
// Thread roles: everything under _lock, by any thread; came() and arm() on a worker. One task reads at a time: a second one is refused.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "faio/context/promise.hpp"
#include "faio/ioengine/operation.hpp"
#include "faio/net/arm_item.hpp"
#include "faio/net/descriptor.hpp"
#include "faio/net/export.hpp"
#include "faio/queue/spin_lock.hpp"

namespace faio::net {

/// It is the operation itself: what a completion needs lies right behind it, on the second of two lines that come together. With thousands of connections each line is a
/// wait for memory.
class alignas(2 * queue::line_size) FAIO_NET_API receiver : ioengine::operation {
 public:
  /// A part of the descriptor `of`.
  explicit receiver(const std::shared_ptr<descriptor>& of) noexcept : operation(&completed), _of(*of), _owner(of) {}
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;

  /// One read, in the frame of the coroutine that waits for it.
  class waiter;

  // ---- end of the public interface ----

 private:
  static constexpr std::size_t most_kept = std::size_t{64} * 1024;
  static constexpr std::size_t own_room = 4096;  // without a pool
  static constexpr unsigned longest_streak = 16;
  static constexpr std::uint8_t settled = 16;

  friend class arm_item<receiver>;
  static void completed(operation& op) noexcept { static_cast<receiver&>(op).came(); }

  enum class outcome : unsigned char { ready, later, waits };
  bool wait(waiter& one, std::span<std::byte> into, std::size_t least, context::promise_base& waiting);
  outcome begin(waiter& one, bool will_be_told, std::span<std::byte> into, std::size_t least) noexcept;
  void stop(waiter& one) noexcept;
  void forget(waiter& one) noexcept;
  std::size_t hand_over(const void* from, std::size_t size) noexcept;
  void take_what_came() noexcept;
  [[nodiscard]] bool arm() noexcept;
  [[nodiscard]] bool arm_at(scheduler::worker* there) noexcept;
  void arm_here() noexcept;
  void arm_elsewhere() noexcept;
  [[nodiscard]] bool send_to_another_worker() noexcept;
  void came() noexcept;
  bool give(std::span<const std::byte> piece) noexcept;
  void end_wait(int error) noexcept;

  // The second line.
  queue::spin_lock _lock;
  bool _armed = false;
  bool _moves = false;  // the stream lives elsewhere now: the operation is to follow
  bool _multishot = true;
  bool _proven = false;               // a multishot receive has worked: its errors are not the kernel's being too old
  std::uint8_t _received_here = 0;    // pieces, since it came to this worker; no more than `settled`
  std::atomic<bool> _reading{false};  // a read has begun, and has not looked at what it got: the next six are its own
  bool _is_near = false;              // its task's runtime is that of the worker that has the operation
  int _error = 0;
  context::promise_base* _waiting = nullptr;  // null: it has its result
  context::scope* _scope = nullptr;           // the waiting task's, only to be asked for
  std::span<std::byte> _into;                 // what is left of its room
  std::size_t _least = 0;                     // what it still wants
  descriptor& _of;

  const scheduler::worker* _where = nullptr;  // has the operation
  const std::weak_ptr<descriptor> _owner;
  std::shared_ptr<descriptor> _kept;  // while it is armed
  std::string _came;
  std::size_t _taken = 0;                          // of _came, at its front
  int _error_behind = 0;                           // came when nobody waited
  unsigned _streak = 0;                            // reads that did not have to wait
  const scheduler::worker* _last_where = nullptr;  // had it the last time; compared only
  std::unique_ptr<std::byte[]> _own_room;
  arm_item<receiver> _item{*this};
};

class FAIO_NET_API receiver::waiter final : context::stop_listener {
 public:
  waiter() noexcept : stop_listener(tells<waiter>) {}
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  ~waiter() {
    hear_no_more();
    if (_from != nullptr) _from->forget(*this);
  }

  /// In await_suspend, as the last thing: `least` bytes into the front of `into`. False: it has its result already.
  bool wait(receiver& from, std::span<std::byte> into, std::size_t least, context::promise_base& waiting) {
    _from = &from;
    _waiting = &waiting;
    _asked = into.size();
    return from.wait(*this, into, least, waiting);
  }
  /// After resumption. How many bytes came: fewer than the least, the peer has ended. An error: done() came before it.
  faio::result<std::size_t> give(const descriptor& of) noexcept {
    hear_no_more();  // first of all: a stop request finds nothing any more
    receiver& from = *std::exchange(_from, nullptr);
    if (_refused) return std::unexpected(std::make_error_code(std::errc::device_or_resource_busy));
    _done = _asked - from._into.size();
    const bool whole = from._least == 0;
    const int error = from._error;
    from._reading.store(false, std::memory_order_release);  // pairs with begin()
    if (whole) return _done;
    if (of.closed()) return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
    if (error == 0) return _done;
    return std::unexpected(std::error_code(-error, std::system_category()));
  }
  [[nodiscard]] std::size_t done() const noexcept { return _done; }

 private:
  friend class receiver;
  friend class context::stop_listener;
  void stop_asked() noexcept { _from->stop(*this); }
  /// Not under the receiver's lock: it may wait for a request that takes it.
  void hear_no_more() noexcept {
    if (is_added()) _waiting->owner().unsubscribe(*this);
  }

  receiver* _from = nullptr;
  context::promise_base* _waiting = nullptr;
  std::size_t _asked = 0;
  std::size_t _done = 0;
  // The receiver's, under its lock.
  bool _stopped = false;
  bool _refused = false;  // another task reads
};

}  // namespace faio::net
