// waiters -- coroutines and threads in line.
#include "faio/sync/waiters.hpp"

#include <string>
#include <system_error>

#include "faio/scheduler/errors.hpp"
#include "faio/scheduler/thread_state.hpp"
#include "faio/sync/permit_awaiter.hpp"

namespace faio::sync {

void check_may_block(const char* call) {
  if (scheduler::current_worker() == nullptr) return;
  throw std::system_error(scheduler::make_error_code(scheduler::errc::on_a_worker), std::string("faio: ") + call);
}

bool permit_awaiter::suspend(context::promise_base& waiting) {
  if (_stop == stoppable::no) {
    begin_unstoppably(waiting);
  } else if (!begin(waiting)) {
    set_state(wait_state::canceled);
    return false;
  }
  return _from.take_or_wait(*this, _count) == wait_state::queued;
}

void take_blocking(permits& from, std::uint64_t count, const char* call) {
  if (from.try_take(count)) return;
  check_may_block(call);
  thread_waiter me;
  if (from.take_or_wait(me, count) == wait_state::queued) me.wait();
}

}  // namespace faio::sync
