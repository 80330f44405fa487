// pool -- members come, are woken, and go.
#include "faio/scheduler/pool.hpp"

#include "faio/scheduler/worker.hpp"

namespace faio::scheduler {

void pool::wake(std::size_t number) {
  // Held while waking: a worker leaves under this lock, and its engine is there until then (I1).
  const std::lock_guard lock(_mutex);
  if (number < _members.size() && _members[number] != nullptr) _members[number]->wake();
}

worker* pool::member(std::size_t number) {
  const std::lock_guard lock(_mutex);
  return _members[number];
}

void pool::wake_all() {
  const std::lock_guard lock(_mutex);
  for (worker* each : _members) {
    if (each != nullptr) each->wake();
  }
}

std::size_t pool::join(worker& who) {
  const std::lock_guard lock(_mutex);
  const std::size_t number = machine.add_worker();
  _members.resize(number + 1);
  _members[number] = &who;
  return number;
}

void pool::leave(std::size_t number) {
  const std::lock_guard lock(_mutex);
  _members[number] = nullptr;
  machine.retire_worker(number);
}

// All relaxed: written under the mutex; see rest() in the header for the order that matters.

void pool::rest(worker& host) {
  const std::lock_guard lock(_mutex);
  _listening.push_back(&host);
  _listening_count.store(_listening.size(), std::memory_order_relaxed);
  _resting_count.store(_resting_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void pool::come_back(worker& host) {
  const std::lock_guard lock(_mutex);
  std::erase(_listening, &host);
  _listening_count.store(_listening.size(), std::memory_order_relaxed);
  _resting_count.store(_resting_count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

bool pool::work_in_sight() const {
  bool work = !queue.empty();
  for_each_station(0, [&](const worker& each) { work = work || each.queue_length() != 0; });
  return work;
}

/// After worker_to_notify() gave nobody. A searcher will see the work, or ask again; if all are busy, a host may be free.
/// A notice is also given for a slot, or after the last piece of work was taken: a host does not come for that.
void pool::wake_a_host() {
  if (machine.searching() != 0 || !work_in_sight()) return;
  const std::lock_guard lock(_mutex);
  if (_listening.empty()) return;
  _listening.back()->wake();
  _listening.pop_back();  // told once is enough: it looks everywhere when it comes
  _listening_count.store(_listening.size(), std::memory_order_relaxed);
}

}  // namespace faio::scheduler
