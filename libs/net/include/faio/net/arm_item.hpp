// arm_item -- on its way to a worker, where an operation that serves several tasks, or several reads, is to be armed.
#pragma once

#include "faio/scheduler/work_item.hpp"

namespace faio::net {

/// A part of `Self`, which keeps itself while this is on its way: arm_here() on the worker that got it, arm_elsewhere() when its runtime has ended.
template <class Self>
class arm_item final : public scheduler::work_item {
 public:
  explicit arm_item(Self& whose) noexcept : work_item(how), _self(whose) {}

 private:
  static void run_it(work_item& item) noexcept { static_cast<arm_item&>(item)._self.arm_here(); }
  static void drop_it(work_item& item) noexcept { static_cast<arm_item&>(item)._self.arm_elsewhere(); }
  static constexpr operations how{&run_it, &drop_it};

  Self& _self;
};

}  // namespace faio::net
