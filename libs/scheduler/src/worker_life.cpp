// worker -- how it begins on its thread, and how it hands everything over when it leaves.
#include <cassert>

#include "faio/scheduler/shared_state.hpp"
#include "faio/scheduler/timer_item.hpp"
#include "faio/scheduler/worker.hpp"

namespace faio::scheduler {

worker::worker(shared_state& runtime, pool& home, worker_kind kind, std::size_t station)
    : _runtime(runtime),
      _pool(home),
      _kind(kind),
      _station(station),
      _lifo(runtime.settings.discipline == discipline::lifo) {}

worker::~worker() = default;

std::expected<void, ioengine::setup_error> worker::begin(std::size_t id) {
  const config& wanted = _runtime.settings;
  auto made = ioengine::engine::create({.kind = _kind == worker_kind::io ? wanted.engine : engine_kind::thread,
                                        .ring_entries = wanted.ring_entries,
                                        .time = wanted.clock});
  if (!made) return std::unexpected(std::move(made).error());
  _engine = std::move(*made);
  if (_kind == worker_kind::io) _runtime.engine_is(*_engine);
  _id.store(
      id,
      std::memory_order_relaxed);  // relaxed: read by others only once the id is handed out, under the runtime's lock
  _leave.store(false, std::memory_order_relaxed);
  // The object may have been another worker before.
  for (owned_counter* each : {&_tasks_run, &_steals_tried, &_steals_won, &_slots_taken, &_searches, &_parks, &_wakes,
                              &_polls, &_overflows, &_given_away, &_timers}) {
    each->set(0);
  }
  _stolen_from.store(0, std::memory_order_relaxed);  // relaxed: a number
  _watching = _looked_once = _hosted = _owes_a_watch = _slept_briefly = false;
  _io_interval = wanted.io_interval;
  _global_interval = wanted.global_queue_interval;
  _ring_is_whole = wanted.local_queue_capacity >= ring_capacity;
  _patience = _wait_between_takes = _batches_to_skip = _skip_next = 0;
  _wait_between_steals = {};
  _stole_at = {};
  _drove_at = _engine->time().now();
  _last_run = nullptr;
  set_home(true);
  _loaded_at.store({}, std::memory_order_relaxed);  // relaxed: a view
  _next_load = ioengine::time_point::max();
  if (_kind == worker_kind::io) _processor_time.emplace();
  (void)waited_for_processor({});
  // With a clock of the user's nobody can tell how long a while is.
  if (_kind == worker_kind::io && wanted.gather_connections && wanted.clock == nullptr) _next_load = _drove_at;
  _random.seed(static_cast<std::minstd_rand::result_type>(_runtime.next_seed()));
  thread_state& self = this_thread();
  assert(self.current == nullptr && "a thread can be one worker only");
  self = {.current = this, .scope = nullptr, .runtime = &_runtime};
  _number = _pool.join(*this);
  return {};
}

void worker::hand_over_queues(std::vector<work_item*>& all) {
  all.insert(all.end(), _outgoing.begin(), _outgoing.end());
  _outgoing.clear();
  _inbox.drain([&](parcel what) { all.push_back(what.item()); });
  all.insert(all.end(), _private.begin(), _private.end());
  _private.clear();
  if (_bounced != nullptr) all.push_back(std::exchange(_bounced, nullptr));
  if (work_item* const item = take_slot()) all.push_back(item);
  while (const auto item = _deque.pop()) all.push_back(*item);
  while (const auto item = _ring.pop()) all.push_back(*item);
}

/// The runtime has taken it off the list of those who can be delivered to. Others may still steal meanwhile.
void worker::wind_down() {
  come_back();
  const bool watched = stop_watching();
  found_work();
  if (_watching || watched) _pool.notify_one();  // somebody else must look after the slots
  std::vector<work_item*> all;
  hand_over_queues(all);
  // Cancelled without anybody having asked: each completion sees leaving() and schedules its operation anew.
  _engine->drain();
  while (ioengine::timer_entry* const timer = _engine->take_timer()) {
    auto& item = static_cast<timer_item&>(*timer);
    if (item.moved()) all.push_back(&item);
  }
  _timers.set(0);
  hand_over_queues(all);
  if (!all.empty()) {
    if (_pool.queue.push_batch(all)) {
      _pool.notify_one();
    } else {
      _runtime.leave_over(std::move(all));
    }
  }
  _pool.leave(_number);
  _buffers.reset();
  _engine.reset();
  _processor_time.reset();
  _ring.release_owner();
  _deque.release_owner();
  _inbox.release_owner();
  this_thread() = {};
}

ioengine::buffer_pool* worker::make_buffers() noexcept {
  if (_engine->kind() != engine_kind::thread) {
    // As many as come at once: they are filled in turn, and more would only be colder. A line more than a page: not all in one set of the cache.
    constexpr ioengine::buffer_pool_options as_come_at_once{.count = 256, .size = 4096 + 64};
    if (auto made = ioengine::buffer_pool::create(*_engine, as_come_at_once)) _buffers = std::move(*made);
  }
  return _buffers.get();
}

void worker::arm(timer_item& timer, ioengine::time_point deadline) noexcept {
  _engine->add_timer(timer, deadline);
  _timers.set(_engine->timers());
}

bool worker::disarm(timer_item& timer) noexcept {
  const bool was_pending = _engine->cancel_timer(timer);
  _timers.set(_engine->timers());
  return was_pending;
}

worker_metrics worker::metrics() const noexcept {
  // relaxed, both: a view.
  const auto state = _asleep.load(std::memory_order_relaxed)      ? worker_state::asleep
                     : _searching.load(std::memory_order_relaxed) ? worker_state::searching
                                                                  : worker_state::working;
  return {.id = id(),
          .kind = _kind,
          .state = state,
          .tasks_run = _tasks_run.get(),
          .steals_tried = _steals_tried.get(),
          .steals_won = _steals_won.get(),
          .tasks_stolen = _stolen_from.load(std::memory_order_relaxed),  // relaxed: a number
          .slots_taken = _slots_taken.get(),
          .searches = _searches.get(),
          .parks = _parks.get(),
          .wakes = _wakes.get(),
          .polls = _polls.get(),
          .overflows = _overflows.get(),
          .given_away = _given_away.get(),
          .queue_length = queue_length(),
          .timers = timers(),
          .is_home = is_home()};
}

}  // namespace faio::scheduler
