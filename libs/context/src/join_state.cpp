// join_state -- telling whoever waits, asking to stop, and the end of both records.
#include "faio/context/join_state.hpp"

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "faio/context/join_handle.hpp"
#include "faio/context/live_task.hpp"

namespace faio::context {

bool join_state::tell(std::uintptr_t waiter) noexcept {
  if (waiter == end_meeting::pending) return true;
  if ((waiter & thread_bit) != 0) {
    reinterpret_cast<completion_signal*>(waiter & ~thread_bit)->mark_ready();
    return true;
  }
  if ((waiter & wait_bit) != 0) {
    auto* const wait = reinterpret_cast<join_wait*>(waiter & ~wait_bit);
    wait->task_ended();
    wait->release();
    return true;
  }
  return false;
}

void join_state::wait() {
  if (!_meeting.pin()) return;  // it has ended; its runtime may be gone
  const bool here = _task->runtime().is_here();
  unpin();
  if (here) throw_blocks_worker("join_handle::get");
  completion_signal ended_signal;
  if (_meeting.install(reinterpret_cast<std::uintptr_t>(&ended_signal) | thread_bit)) {
    ended_signal.wait();
  } else if (!done()) {
    throw std::logic_error("faio: somebody else waits for this task already; a join_handle is for one");
  }
}

bool join_state::request_stop() noexcept {
  if (!_meeting.pin()) return _meeting.note_asked();
  // Noted before it is asked: whoever comes when the task is gone finds it noted, too. Those who ask by the handle agree on one who was the first.
  const bool asked_from_above = _task->listeners().is_asked();
  const bool first = _meeting.note_asked() && !asked_from_above;
  _task->request_stop();
  unpin();
  return first;
}

void join_state::unpin() noexcept {
  live_task* const task = _task;
  if (_meeting.unpin()) delete task;
}

bool join_state::drop_task(const runtime_core& runtime, bool stop_asked) noexcept {
  if (stop_asked) _meeting.note_asked();
  _heard.store(&runtime, std::memory_order_relaxed);  // relaxed: whoever lets go last sees it, [K]
  const auto left = _meeting.let_go(keeper::scope);
  if (left.meeting) report_and_delete(&runtime);
  return left.scope;
}

void join_state::drop_handle() noexcept {
  if (!_meeting.let_go(keeper::handle).meeting) return;
  // relaxed: the task has let go, and it is the runtime.
  report_and_delete(static_cast<const runtime_core*>(_heard.load(std::memory_order_relaxed)));
}

void join_state::report_and_delete(const runtime_core* runtime) noexcept {
  if (auto what = untaken()) runtime_core::report_unhandled(runtime, std::move(what), _where);
  delete this;
}

void throw_empty_handle() {
  throw std::logic_error(
      "faio: this join_handle is empty: it was moved from, or its result was taken before; a result can be taken once");
}

void throw_blocks_worker(const char* call) {
  throw std::system_error(scheduler::make_error_code(scheduler::errc::on_a_worker), std::string("faio: ") + call);
}

}  // namespace faio::context
