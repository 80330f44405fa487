// sleep -- into the worker's wheel, and out of it.
#include "faio/context/sleep.hpp"

namespace faio::context {

void sleep_awaiter::suspend(promise_base& waiting) {
  if (refuse(waiting)) return;
  scheduler::current_worker()->arm(*this, _deadline);
  begin();
}

bool sleep_awaiter::withdraw() noexcept {
  (void)scheduler::current_worker()->disarm(*this);  // not pending: it fired, and left it to the message
  return true;
}

void sleep_awaiter::fire(ioengine::timer_entry& timer) noexcept {
  static_cast<sleep_awaiter&>(static_cast<timer_item&>(timer)).event();
}

void sleep_awaiter::run_it(work_item& item) noexcept {
  auto& self = static_cast<sleep_awaiter&>(static_cast<timer_item&>(item));
  if (self.run_again()) scheduler::current_worker()->arm(self, self._deadline);
}

ioengine::time_point now() {
  // No runtime is started only to be asked for the time.
  scheduler::shared_state* const here = scheduler::this_thread().runtime;
  return here != nullptr ? here->time().now() : std::chrono::steady_clock::now();
}

ioengine::time_point deadline_after(std::chrono::nanoseconds duration) {
  const auto from = now();
  return duration < ioengine::time_point::max() - from ? from + duration : ioengine::time_point::max();
}

}  // namespace faio::context
