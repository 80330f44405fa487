// residents -- how many long-lived things, connections say, each worker is home to: for spreading them.
//
// Kept by whoever lives somewhere and shared with the runtime: a connection may be closed when its runtime is gone.
// Numbers only: they decide where something goes, and hand nothing over. So every access is relaxed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "faio/scheduler/pool.hpp"

namespace faio::scheduler {

/// Any thread. By the worker's station, which stays when a worker leaves and another one takes its place.
class residents {
 public:
  void add(std::size_t station) noexcept { _counts[station].fetch_add(1, std::memory_order_relaxed); }
  void remove(std::size_t station) noexcept { _counts[station].fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] std::size_t count(std::size_t station) const noexcept {
    return _counts[station].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint32_t>, pool::most_workers> _counts{};
};

}  // namespace faio::scheduler
