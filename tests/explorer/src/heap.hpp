// heap -- the memory behind atomics::make: never reused within an execution, reused by the next one.
//
// Quarantine until the end makes a use after free find a dead object instead of a new one, and keeps the access itself
// harmless. Released blocks are overwritten, and poisoned for AddressSanitizer, which sees the fields that are neither
// atomic nor plain.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace faio::explorer {

class heap {
 public:
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment);
  /// The memory stays ours until reset().
  static void retire(void* block, std::size_t size) noexcept;
  /// After an execution that ended well.
  void reset() noexcept;
  /// After one that failed: its objects were never destroyed and may own memory, so its blocks are set aside for good.
  void abandon();

 private:
  // Classes of 128, 256, 512 ... bytes.
  static constexpr std::size_t classes = 24;
  static constexpr std::size_t smallest = 128;  // and the alignment of all: two cache lines, as padded types ask for
  struct block {
    void* memory;
    std::size_t size_class;
  };

  std::array<std::vector<void*>, classes> _free;
  std::vector<block> _used;
  std::vector<block> _abandoned;  // kept reachable, so that leak checkers see what the lost objects own
};

}  // namespace faio::explorer
