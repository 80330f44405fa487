// io -- into the worker's engine, and back.
#include "faio/context/io.hpp"

#include <cerrno>

namespace faio::context {

void io_awaiter::submit_here() noexcept {
  _submitted = true;
  scheduler::worker& here = *scheduler::current_worker();
  (void)here.io().submit(*this);  // refused only while it is in flight, which it is not
  if (!has_begun()) here.fresh().add(*this);
}

void io_awaiter::suspend(promise_base& waiting) {
  if (!refuse(waiting)) submit_here();
}

/// It takes longer than a drive: those who may stop it are to know of it.
void io_awaiter::settle(fresh_wait& wait) noexcept { static_cast<io_awaiter&>(wait).begin(); }

void io_awaiter::suspend_on(scheduler::worker& there, promise_base& waiting) {
  if (refuse(waiting)) return;
  begin_elsewhere();
  // Refused when the runtime has ended: its frame is destroyed by that end.
  (void)waiting.owner().runtime().shared().post_to(there, *this);
}

bool io_awaiter::withdraw() noexcept {
  if (!in_flight()) return true;  // it completed, and left it to the message
  (void)scheduler::current_worker()->io().cancel(*this);
  return false;
}

void io_awaiter::completed(operation& op) noexcept {
  auto& self = static_cast<io_awaiter&>(op);
  scheduler::worker& here = *scheduler::current_worker();
  const bool is_known = !self.is_fresh();
  if (!is_known) self.forget();
  if (op.result() == -ECANCELED && here.leaving()) {
    // The worker's doing, not the user's: on to another one. False: a stop request came too, and its message resumes.
    if (self.moved()) here.push_quietly(self);
    return;
  }
  if (is_known)
    self.event();
  else
    self.resume();
}

void io_awaiter::run_it(work_item& item) noexcept {
  auto& self = static_cast<io_awaiter&>(item);
  if (self.run_again()) self.submit_here();
}

}  // namespace faio::context
