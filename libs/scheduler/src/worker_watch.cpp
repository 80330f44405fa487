// worker_watch -- who comes by: looks after slots and short queues in its sleep, and leaves alone those who get on when they have all processors.
#include <algorithm>
#include <chrono>
#include <utility>

#include "faio/scheduler/processor_time.hpp"
#include "faio/scheduler/worker.hpp"
#include "faio/statemachine/asymmetric_barrier.hpp"

namespace faio::scheduler {

// ---- Watching.

/// In a crowd one watcher is enough: each takes a processor from somebody whenever it looks. True: another one watches, and we do not. Two who leave it to each other
/// would be none: who is counted goes only in one step that sees another stay. That one goes in the same way, or has work and asks for a successor (end_search).
///   WorkerTest.OneNoticeForManyTasksWakesAsManyWorkersAsTheyNeed
bool worker::leaves_watch_to_others() noexcept {
  std::uint32_t count = _pool.watchers.load(std::memory_order_relaxed);  // relaxed: a number
  if (!_is_watcher) return count != 0;
  while (count > 1) {
    // seq_cst: as in stop_watching().
    if (_pool.watchers.compare_exchange_weak(count, count - 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
      _is_watcher = false;
      return true;
    }
  }
  return false;
}

void worker::become_watcher() noexcept {
  if (std::exchange(_is_watcher, true)) return;
  _pool.watchers.fetch_add(
      1,
      std::memory_order_relaxed);  // relaxed: a number; the order against those who fill slots is argued in worker.hpp
}
/// True: it was the watcher.
bool worker::stop_watching() noexcept {
  if (!_is_watcher) return false;
  _is_watcher = false;
  // seq_cst: before our next look, whose heavy barrier is that of set_sleeping(), hand_on_the_watch() or rest().
  _pool.watchers.fetch_sub(1, std::memory_order_seq_cst);
  return true;
}

/// It watched while it slept, and has work now: what was put into a slot, or a short queue, told nobody. If there is one who runs and could have done
/// that, one who sleeps and would not come by, and nobody else who watches, then one of those is woken. What it saw itself at its last look, execute() tells of.
void worker::hand_on_the_watch() {
  _owes_a_watch = false;
  if (_watching || _pool.watchers.load(std::memory_order_relaxed) != 0) return;  // relaxed, all: moments' views
  if (_pool.machine.working() < 2 || _pool.machine.sleeping() == 0) return;
  // Our not watching any more, then our look: against notify_unless_watched().
  statemachine::asymmetric_barrier::heavy();
  bool any = !_pool.queue.empty();
  _pool.for_each_station(0, [&](const worker& each) {
    any = any || (&each != this && (each._slot.load(std::memory_order_relaxed) != nullptr || each._ring.size() != 0));
  });
  if (any) _pool.notify_one();
}

/// A slot whose owner has stood still while we slept is taken; one that is only full is to be looked at again, and so is a queue that was left alone.
work_item* worker::watch_slots() {
  const std::size_t count = _pool.stations();
  _views.resize(std::max(_views.size(), count));
  bool any = false;
  for (std::size_t at = 0; at < count; ++at) {
    worker& each = _pool.station(at);
    if (&each == this) continue;
    const std::uint64_t tick = each._tick.get();
    // acquire, pairs with [S]: whoever takes it below may read the item.
    work_item* item = each._slot.load(std::memory_order_acquire);
    station_view& seen = _views[at];
    if (item != nullptr && seen.item == item && seen.tick == tick) {
      any = true;
      if (seen.watch == _watches) continue;
      // acquire: as above, should it have been replaced by one at the same address.
      if (each._slot.compare_exchange_strong(item, nullptr, std::memory_order_acquire, std::memory_order_relaxed)) {
        seen.see_slot(nullptr, 0, 0);
        _slots_taken.add();
        each._stolen_from.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
        _watching = false;
        return item;
      }
    }
    seen.see_slot(item, tick, _watches);
    any = any || item != nullptr || each._ring.size() != 0;
  }
  _watching = any || _sees_busy || _sees_crowd || _patience > 0;
  if (_watching && is_in_a_crowd() && leaves_watch_to_others()) {
    _watching = false;
    _patience = 0;
  }
  if (!_watching) _looked_once = false;
  return nullptr;
}

// ---- Crowds.

/// As many of the others have work as there are processors: whoever works too takes one from them, unless some of those wait in a system call. A moment's view.
bool worker::is_in_a_crowd() const noexcept {
  const std::size_t all = _pool.running();
  const std::size_t us = _counted_asleep || _counted_searching ? 0 : 1;
  return all > us && all - us >= _pool.processors.load(std::memory_order_relaxed);  // relaxed: a number
}

/// As many of them as there are processors have made a turn lately, or were not looked at before, and these have the processors. Those who have made none compute for
/// long, or wait in a system call: they are not counted on.
bool worker::others_get_on() {
  const auto now = std::chrono::steady_clock::now();
  std::size_t count = 0;
  _pool.for_each_station(0, [&](const worker& each) {
    // relaxed, both: hints
    const bool has_work = &each != this && !each._asleep.load(std::memory_order_relaxed) &&
                          !each._searching.load(std::memory_order_relaxed);
    station_view& seen = view_of(each);
    seen.moves = has_work && !seen.queue.stands_still(now, {.turns = each._tick.get(), .sleeps = each._parks.get()});
    count += seen.moves ? 1 : 0;
  });
  return count >= _pool.processors.load(std::memory_order_relaxed) && processors_are_taken(now);  // relaxed: a number
}

/// By this process, since it was last asked, or nearly. If not, those who have work wait in system calls of their own, and one more is of use; or other programs have the
/// processors, and then we take our part. Until it knows, they are.
bool worker::processors_are_taken(std::chrono::steady_clock::time_point now) noexcept {
  constexpr std::chrono::microseconds least{200};
  constexpr double nearly = 0.75;
  if (now - _asked_processors_at < least) return _processors_taken;
  const auto used = process_time();
  if (_asked_processors_at != std::chrono::steady_clock::time_point{}) {
    const std::chrono::duration<double> passed = now - _asked_processors_at;
    const auto processors = static_cast<double>(_pool.processors.load(std::memory_order_relaxed));  // relaxed: a number
    _processors_taken = (used - _used_processors) >= nearly * processors * passed;
  }
  _asked_processors_at = now;
  _used_processors = used;
  return _processors_taken;
}

}  // namespace faio::scheduler
