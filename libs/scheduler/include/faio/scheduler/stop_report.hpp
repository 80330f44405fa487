// stop_report -- what stop() found still running when its grace ended, by the place that spawned or posted it.
#pragma once

#include <source_location>
#include <vector>

namespace faio::scheduler {

/// As a bool: whether all has ended.
struct stop_report {
  bool finished = true;  ///< all threads have ended and everything is freed
  std::vector<std::source_location> still_running;
  operator bool() const noexcept { return finished; }
};

}  // namespace faio::scheduler
