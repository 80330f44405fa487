// worker -- the loop: what to run next, how to fall asleep. What its engine gives: worker_io.cpp; stealing: worker_steal.cpp; watching: worker_watch.cpp;
// beginning and leaving: worker_life.cpp.
#include "faio/scheduler/worker.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <thread>
#include <utility>

#include "faio/queue/spin_lock.hpp"
#include "faio/scheduler/shared_state.hpp"
#include "faio/statemachine/asymmetric_barrier.hpp"

namespace faio::scheduler {

// ---- Putting work in.

void worker::push_next(work_item& item) {
  if (_lifo) {
    fork(item);
    return;
  }
  // relaxed: only we write anything but null into it, and a value that a thief has cleared since makes the exchange give null.
  if (_slot.load(std::memory_order_relaxed) != nullptr) {
    // [S] release, pairs with watch_slots(): the item is written before it can be taken. acquire is not needed: what comes
    // back is our own.
    if (work_item* const earlier = _slot.exchange(&item, std::memory_order_release)) {
      push_back(*earlier);
      return;  // it notified
    }
  } else {
    _slot.store(&item, std::memory_order_release);  // [S]
  }
  notify_unless_watched();
}

/// After something came into the slot or the ring that a watcher will look after.
void worker::notify_unless_watched() {
  // The slot or the ring, then the look for a watcher: against a watcher that stops watching and then looks at both (worker.hpp).
  statemachine::asymmetric_barrier::light();
  if (!is_watched_by_others()) _pool.notify_one();
}
/// After work that is worth a wake, if there is a processor for whoever is woken. With all of them taken, one who comes by within a millisecond will do.
void worker::notify_unless_crowded() {
  if (_pool.is_crowded()) {
    notify_unless_watched();
  } else {
    _pool.notify_one();
  }
}
void worker::notify_of_ring() {
  if (_ring.size() < backlog) {
    notify_unless_watched();
  } else {
    notify_unless_crowded();
  }
}

void worker::put_into_full_ring(work_item& item) {
  if (!_ring_is_whole && _ring.size() >= _runtime.settings.local_queue_capacity) {
    _overflows.add();
    if (!_pool.queue.push(&item)) _runtime.leave_over({&item});
    return;
  }
  struct overflow_to {
    worker& self;
    void push_batch(std::span<work_item*> batch) const {
      self._overflows.add(batch.size());
      if (!self._pool.queue.push_batch(batch)) self._runtime.leave_over({batch.begin(), batch.end()});
    }
  };
  (void)_ring.push_back(&item, overflow_to{*this});  // that overflow refuses nothing
}

void worker::post_global(work_item& item) {
  if (_runtime.settings.batch_posts) {
    _outgoing.push_back(&item);
  } else if (_pool.queue.push(&item)) {
    _pool.notify_one();
  } else {
    _runtime.leave_over({&item});
  }
}

void worker::hand_over_posts() {
  if (!_pool.queue.push_batch(_outgoing)) _runtime.leave_over(_outgoing);
  _outgoing.clear();
  _pool.notify_one();
}

// ---- Taking work out.

/// Most turns have nothing to do but to take the next: what comes up rarely is a function of its own, so that they need few registers.
inline work_item* worker::next() {
  count_tick();
  const bool has_chores = _since_io >= _io_interval || _since_global >= _global_interval || !_inbox.empty() ||
                          !_private.empty() || _kind == worker_kind::compute;
  if (has_chores) [[unlikely]]
    return next_after_chores();
  _private_streak = 0;
  work_item* const item = next_local();
  return item != nullptr ? item : take_global_batch();
}

work_item* worker::next_after_chores() {
  if (_since_io >= _io_interval) {
    drive_io();
    if (_runtime.stopping())
      _runtime.tell_quiet();  // it may be time to leave, and work that never ends says so nowhere else
  }
  if (_since_global >= _global_interval) {
    _since_global = 0;
    if (const auto item = _pool.queue.try_pop()) return before_the_ring(*item);
  }
  if (!_inbox.empty()) {
    _inbox.drain([this](parcel what) {
      if (what.is_to_share()) {
        push_back(*what.item());
      } else {
        _private.push_back(what.item());
      }
    });
  }
  // Private work goes first, but a callable that posts itself again does not keep the rest away.
  if (_private_streak < private_streak_limit) {
    if (work_item* const item = next_private()) {
      ++_private_streak;
      return before_the_ring(item);
    }
  }
  _private_streak = 0;
  work_item* item = nullptr;
  if (_kind == worker_kind::compute) {
    item = _pool.queue.try_pop().value_or(nullptr);
  } else {
    item = next_local();
    if (item == nullptr) item = take_global_batch();
  }
  return item != nullptr ? item : next_private();
}

/// What goes before the ring may take long. One that gave way in there told nobody, as it would go on at once (push_behind).
work_item* worker::before_the_ring(work_item* item) {
  if (_ring.size() != 0) notify_of_ring();
  return item;
}

work_item* worker::next_private() {
  if (_private.empty()) return nullptr;
  work_item* const item = _private.front();
  _private.pop_front();
  return item;
}

work_item* worker::next_local() {
  const bool slot_may = _slot_streak < slot_streak_limit;
  if (slot_may) {
    if (work_item* const item = take_slot()) {
      ++_slot_streak;
      return item;
    }
  }
  _slot_streak = 0;
  work_item* item = nullptr;
  if (!_deque.empty()) item = next_of_deque();
  if (item == nullptr) item = _ring.pop().value_or(nullptr);
  if (item == nullptr) return take_slot();
  // What is in the slot waits behind another one now, for how long nobody knows.
  if (!slot_may && _slot.load(std::memory_order_relaxed) != nullptr) {  // relaxed: only whether to wake somebody
    if (_pool.watchers.load(std::memory_order_relaxed) == 0) _pool.notify_one();
  }
  return item;
}

/// The deque is newest first: now and then the ring goes before it, so that nothing there waits for ever.
/// Counted in turns of the loop: in ticks, a task that bounces would put the ring first every time.
work_item* worker::next_of_deque() {
  constexpr std::uint32_t ring_first = 16;
  if (++_since_ring >= ring_first) {
    _since_ring = 0;
    if (const auto item = _ring.pop()) return *item;
  }
  return pop_fork();
}

work_item* worker::take_slot() noexcept {
  // relaxed: our own write, or a thief's null.
  if (_slot.load(std::memory_order_relaxed) == nullptr) return nullptr;
  // relaxed: what comes back we wrote ourselves; it must be one step because a thief may take it in between.
  return _slot.exchange(nullptr, std::memory_order_relaxed);
}

/// A share of the global queue, at most half of the ring: the first to run, the rest into the ring.
work_item* worker::take_global_batch() {
  if (_pool.queue.empty()) return nullptr;
  for (int i = 0; i < _wait_between_takes; ++i) queue::pause();
  const std::size_t queued = _pool.queue.size();
  const std::size_t share = queued / std::max<std::size_t>(_pool.machine.workers(), 1) + 1;
  std::array<work_item*, ring_capacity / 2> batch{};
  const std::size_t room = std::min({_ring.free_room(), batch.size(), _runtime.settings.local_queue_capacity / 2});
  const std::size_t most = std::max<std::size_t>(std::min(share, room), 1);
  const std::size_t count = _pool.queue.try_pop_batch(std::span(batch).first(most));
  if (count == 0) return nullptr;
  _wait_between_takes = next_wait_between_takes(_wait_between_takes, count);
  if (count > 1) {
    note_ring_has(of_others);
    _ring.push_back_batch(std::span<work_item* const>(batch).subspan(1, count - 1));
    notify_unless_crowded();
  }
  return batch[0];
}

// ---- Sleeping.

/// Every way from searching to work: the last searcher wakes one more, who looks for what this one leaves. With all others asleep it looks for itself: they can
/// have left nothing behind, and what comes from outside is in the global queue (state_machine.hpp, f). For a task that is woken from outside this was half
/// of the time until it ran.   WorkerTest.ATaskFromOutsideWakesOneWorkerOnly
void worker::found_work() {
  if (!_counted_searching) return;
  _counted_searching = false;
  _searching.store(false, std::memory_order_relaxed);  // relaxed: a hint for thieves
  const auto search = _pool.machine.cancel_searching();
  if (!search.was_last) return;
  if (search.alone && _pool.queue.empty() && !has_work()) return;
  notify_unless_crowded();
}

/// Owner only, with nothing of its own to run. Looks at what the others have, unless half of them do already.
work_item* worker::search() {
  flush_posts();  // a completion may have posted, without any task that ended its turn
  if (!_counted_searching && _pool.machine.set_searching()) _counted_searching = true;
  if (!_counted_searching) return nullptr;
  _searches.add();
  wait_between_steals();
  _searching.store(true, std::memory_order_relaxed);  // relaxed: a hint for thieves
  work_item* const item = steal();
  _searching.store(false, std::memory_order_relaxed);
  return item;
}

/// Owner only, searching, with nothing found. To fall asleep costs a barrier that interrupts everybody, and whoever publishes next pays a system
/// call to wake us; so the only searcher goes on looking for a few microseconds, if somebody runs who could publish. For as long as that has been
/// worth it lately: twice as long after it has found something, half as long after it has not. Not with I/O of its own under way, which
/// would wait for it.
work_item* worker::linger() {
  static const bool alone = std::thread::hardware_concurrency() < 2;  // nobody runs beside us
  if (!_counted_searching || alone || !is_home() || _engine->in_flight() != 0 || _runtime.stopping()) return nullptr;
  if (_sees_busy && _pool.machine.may_linger()) return wait_for_batch();
  if (_sleeps_until_linger > 0) {
    if (--_sleeps_until_linger > 0) return nullptr;
    _linger = shortest_linger;
  }
  if (!_pool.machine.may_linger()) return nullptr;
  work_item* const item = look_for(_linger);
  if (item != nullptr) {
    _linger = std::min(2 * _linger, longest_linger);
  } else if (_linger /= 2; _linger < shortest_linger) {
    _sleeps_until_linger = sleeps_without_linger;
  }
  return item;
}

/// The one who is busy has something in its queue for a fifth of the time, and the rest of it is with the kernel. Not at each sleep when that was in vain: there may be
/// one task only, which is never in the queue for long.
work_item* worker::wait_for_batch() {
  constexpr int most_to_skip = 64;
  if (_batches_to_skip > 0) {
    --_batches_to_skip;
    return nullptr;
  }
  work_item* const item = look_for(longest_linger);
  _skip_next = item != nullptr ? 0 : std::clamp(2 * _skip_next, 1, most_to_skip);
  _batches_to_skip = _skip_next;
  return item;
}

/// Owner only. Whatever can be stolen first; null when the time is over, or when there is something of its own to look at.
work_item* worker::look_for(std::chrono::nanoseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (_inbox.empty() && !leaving()) {
    for (int i = 0; i < pauses_between_looks; ++i) queue::pause();
    if (_pool.work_in_sight()) {
      if (work_item* const item = take_in_sight()) return item;
    }
    if (std::chrono::steady_clock::now() >= until) return nullptr;
  }
  return nullptr;
}

/// Owner only, with nothing of its own to run. An item, or null after a sleep.
work_item* worker::search_or_sleep(ioengine::time_point deadline) {
  // What is about to come is our own: whoever searches first, and finds that, has to wake another searcher for it.
  // What came late is for whoever sleeps, if nobody searches.
  const bool drove = _engine->answers_soon() || comes_late(_engine->time().now());
  if (drove && (drive_io() != 0 || !_inbox.empty())) return nullptr;  // the caller looks
  if (work_item* const item = search()) return item;
  // What was submitted goes to the kernel together with a brief sleep, in one system call. A long one is dearer than a look before it.
  const bool briefly = sleeps_briefly();
  if (!drove && (!briefly || _engine->answers_soon()) && drive_io() != 0) return nullptr;
  _fresh.settle_all();
  if (!_inbox.empty()) return nullptr;
  if (_runtime.stopping()) _runtime.tell_quiet();
  if (leaving()) return nullptr;
  if (work_item* const item = linger()) return item;
  if (!_inbox.empty()) return nullptr;

  // Before it counts as asleep: or else it would be woken, for what it is about to watch, on its way to bed.
  if (_watching || briefly || (is_in_a_crowd() && !leaves_watch_to_others())) {
    become_watcher();
  } else {
    (void)stop_watching();
  }
  _owes_a_watch = false;  // it watches on, or looks again behind a barrier
  const bool was_searching = std::exchange(_counted_searching, false);
  if (briefly) {
    _pool.machine.set_sleeping_briefly(_number, was_searching);
  } else if (_pool.machine.set_sleeping(_number, was_searching).look_again) {
    _counted_asleep = true;
    work_item* const item = steal();
    _counted_asleep = false;
    if (item != nullptr) return got_up_with(item);
  }
  if (_runtime.stopping()) {
    _runtime.tell_quiet();
    if (const auto left = _runtime.time_to_stop()) deadline = std::min(deadline, _engine->time().now() + *left);
  }
  park(deadline);
  return nullptr;
}

/// Whoever was woken by its own I/O a moment ago will be so again: it sleeps with a time limit, as a watcher, which needs no barrier, and saves others the
/// wakes. A worker that nothing comes for sleeps like everybody else the next time.
bool worker::sleeps_briefly() const noexcept {
  return _slept_briefly && _engine->in_flight() != 0 && !_runtime.stopping();
}

/// The look after set_sleeping() found something: this worker was the only one to look, so it asks for another.
work_item* worker::got_up_with(work_item* item) {
  (void)stop_watching();
  if (!_pool.machine.cancel_sleeping(_number)) _counted_searching = true;
  notify_unless_crowded();
  return item;
}

/// Asleep in the state machine; sleeps in the engine, for a short time if there are slots to look after.
void worker::park(ioengine::time_point deadline) {
  if (_watching) become_watcher();
  // Who was the watcher at its last look sleeps as one, whatever it saw: a slot that was filled since then told nobody.
  const auto began = _engine->time().now();
  if (_is_watcher) {
    const bool is_first = _watching && !_looked_once && !_sees_crowd;
    const auto interval = is_first ? first_watch : is_home() ? watch_interval : watch_interval_away;
    deadline = std::min(deadline, began + interval);
    _looked_once = _watching;
  }
  _wait_between_steals = {};
  _stole_at = {};
  _wait_between_takes = 0;
  _parks.add();
  _asleep.store(true, std::memory_order_relaxed);  // relaxed, both: only metrics() looks
  limit_drive();
  const std::size_t completed = _engine->wait_and_drive(deadline);
  _asleep.store(false, std::memory_order_relaxed);
  _since_io = 0;
  _drove_at = _engine->time().now();
  if (_drove_at >= _next_load) [[unlikely]]
    note_load(_drove_at);
  _slept_briefly = completed != 0 && _drove_at - began < brief;
  note_timers();
  const bool watcher = _is_watcher;
  const bool notified = !_pool.machine.cancel_sleeping(_number);
  // One that nothing came for goes on as the watcher while it looks, and until it has work or sleeps as everybody else does: nobody need be woken meanwhile.
  if (notified || completed != 0) (void)stop_watching();
  if (watcher && !notified && completed == 0) {
    ++_watches;
    _patience = std::max(_patience - 1, 0);
  }
  if (notified) {
    _counted_searching = true;
    _patience = watches_after_a_vain_notice;
  }
  if (notified || !_inbox.empty()) _wakes.add();
  _owes_a_watch = watcher && !notified;
  if (completed != 0) share_completions(0);
}

// ---- The loop.

inline void worker::execute(work_item& item) {
  if (_counted_searching || _owes_a_watch || _watching || _is_watcher) [[unlikely]]
    end_search();
  _patience = 0;
  _tasks_run.add();
  _last_run = &item;
  _transfers = transfer_limit;
  item.run();
  if (_bounced != nullptr) [[unlikely]]
    run_bounced();
  flush_posts();
}

/// It has work, and had none.
void worker::end_search() {
  (void)stop_watching();
  found_work();
  if (_owes_a_watch) hand_on_the_watch();
  if (_watching) {  // somebody else must look after the slots
    _watching = _looked_once = false;
    notify_unless_watched();
  }
}

void worker::run_bounced() {
  for (int bounces = 0; _bounced != nullptr; ++bounces) {
    work_item& again = *std::exchange(_bounced, nullptr);
    count_tick();
    if (_since_io >= _io_interval) drive_io(1);
    if (bounces == bounce_limit) {
      push_back(again);  // it had its turn; the others have theirs
      break;
    }
    _transfers = transfer_limit;
    again.run();
  }
}

void worker::loop() {
  come_back();
  _inside = true;
  while (!leaving()) {
    work_item* item = next();
    if (item == nullptr) item = search_or_sleep(ioengine::time_point::max());
    if (item != nullptr) execute(*item);
  }
  _inside = false;
}

std::size_t worker::run_some(ioengine::time_point deadline, std::size_t most) {
  come_back();
  _inside = true;
  drive_io();
  std::size_t ran = 0;
  for (bool last_look = false; ran < most && !leaving();) {
    work_item* item = next();
    if (item == nullptr && ran == 0 && !last_look) {
      last_look = _engine->time().now() >= deadline;
      item = last_look ? search() : search_or_sleep(deadline);
      if (item == nullptr && !last_look) continue;
    }
    if (item == nullptr) break;
    execute(*item);
    ++ran;
  }
  if (!leaving()) rest();
  _inside = false;
  return ran;
}

/// The host goes about its own business. What it leaves behind makes its handle readable, and others may take it; with nothing left
/// it counts as idle, and is told of work that nobody else is free for. Slots it leaves to the others.
void worker::rest() {
  (void)stop_watching();
  drive_io();  // what was submitted last; nobody else will
  flush_posts();
  const bool was_last = std::exchange(_counted_searching, false) && _pool.machine.cancel_searching();
  if (!_private.empty() || has_work()) {
    if (was_last) _pool.notify_one();
    _engine->wake();
    return;
  }
  _pool.rest(*this);
  _resting = true;
  // Our being at rest, and no searcher any more, then our look at the queues: against those who publish (pool.hpp).
  statemachine::asymmetric_barrier::heavy();
  if (_pool.work_in_sight()) _pool.notify_one();
  if (_runtime.stopping()) _runtime.tell_quiet();
}

void worker::come_back() {
  if (std::exchange(_resting, false)) _pool.come_back(*this);
}

}  // namespace faio::scheduler
