// timer_item -- a work item that waits in a worker's wheel, and finds another wheel when its worker leaves.
#pragma once

#include "faio/ioengine/timer_wheel.hpp"
#include "faio/scheduler/work_item.hpp"

namespace faio::scheduler {

/// Every timer in a worker's wheel is one.
class timer_item : public work_item, public ioengine::timer_entry {
 public:
  struct timer_operations : operations {
    bool (*moved)(timer_item&) noexcept;
  };

  /// The leaving worker, after it took the timer out of its wheel. True: schedule the item elsewhere, and its run() arms it there.
  /// False: somebody else has taken charge of it.
  [[nodiscard]] bool moved() noexcept { return static_cast<const timer_operations&>(how()).moved(*this); }

 protected:
  timer_item(const timer_operations& how, completion fire) noexcept : work_item(how), timer_entry(fire) {}
  ~timer_item() = default;
};

}  // namespace faio::scheduler
