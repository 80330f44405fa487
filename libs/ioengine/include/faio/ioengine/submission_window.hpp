// submission_window -- the free entries of a ring, in sight of whoever submits: a common operation becomes an entry without a call.
//
//   the ring  [ . . . | x x x x | . . . . ]        x: written, for the next enter
//                               ^ next    ^ end, of the ring or of what the kernel has free; then the engine moves the window
//
// Everything is the engine's owner's. An engine without a ring leaves both null: there is never room.
//
// An operation is laid out as an entry is, and prepared where it is submitted more often than not: then this is a handful of stores of what
// is in registers. A nop of 60 ns, nearly all of them the kernel's, was 5 ns longer with a virtual call that read it all again (ADR 24).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "faio/ioengine/operation.hpp"

namespace faio::ioengine::detail {

/// Those that wait for somebody else as a rule. A set of bits: it is asked at each submit.
constexpr std::uint64_t bit_of(opcode code) noexcept { return std::uint64_t{1} << static_cast<unsigned>(code); }
inline constexpr std::uint64_t slow_ones = bit_of(opcode::recv) | bit_of(opcode::recvmsg) | bit_of(opcode::accept) |
                                           bit_of(opcode::connect) | bit_of(opcode::poll);

struct submission_window {
  /// As the kernel has it (struct io_uring_sqe); uring_engine.cpp checks that.
  struct entry {
    std::uint64_t what;  // opcode, flags, priority, descriptor
    std::uint64_t offset;
    std::uint64_t address;
    std::uint64_t extent;  // length, the operation's own flags
    std::uint64_t user_data;
    std::uint64_t buffer_group;
    std::uint64_t nobodys[2];  // zero since the ring was made
  };

  [[nodiscard]] bool has_room() const noexcept { return next != end; }

  /// All of an entry. An operation has its options where an entry has its flags: for one that has any, those are the caller's to set. All is read before
  /// anything is written: a compiler must take the entry for a part of the operation.
  void fill(entry& to, operation& op) noexcept {
    const operation::what what = op._what;
    operation::extent extent = op._extent;
    if (std::endian::native == std::endian::big && what.code == opcode::poll)  // the kernel swaps the half words there
      extent.op_flags = std::rotl(extent.op_flags, 16);
    const std::uint64_t first = alone(std::bit_cast<std::uint64_t>(what));
    const std::uint64_t offset = alone(op._offset);
    const std::uint64_t address = alone(reinterpret_cast<std::uintptr_t>(op._address));
    const std::uint64_t fourth = alone(std::bit_cast<std::uint64_t>(extent));
    to.what = first;
    to.offset = offset;
    to.address = address;
    to.extent = fourth;
    to.user_data = reinterpret_cast<std::uintptr_t>(&op);
    to.buffer_group = 0;
    if (is_quick(what.code) && !quick) quick = true;
  }

  /// For an operation without options, when there is room.
  void submit(operation& op) noexcept {
    prefetch();
    fill(*next++, op);
    op._outcome.state = operation::with_kernel;
  }

  [[nodiscard]] static bool is_plain(const operation& op) noexcept {
    return (op._what.options | op._outcome.state) == 0;
  }

  /// Whether the kernel often completes it at once.
  [[nodiscard]] static constexpr bool is_quick(opcode code) noexcept { return (bit_of(code) & slow_ones) == 0; }

  entry* next = nullptr;
  entry* end = nullptr;
  bool quick = false;  // there is one among the submitted that is_quick

 private:
  /// A word that a compiler must not join with its neighbour to one of 16 bytes: it was stored a moment ago as a word, and a load of two that were stored apart
  /// waits until both are in the cache. 24 ns of a read.
  static std::uint64_t alone(std::uint64_t word) noexcept {
    __asm__("" : "+r"(word));
    return word;
  }
  /// The kernel has read the entry since it was last written, with 256 others: it is not in the nearest cache, and stores would queue up for it.
  /// An address, not a pointer: it may be beyond the ring.
  void prefetch() const noexcept {
    constexpr std::uintptr_t ahead = 4 * sizeof(entry);
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(next) + ahead), 1);
  }
};

}  // namespace faio::ioengine::detail
