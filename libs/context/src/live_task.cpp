// live_task -- its start, its end, and its list.
#include "faio/context/live_task.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "faio/context/join_handle.hpp"

namespace faio::context {

bool live_task::start(promise_base& root, bool low_priority, completion_signal* all_beneath_ended) {
  _root.store(&root, std::memory_order_relaxed);  // relaxed: published by the queue, the list's lock
  _all_ended = all_beneath_ended;
  root.belongs_to(*this);
  root.then_tell(*this);
  runtime().live.add(*this);
  scheduler::worker* const here = scheduler::current_worker();
  // A host's thread between two calls is like any other: nobody would look into its worker's slot.
  if (here != nullptr && &here->runtime() == &runtime().shared() && here->kind() == scheduler::worker_kind::io &&
      here->inside()) {
    if (low_priority) {
      here->post_global(root);
    } else {
      here->push_next(root);
    }
    return true;
  }
  if (runtime().shared().post(root)) return true;
  runtime().destroy_refused(*this);
  drop_handle();
  return false;
}

std::coroutine_handle<> live_task::ended() noexcept {
  _root.store(nullptr, std::memory_order_relaxed);  // relaxed: only a report reads it
  // What the end calls (on_unhandled, the destructor of a value) does not run on behalf of a scope that is about to go.
  scheduler::thread_state& here = scheduler::this_thread();
  here.scope = nullptr;
  scope::settle(here);
  ending();
  const std::uintptr_t waiter = _meeting.end();
  release();  // we may be gone
  if (tell(waiter)) return std::noop_coroutine();
  return promise_base::switch_to(*reinterpret_cast<promise_base*>(waiter));
}

/// As ended(), without a result; a coroutine that waits will be destroyed as well, and is not resumed.
void live_task::destroy() noexcept {
  promise_base* const root = _root.exchange(nullptr, std::memory_order_relaxed);  // relaxed: under the runtime's lock
  if (root == nullptr) return;  // whoever spawned it was refused, and the runtime's end had come for it already
  promise_base::destroy_tree(*root);
  const std::uintptr_t waiter = _meeting.end();
  release();
  (void)tell(waiter);  // false: a coroutine of this runtime, which will be destroyed as well
}

void live_task::destroy_refused() noexcept {
  _all_ended = nullptr;
  destroy();
}

/// False: it is a coroutine, to be resumed.
bool live_task::tell(std::uintptr_t waiter) noexcept {
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

void live_task::wait() {
  completion_signal ended_signal;
  if (_meeting.install(reinterpret_cast<std::uintptr_t>(&ended_signal) | thread_bit)) {
    ended_signal.wait();
  } else if (!done()) {
    throw std::logic_error("faio: somebody else waits for this task already; a join_handle is for one");
  }
}

void live_task::complete() noexcept {
  leave_above();
  runtime().live.remove(*this);
  completion_signal* const all_ended = _all_ended;
  drop_keeper(keeper::scope);  // we may be gone
  if (all_ended != nullptr) all_ended->mark_ready();
}

void live_task::drop_keeper(keeper which) noexcept {
  if (!_meeting.let_go(which)) return;
  if (auto what = untaken()) runtime_core::report_unhandled(&runtime(), std::move(what), _where);
  delete this;
}

void throw_empty_handle() {
  throw std::logic_error(
      "faio: this join_handle is empty: it was moved from, or its result was taken before; a result can be taken once");
}

void throw_blocks_worker(const char* call) {
  throw std::system_error(scheduler::make_error_code(scheduler::errc::on_a_worker), std::string("faio: ") + call);
}

// ---- The list.

void live_list::add(live_task& task) noexcept {
  // By its page, not by who spawns it: one who spawns and another who runs what was spawned would meet at one lock. And those of a page stand
  // together: who takes one out touches its neighbours.
  task._shard = static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(&task) / 4096) % shards);
  shard& into = _shards[task._shard];
  const std::lock_guard lock(into.mutex);
  task._list_prev = nullptr;
  task._list_next = into.first;
  if (into.first != nullptr) into.first->_list_prev = &task;
  into.first = &task;
  ++into.count;
}

void live_list::remove(live_task& task) noexcept {
  shard& from = _shards[task._shard];
  const std::lock_guard lock(from.mutex);
  (task._list_prev != nullptr ? task._list_prev->_list_next : from.first) = task._list_next;
  if (task._list_next != nullptr) task._list_next->_list_prev = task._list_prev;
  --from.count;
}

std::vector<live_task*> live_list::from_the_leaves() const {
  std::vector<std::pair<std::uint32_t, live_task*>> found;
  for (const shard& each : _shards) {
    const std::lock_guard lock(each.mutex);
    for (live_task* task = each.first; task != nullptr; task = task->_list_next) {
      if (task->has_coroutine()) found.emplace_back(task->depth(), task);
    }
  }
  std::ranges::sort(found, std::greater{}, [](const auto& each) { return each.first; });
  std::vector<live_task*> all;
  all.reserve(found.size());
  for (const auto& [depth, task] : found) all.push_back(task);
  return all;
}

std::vector<std::source_location> live_list::places() const {
  std::vector<std::source_location> all;
  for (const shard& each : _shards) {
    const std::lock_guard lock(each.mutex);
    for (const live_task* task = each.first; task != nullptr; task = task->_list_next) {
      if (task->has_coroutine()) all.push_back(task->_where);
    }
  }
  return all;
}

std::size_t live_list::size() const noexcept {
  std::size_t sum = 0;
  for (const shard& each : _shards) {
    const std::lock_guard lock(each.mutex);
    sum += each.count;
  }
  return sum;
}

}  // namespace faio::context
