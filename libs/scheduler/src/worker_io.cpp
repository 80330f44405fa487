// worker_io -- driving the engine: how much of what has come is taken, and who gets it when it came late or together.
#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "faio/scheduler/shared_state.hpp"
#include "faio/scheduler/worker.hpp"

namespace faio::scheduler {

/// As many timers fire, and operations complete, as there is room for in the ring. What overflows goes to the end of the global queue, behind all that was spawned, and
/// is taken from there one at a time by a worker that always has something else; what is left in the wheel is due, and comes first with the next drive, and what is left
/// with the engine comes in its order.
///   TimerPostTest.TimersThatFireTogetherDoNotWaitBehindTheGlobalQueue, IoTest.WhatCompletesTogetherDoesNotOverflow
void worker::limit_drive() {
  const std::size_t capacity = _runtime.settings.local_queue_capacity;
  const std::size_t allowed = capacity - std::min(capacity, _ring.size());
  const std::size_t room = std::max<std::size_t>(std::min(_ring.free_room(), allowed), 1);
  _engine->limit_timers(room);
  _engine->limit_completions(_engine->timers() != 0 ? (room + 1) / 2 : room);
}

/// After a drive. With more timers due than there was room for, what waits in the global queue has every second turn: tasks that sleep again and again must not keep
/// it away.       TimerPostTest.MoreTimersThanCanBeRunLeaveHalfOfTheTurnsToTheGlobalQueue
void worker::note_timers() {
  _timers.set(_engine->timers());
  constexpr std::uint32_t every_second = 2;
  const std::uint32_t usual = _runtime.settings.global_queue_interval;
  _global_interval = _engine->is_behind() ? std::min(every_second, usual) : usual;
}

/// `runs_next`: how many go before anything that has completed.
std::size_t worker::drive_io(std::size_t runs_next) {
  const auto now = _engine->time().now();
  const bool is_late = comes_late(now);
  const auto since_last = now - std::exchange(_drove_at, now);
  _since_io = 0;
  if (now >= _next_load) [[unlikely]]
    note_load(now);
  _polls.add();
  limit_drive();
  const std::size_t completed = _engine->drive();
  _fresh.settle_all();
  note_timers();
  if (is_late) [[unlikely]]
    share_late(completed, since_last);
  if (completed != 0) share_completions(runs_next);
  return completed;
}

/// What completes now may have waited behind a long task: since the last drive there were few turns, and they took long.
bool worker::comes_late(ioengine::time_point now) const noexcept {
  return _since_io != 0 && now - _drove_at >= std::max(late, _since_io * long_turn);
}

/// It comes late because others had its processor, for half of that time or more: it computes no longer than they do, and who takes its place will be late as
/// well. What it waited for is counted since it was last asked, so at worst it is sure with the next late drive. Where the system does not tell, it did.
bool worker::waited_for_processor(ioengine::time_point::duration late_by) noexcept {
  const auto spent = _processor_time ? _processor_time->read() : std::nullopt;
  if (!spent) return true;
  return 2 * (spent->waited - std::exchange(_waited_so_far, spent->waited)) >= late_by;
}

/// Every now and then: how long it ran, and how long it waited for a processor.
void worker::note_load(ioengine::time_point now) {
  _next_load = now + load_interval;
  const auto spent = _processor_time->read();
  if (!spent) {
    _next_load = ioengine::time_point::max();
    return;
  }
  const auto before = std::exchange(_spent, *spent);
  _waited_so_far = spent->waited;
  const auto steady = std::chrono::steady_clock::now();
  const std::chrono::duration<double> passed =
      steady - _loaded_at.load(std::memory_order_relaxed);  // relaxed, all: ours
  const gathering::load one{.ran = (spent->ran - before.ran) / passed,
                            .waited = (spent->waited - before.waited) / passed};
  _ran.store(one.ran, std::memory_order_relaxed);
  _waited.store(one.waited, std::memory_order_relaxed);
  _loaded_at.store(steady, std::memory_order_relaxed);
  if (_runtime.residents->count(_station) != 0) _runtime.choose_homes(false);
}

gathering::load worker::recent_load(gathering::time_point now) const noexcept {
  // relaxed, all: numbers of one look or of two that follow each other.
  if (now - _loaded_at.load(std::memory_order_relaxed) > 4 * load_interval) return {};
  return {.ran = _ran.load(std::memory_order_relaxed), .waited = _waited.load(std::memory_order_relaxed)};
}

/// Half of what completed late, rounded up, for whoever sleeps. Wakes it only if there is something: we would have run it before it came, and next time it
/// would wait behind a long task again. The one that computed stays: what it asked for then has completed only now.
void worker::share_late(std::size_t completed, ioengine::time_point::duration late_by) {
  const std::size_t most = std::min(completed, _ring.size());
  if (most == 0 || _pool.machine.sleeping() == 0 || _runtime.stopping() || waited_for_processor(late_by)) return;
  if (_runtime.gathered()) _runtime.choose_homes(true);  // before: what is given away may live there
  std::vector<work_item*> waited;
  work_item* computed = nullptr;
  while (waited.size() + (computed != nullptr ? 1 : 0) < most) {
    const auto item = _ring.pop();
    if (!item) break;  // thieves were here
    if (computed == nullptr && *item == _last_run) {
      computed = *item;
    } else {
      waited.push_back(*item);
    }
  }
  const std::size_t share = (waited.size() + 1) / 2;
  std::size_t kept = 0;
  if (share != 0) {
    kept = waited.size();
    _pool.give_to_sleeper([&](worker* helper) {
      if (helper == nullptr) return;
      kept -= share;
      _given_away.add(share);
      _runtime.hand_to(*helper, std::span(waited).last(share));
    });
  }
  for (work_item* each : std::span(waited).first(kept)) put_into_ring(*each);
  if (computed != nullptr) put_into_ring(*computed);
}

/// Where connections have gathered, nobody else wants them, however many, unless we stand still; that a watcher sees.
void worker::notify_of_completions() {
  if (_runtime.gathered()) {
    notify_unless_watched();
  } else {
    notify_of_ring();
  }
}

/// Completions wake nobody one by one. One look for a helper for the whole batch, and only if somebody waits behind another one and nobody comes by
/// anyway: a wake costs as much as some of them.
void worker::share_completions(std::size_t runs_next) {
  const std::size_t stealable = queue_length();
  if (stealable == 0) return;                                                              // a slot notified by itself
  if (!_private.empty() || _slot.load(std::memory_order_relaxed) != nullptr) ++runs_next;  // relaxed: our own, or gone
  if (stealable + runs_next > 1) notify_of_completions();
}

}  // namespace faio::scheduler
