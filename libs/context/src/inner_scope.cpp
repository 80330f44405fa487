// inner_scope -- going on when a scope is complete.
#include "faio/context/inner_scope.hpp"

#include <system_error>

#include "faio/context/spawn.hpp"

namespace faio::context {

void schedule(promise_base& ready) noexcept { schedule(ready, ready); }

void schedule(promise_base& waiting, scheduler::work_item& instead) noexcept {
  runtime_core& runtime = waiting.owner().runtime();
  scheduler::worker* const here = scheduler::current_worker();
  if (here != nullptr && &here->runtime() == &runtime.shared() && here->kind() == scheduler::worker_kind::io) {
    here->push_next(instead);
  } else {
    // It may run and end before we have told a worker of it: its scope, and with that the runtime, stays until then.
    scope& owner = waiting.owner();
    owner.retain();
    // Refused when the runtime has ended: its frame is destroyed by that end.
    (void)runtime.shared().post_again(instead);
    owner.release_later();
  }
}

void schedule_announced(promise_base& waiting, scheduler::work_item& what) noexcept {
  runtime_core& runtime = waiting.owner().runtime();
  schedule(waiting, what);  // it may be gone
  runtime.foreign_done();
}

void throw_stopped() { throw std::system_error(scheduler::make_error_code(scheduler::errc::stopped), "faio: spawn"); }

}  // namespace faio::context
