// operation_access -- the engines' way into an operation, and the lists they keep operations in.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

#include "faio/ioengine/operation.hpp"

namespace faio::ioengine::detail {

/// Where an operation is. 0 is idle; the places of one kind of engine mean nothing to another.
enum class place : std::uint8_t {
  idle,
  kernel,    // uring: in the submission ring or beyond
  ready,     // has its result, waits for the next drive
  timer,     // a timeout, in the wheel
  backlog,   // uring: the ring had no room
  waiting,   // epoll: for its descriptor
  orphaned,  // epoll: its descriptor was closed under it; only cancel ends it
  again,     // epoll: to be tried again in the next turn
  pool,      // epoll: with the blocking threads
};

struct operation_access {
  static_assert(operation::with_kernel == static_cast<std::uint8_t>(place::kernel));
  using what = operation::what;
  using extent = operation::extent;
  static constexpr std::uint32_t buffer_flag = operation::buffer_flag;
  static constexpr std::uint32_t more_flag = operation::more_flag;
  static constexpr std::uint8_t multishot = operation::multishot;
  static constexpr std::uint8_t pooled = operation::pooled;
  static constexpr std::uint8_t cancel_asked = operation::cancel_asked;
  static constexpr std::uint8_t zero_copy = operation::zero_copy;
  static constexpr std::uint8_t by_copy = operation::by_copy;
  static constexpr std::uint8_t pausing = operation::pausing;

  static operation_link& link(operation& op) noexcept { return op; }
  static operation& from(operation_link& link) noexcept { return static_cast<operation&>(link); }

  static place where(const operation& op) noexcept { return static_cast<place>(op._outcome.state); }
  static void put(operation& op, place where) noexcept { op._outcome.state = static_cast<std::uint8_t>(where); }

  static operation::completion complete(const operation& op) noexcept { return op._complete; }
  static std::int32_t& result(operation& op) noexcept { return op._outcome.result; }
  static constexpr std::uint32_t unused_flags = 0xff00;  // an operation has no room for these
  static std::uint32_t flags(const operation& op) noexcept {
    return op._outcome.flags | (std::uint32_t{op._outcome.buffer_id} << 16);
  }
  static void set_flags(operation& op, std::uint32_t flags) noexcept {
    assert((flags & unused_flags) == 0);
    op._outcome.flags = static_cast<std::uint8_t>(flags);
    op._outcome.buffer_id = static_cast<std::uint16_t>(flags >> 16);
  }
  /// Result, flags and place, by one store.
  static void set_outcome(operation& op, std::int32_t result, std::uint32_t flags, place where) noexcept {
    assert((flags & unused_flags) == 0);
    if constexpr (std::endian::native == std::endian::little) {
      op._outcome = std::bit_cast<operation::outcome>(
          static_cast<std::uint32_t>(result) | (std::uint64_t{flags >> 16} << 32) |
          (std::uint64_t{flags & 0xff} << 48) | (static_cast<std::uint64_t>(where) << 56));
    } else {
      op._outcome.result = result;
      set_flags(op, flags);
      put(op, where);
    }
  }
  static void* address(const operation& op) noexcept { return op._address; }
  static std::uint64_t offset(const operation& op) noexcept { return op._offset; }
  static std::uint32_t length(const operation& op) noexcept { return op._extent.length; }
  static std::uint32_t op_flags(const operation& op) noexcept { return op._extent.op_flags; }
  static void set_op_flags(operation& op, std::uint32_t flags) noexcept { op._extent.op_flags = flags; }
  static std::int32_t fd(const operation& op) noexcept { return op._what.fd; }
  static std::uint8_t& options(operation& op) noexcept { return op._what.options; }
  static void forget_cancel(operation& op) noexcept {
    op._what.options &= static_cast<std::uint8_t>(~(cancel_asked | by_copy | pausing));
  }
  static bool is(const operation& op, std::uint8_t option) noexcept { return (op._what.options & option) != 0; }
  static buffer_pool& pool(const operation& op) noexcept { return *static_cast<buffer_pool*>(op._address); }
  static void set_offset(operation& op, std::uint64_t offset) noexcept { op._offset = offset; }

  static timer_entry& timer(timeout_operation& op) noexcept { return op._timer; }
  static time_point deadline(const timeout_operation& op) noexcept { return op._deadline; }
  static void set_engine(timeout_operation& op, engine& owner) noexcept {
    op._timer.self = &op;
    op._timer.owner = &owner;
  }
};

// The list operations on links; a head that is alone points to itself.

inline void make_empty(operation_link& head) noexcept { head.next = head.prev = &head; }
inline bool is_empty(const operation_link& head) noexcept { return head.next == &head; }

inline void push_back(operation_link& head, operation& op) noexcept {
  operation_link& link = operation_access::link(op);
  link.next = &head;
  link.prev = head.prev;
  head.prev->next = &link;
  head.prev = &link;
}

inline void push_front(operation_link& head, operation& op) noexcept { push_back(*head.next, op); }

/// Out of whatever list it is in.
inline void unlink(operation& op) noexcept {
  operation_link& link = operation_access::link(op);
  link.next->prev = link.prev;
  link.prev->next = link.next;
}

inline operation& front(operation_link& head) noexcept { return operation_access::from(*head.next); }

inline operation& pop_front(operation_link& head) noexcept {
  operation& op = front(head);
  unlink(op);
  return op;
}

/// Everything from one list to the end of another.
inline void move_all(operation_link& from, operation_link& to) noexcept {
  if (is_empty(from)) return;
  from.next->prev = to.prev;
  to.prev->next = from.next;
  from.prev->next = &to;
  to.prev = from.prev;
  make_empty(from);
}

}  // namespace faio::ioengine::detail
