// worker_steal -- what a worker without work takes from the others: their queues, the global one, and a slot whose owner stands still.
#include <algorithm>
#include <chrono>
#include <utility>

#include "faio/queue/spin_lock.hpp"
#include "faio/scheduler/processor_time.hpp"
#include "faio/scheduler/worker.hpp"

namespace faio::scheduler {

work_item* worker::steal() {
  if (work_item* const item = take_in_sight()) return item;
  return _kind == worker_kind::compute ? nullptr : watch_slots();
}

/// From the others' queues and the global one.
work_item* worker::take_in_sight() {
  if (_kind != worker_kind::compute) {
    if (work_item* const item = steal_queues()) return item;
  }
  return _pool.queue.try_pop().value_or(nullptr);
}

/// The reference is good until another one is asked for: workers are attached meanwhile, each with a station more.
worker::station_view& worker::view_of(const worker& other) {
  if (other._station >= _views.size()) _views.resize(other._station + 1);
  return _views[other._station];
}

/// The longest queue that is worth it, of a worker that does not search itself; null: none. A short queue is looked at twice, a little apart.
worker* worker::find_victim() {
  worker* victim = nullptr;
  std::size_t longest = 0;
  bool is_unsure = false;
  _sees_busy = false;
  _sees_crowd = is_in_a_crowd() && others_get_on();
  const auto look = [&](worker& each) {
    if (&each == this || each._searching.load(std::memory_order_relaxed)) return;  // relaxed: a hint
    // In a crowd only what stands still is helped. Forks are not asked: their owner does them one after the other, as deep as they go.
    if (_sees_crowd && view_of(each).moves && each._deque.size() == 0) return;
    const std::size_t length = each.queue_length();
    if (length == 0) _sees_busy = is_between_batches(each) || _sees_busy;
    if (length > longest && is_worth_it(each, length, is_unsure)) {
      longest = length;
      victim = &each;
    }
  };
  const std::size_t first = random() % _pool.stations();
  _pool.for_each_station(first, look);
  if (victim != nullptr || !is_unsure) return victim;
  const auto until = std::chrono::steady_clock::now() + queue_view::least;
  do {
    for (int i = 0; i < pauses_between_looks; ++i) queue::pause();
  } while (std::chrono::steady_clock::now() < until);
  _pool.for_each_station(first, look);
  return victim;
}

/// Forks always are, and a long queue, unless it is one of connections that have gathered there.
bool worker::is_worth_it(const worker& owner, std::size_t length, bool& is_unsure) {
  if (owner._deque.size() != 0) return true;
  const bool only_completions = owner._only_completions.load(std::memory_order_relaxed);  // relaxed: a hint
  if (length >= backlog && (is_home() || !only_completions)) return true;
  const auto now = std::chrono::steady_clock::now();
  const queue_view::progress so_far{.turns = owner._tick.get(), .sleeps = owner._parks.get()};
  queue_view& seen = view_of(owner).queue;
  if (only_completions) return seen.judge_completions(now, so_far, is_home()) == prospect::waits_long;
  const prospect of_waiting = seen.judge(now, so_far, length);
  is_unsure = is_unsure || of_waiting == prospect::unsure;
  return of_waiting == prospect::waits_long;
}

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

/// It has nothing in its queue, because what it has is with the kernel; and so it was all the time. queue_view.hpp
bool worker::is_between_batches(const worker& owner) {
  if (!is_home() || !owner._only_completions.load(std::memory_order_relaxed)) return false;  // relaxed: a hint
  return view_of(owner).queue.is_busy_for_long(std::chrono::steady_clock::now(),
                                               {.turns = owner._tick.get(), .sleeps = owner._parks.get()});
}

/// When somebody else was faster there, from whoever is the longest then, a few times.
work_item* worker::steal_queues() {
  constexpr int attempts = 4;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    worker* const victim = find_victim();
    if (victim == nullptr) return nullptr;
    _steals_tried.add();
    // The oldest of a fork first: it is the largest piece of work. Alone: its siblings stay with their parent's worker.
    work_item* item = victim->_deque.steal().value_or(nullptr);
    std::size_t taken = item != nullptr ? 1 : 0;
    if (item == nullptr) {
      const std::size_t before = _ring.size();
      note_ring_has(of_others);
      item = victim->_ring.be_stolen_by(_ring).value_or(nullptr);
      const std::size_t after = _ring.size();  // others may steal from us already
      taken = after > before ? after - before + 1 : 1;
      if (item != nullptr) _stole_at = std::chrono::steady_clock::now();
    }
    if (item != nullptr) {
      _steals_won.add();
      victim->_stolen_from.fetch_add(taken, std::memory_order_relaxed);  // relaxed: a number
      return item;
    }
  }
  return nullptr;
}

/// Before it looks at what the others have, when it has ended what it stole.
void worker::wait_between_steals() {
  if (_stole_at == std::chrono::steady_clock::time_point{}) return;
  auto now = std::chrono::steady_clock::now();
  if (now - std::exchange(_stole_at, {}) < worth_a_steal) {
    _wait_between_steals = std::clamp(2 * _wait_between_steals, first_wait_between_steals, longest_wait_between_steals);
  } else {
    _wait_between_steals /= 2;
  }
  for (const auto until = now + _wait_between_steals; now < until; now = std::chrono::steady_clock::now()) {
    for (int i = 0; i < pauses_between_looks; ++i) queue::pause();
  }
}

int worker::next_wait_between_takes(int wait, std::size_t taken) noexcept {
  if (taken == 1) return std::clamp(2 * wait, first_wait_between_takes, longest_wait_between_takes);
  return taken >= good_take ? wait / 2 : wait;
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

}  // namespace faio::scheduler
