// parcel -- what is in a worker's inbox: an item, and whether it is for that worker alone.
#pragma once

#include <cstdint>

#include "faio/scheduler/work_item.hpp"

namespace faio::scheduler {

/// As large as a pointer, so that an inbox takes it: the mark is in the lowest bit.
class parcel {
 public:
  parcel() = default;
  /// For the worker alone: never stolen.
  explicit parcel(work_item& item) noexcept : _bits(reinterpret_cast<std::uintptr_t>(&item)) {}
  /// Work that the worker is asked to help with: others may take it from there.
  static parcel to_share(work_item& item) noexcept {
    parcel made(item);
    made._bits |= shared;
    return made;
  }

  [[nodiscard]] work_item* item() const noexcept {
    return reinterpret_cast<work_item*>(_bits & ~shared);  // NOLINT(performance-no-int-to-ptr): it was one
  }
  [[nodiscard]] bool is_to_share() const noexcept { return (_bits & shared) != 0; }

  // ---- end of the public interface ----

 private:
  static constexpr std::uintptr_t shared = 1;
  static_assert(alignof(work_item) > shared, "the lowest bit of an item's address is free");
  std::uintptr_t _bits = 0;
};

}  // namespace faio::scheduler
