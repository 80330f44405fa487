// live_task -- its start, its end, and its list.
#include "faio/context/live_task.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace faio::context {

bool live_task::start(promise_base& root, bool low_priority) {
  _root.store(&root, std::memory_order_relaxed);  // relaxed: published by the queue, the list's lock
  root.belongs_to(*this);
  root.then_end(*this);
  runtime_core& runtime = this->runtime();
  scheduler::worker* const here = scheduler::current_worker();
  // A host's thread between two calls is like any other: nobody would look into its worker's slot.
  if (here != nullptr && &here->runtime() == &runtime.shared() && here->kind() == scheduler::worker_kind::io &&
      here->inside()) {
    if (low_priority) {
      here->post_global(root);
    } else {
      here->push_next(root);
    }
    return true;
  }
  join_state& join = _join;  // it stays: its handle is the caller's; we need not
  if (runtime.shared().post(root)) return true;
  runtime.destroy_refused(*this, join);
  join.drop_handle();
  return false;
}

std::coroutine_handle<> live_task::ended() noexcept {
  _root.store(nullptr, std::memory_order_relaxed);  // relaxed: only a report reads it
  // What the end calls (on_unhandled, the destructor of a value) does not run on behalf of a scope that is about to go.
  scheduler::thread_state& here = scheduler::this_thread();
  here.scope = nullptr;
  scope::settle(here);
  _join.ending(*this);
  const std::uintptr_t waiter = _join.end();
  release();  // we may be gone
  if (join_state::tell(waiter)) return std::noop_coroutine();
  return promise_base::switch_to(*reinterpret_cast<promise_base*>(waiter));
}

/// As ended(), without a result; a coroutine that waits will be destroyed as well, and is not resumed.
void live_task::destroy() noexcept {
  promise_base::destroy_tree(*_root.exchange(nullptr, std::memory_order_relaxed));  // relaxed: under the runtime's lock
  const std::uintptr_t waiter = _join.end();
  release();
  (void)join_state::tell(waiter);  // false: a coroutine of this runtime, which will be destroyed as well
}

void live_task::complete() noexcept {
  leave_above();
  runtime().live.remove(*this);
  if (_join.drop_task(runtime(), listeners().is_asked())) delete this;
}

void blocking_task::complete() noexcept {
  completion_signal& all_ended = _all_ended;
  live_task::complete();  // we may be gone
  all_ended.mark_ready();
}

// ---- The list.

live_list::shard& live_list::shard_of(const live_task& task) noexcept {
  // By its page, not by who spawns it: one who spawns and another who runs what was spawned would meet at one lock. And those of a page stand
  // together: who takes one out touches its neighbours.
  return _shards[(reinterpret_cast<std::uintptr_t>(&task) / 4096) % shards];
}

void live_list::add(live_task& task) noexcept {
  shard& into = shard_of(task);
  const std::lock_guard lock(into.mutex);
  task._list_prev = nullptr;
  task._list_next = into.first;
  if (into.first != nullptr) into.first->_list_prev = &task;
  into.first = &task;
  ++into.count;
}

void live_list::remove(live_task& task) noexcept {
  shard& from = shard_of(task);
  const std::lock_guard lock(from.mutex);
  if (task._list_next == &task) return;  // it never ran
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
      if (task->has_coroutine()) all.push_back(task->where());
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
