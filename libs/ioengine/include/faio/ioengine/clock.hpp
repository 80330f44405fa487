// clock -- where an engine takes its time from: a thing that is given to it, not a global.
#pragma once

#include <chrono>

#include "faio/ioengine/export.hpp"

namespace faio::ioengine {

using time_point = std::chrono::steady_clock::time_point;

/// The source of "now" for timers and deadlines. Derive from it to move time by hand: an engine then fires timers by that
/// clock; whoever moves it calls `engine::wake()` so that a sleeping engine looks at it again.
/// `now` is called by the engine's thread, and never gives an earlier time than before.
class FAIO_IOENGINE_API clock {
 public:
  [[nodiscard]] virtual time_point now() const noexcept = 0;

  /// Any thread. The machine's steady clock; lives as long as the program.
  [[nodiscard]] static const clock& steady() noexcept;

 protected:
  clock() = default;
  clock(const clock&) = default;
  clock& operator=(const clock&) = default;
  ~clock() = default;
};

}  // namespace faio::ioengine
