// objects -- the table of every atomic, plain field, mutex and heap block that lives, or lived, in an execution.
//
// Accesses come with an address only. The table turns it into a record without touching the memory behind it; a record
// outlives its object until the execution ends or another object is made in its place, so that a use after death can
// name what died. The epochs in a record find data races (FastTrack: one epoch for the last write, one for the last
// read of each thread). For an atomic or a mutex every access counts as a read, its construction and its destruction
// as writes: those two are not atomic.
#pragma once

#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "explorer/operations.hpp"
#include "memory.hpp"

namespace faio::explorer {

struct object {
  const void* address = nullptr;
  operations::kind kind{};
  bool alive = false;
  unsigned number = 0;  // among those of its kind, in order of construction
  const char* label = nullptr;

  epoch write{};  // the last one
  std::source_location write_at{};
  std::array<std::uint32_t, max_threads> read_times{};  // of the last one of each thread; 0: none
  std::array<std::source_location, max_threads> reads_at{};

  unsigned location = 0;                // atomic: its history in memory
  operations::printer print = nullptr;  // atomic
  unsigned holder = 0;                  // mutex: the thread that holds it
  bool held = false;                    // mutex
  snapshot released{};                  // mutex: what its last holder knew
  std::size_t size = 0;                 // block
  const char* type_name = nullptr;      // block

  [[nodiscard]] std::string name() const;
};

class objects {
 public:
  void reset() noexcept;

  /// Registers an object; a dead one of the same kind at this address is forgotten.
  object& add(const void* address, operations::kind kind);
  /// The record of what is or was at the address, or null.
  [[nodiscard]] object* find(const void* address, operations::kind kind) noexcept {
    const slot& place = probe(address, kind);
    return place.round == _round ? &_records[place.record] : nullptr;
  }

  /// The heap block, dead or alive, that the address lies in, or null. Slow: for messages.
  [[nodiscard]] const object* block_around(const void* address) const noexcept;
  /// Some object that is still alive, blocks first, or null.
  [[nodiscard]] const object* any_alive() const noexcept;
  [[nodiscard]] unsigned alive() const noexcept { return _alive; }
  void bury(object& dead) noexcept {
    dead.alive = false;
    --_alive;
  }

 private:
  // Open addressing with linear probing. A slot counts only if its round is the current one: reset() is one increment.
  struct slot {
    const void* address = nullptr;
    std::uint32_t round = 0;
    std::uint32_t record = 0;
    operations::kind kind{};
  };
  static constexpr std::size_t slots = 8192;
  static constexpr std::size_t max_records = slots / 2;

  [[nodiscard]] slot& probe(const void* address, operations::kind kind) noexcept {
    // Fibonacci hashing: neighbouring fields differ in low bits only, the product spreads them over the high ones.
    const auto bits = reinterpret_cast<std::uintptr_t>(address) ^ (static_cast<std::uintptr_t>(kind) << 56U);
    std::size_t at = (std::uint64_t{bits} * 0x9e3779b97f4a7c15U) >> (64U - 13U);
    static_assert(slots == std::size_t{1} << 13U);
    for (;; at = (at + 1) % slots) {
      slot& candidate = _table[at];
      if (candidate.round != _round || (candidate.address == address && candidate.kind == kind)) return candidate;
    }
  }

  std::vector<slot> _table = std::vector<slot>(slots);
  std::vector<object> _records = std::vector<object>(max_records);
  std::uint32_t _count = 0;
  std::uint32_t _round = 1;
  unsigned _alive = 0;
  std::array<unsigned, 4> _numbers{};
};

}  // namespace faio::explorer
