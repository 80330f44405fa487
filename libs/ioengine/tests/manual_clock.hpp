// manual_clock -- time that moves only when the test says so.
#pragma once

#include <chrono>

#include "faio/ioengine/clock.hpp"

namespace faio::ioengine::testing {

class manual_clock final : public clock {
 public:
  using duration = time_point::duration;

  /// Starts late enough for a test to go back a few days without passing the epoch.
  explicit manual_clock(time_point start = time_point(std::chrono::hours(100))) : _now(start) {}

  [[nodiscard]] time_point now() const noexcept override { return _now; }
  void set(time_point now) { _now = now; }
  void advance(duration by) { _now += by; }

 private:
  time_point _now;
};

}  // namespace faio::ioengine::testing
