// worker_steal -- what a worker without work takes from the others: their queues and the global one; their slots: worker_watch.cpp.
#include <algorithm>
#include <chrono>
#include <utility>

#include "faio/queue/spin_lock.hpp"
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

}  // namespace faio::scheduler
