// shared_state -- posting, and what the runtime knows. Workers coming and going, and the end: shared_state_life.cpp.
#include "faio/scheduler/shared_state.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <utility>

#include "faio/scheduler/available_cpus.hpp"
#include "faio/statemachine/asymmetric_barrier.hpp"

namespace faio::scheduler {
namespace {

config checked(config wanted) {
  validate(wanted);
  if (wanted.workers == 0) wanted.workers = available_cpus();
  return wanted;
}

std::vector<int> processors_of_this_thread() {
  std::vector<int> all;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return all;  // more than a set can name: nobody is pinned
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) all.push_back(cpu);
  }
  return all;
}

}  // namespace

shared_state::shared_state(config wanted)
    : settings(checked(std::move(wanted))),
      _seed(settings.seed ? *settings.seed : std::random_device{}()),
      _blocking(*this) {
  io.processors = available_cpus();  // asked on this thread: a worker may be pinned
  if (settings.pin_threads) _processors = processors_of_this_thread();
  // Asked before there are threads: to register for membarrier is quick in a process with one, and waits for all processors, some milliseconds,
  // in one with several.
  (void)statemachine::asymmetric_barrier::by_membarrier();
  try {
    for (std::size_t i = 0; i < settings.workers; ++i) {
      if (auto started = start(worker_kind::io); !started) {
        throw std::system_error(started.error().code, "faio: no engine: " + started.error().message);
      }
    }
    if (settings.compute_workers != 0) {
      if (const auto error = start_compute_workers()) throw std::system_error(error, "faio: no compute workers");
    }
  } catch (...) {
    begin_stop();
    (void)end_workers(time_point::max());
    throw;
  }
}

void die_on_own_worker() noexcept {
  std::fputs(
      "faio: a runtime was destroyed on one of its own workers, which it would have to wait for; let the thread that "
      "made it destroy it.\n",
      stderr);
  std::abort();
}

shared_state::~shared_state() {
  if (this_thread().runtime == this) die_on_own_worker();
  begin_stop();
  (void)end_workers(time_point::max());
  drop_leftovers();
}

// ---- Work.

bool shared_state::post(work_item& item) {
  worker* const here = current_worker();
  // Inside: a host's thread between two calls has no turn at whose end the post would be handed over.
  if (here != nullptr && &here->runtime() == this && here->kind() == worker_kind::io && here->inside()) {
    here->post_global(item);
    return true;
  }
  // A worker's or a helper's own work goes on while the runtime stops; others are told.
  if (stopping() && this_thread().runtime != this) return false;
  return post_again(item);
}

bool shared_state::post_again(work_item& item) {
  if (!io.queue.push(&item)) return false;
  io.notify_one_from_outside();
  return true;
}

bool shared_state::post_compute(work_item& item) {
  if (stopping() && this_thread().runtime != this) return false;
  // acquire, pairs with start_compute_workers().
  if (!_compute_started.load(std::memory_order_acquire)) {
    const auto error = start_compute_workers();
    if (error == errc::stopped) return false;
    if (error) throw std::system_error(error, "faio: no thread for compute work");
  }
  if (!compute.queue.push(&item)) return false;
  compute.notify_one_from_outside();
  return true;
}

bool shared_state::post_blocking(work_item& item) {
  if (stopping() && this_thread().runtime != this) return false;
  return _blocking.post(item);
}

auto shared_state::find(std::size_t id) -> seat* {
  const auto at = std::ranges::find_if(_seats, [&](const auto& each) { return each->active && each->id == id; });
  return at == _seats.end() ? nullptr : at->get();
}

bool shared_state::post_to(std::size_t id, work_item& item) {
  if (stopping() && this_thread().runtime != this) return false;
  const std::lock_guard lock(_mutex);
  seat* const at = find(id);
  if (at == nullptr) return false;
  at->occupant->deliver(parcel(item));
  return true;
}

bool shared_state::is_open(const worker& target) const {
  return std::ranges::any_of(_seats, [&](const auto& each) { return each->occupant.get() == &target && each->open; });
}

bool shared_state::post_to(worker& target, work_item& item) {
  {
    const std::lock_guard lock(_mutex);
    if (is_open(target)) {
      target.deliver(parcel(item));
      return true;
    }
  }
  return post_again(item);
}

void shared_state::hand_to(worker& target, std::span<work_item* const> items) {
  {
    const std::lock_guard lock(_mutex);
    if (is_open(target)) {
      for (work_item* each : items) target.deliver(parcel::to_share(*each));
      return;
    }
  }
  for (work_item* each : items) {
    if (!post_again(*each)) leave_over({each});
  }
}

bool shared_state::post_to_fewest_timers(work_item& item) {
  if (stopping()) return false;
  const std::lock_guard lock(_mutex);
  std::vector<const seat*> candidates;
  for (const auto& each : _seats) {
    if (is_lasting(*each)) candidates.push_back(each.get());
  }
  if (candidates.empty()) return false;
  const auto chance = [this](std::size_t below) { return static_cast<std::size_t>(next_seed() % below); };
  const std::size_t first = chance(candidates.size());
  std::size_t chosen = first;
  if (candidates.size() > 1) {
    const std::size_t second = (first + 1 + chance(candidates.size() - 1)) % candidates.size();
    if (candidates[second]->occupant->timers() < candidates[first]->occupant->timers()) chosen = second;
  }
  candidates[chosen]->occupant->deliver(parcel(item));
  return true;
}

template <class Wanted>
worker* shared_state::emptiest(Wanted wanted) const {
  worker* found = nullptr;
  std::size_t fewest = 0;
  for (const auto& each : _seats) {
    if (!is_lasting(*each) || !std::invoke(wanted, *each->occupant)) continue;
    const std::size_t count = residents->count(each->occupant->station());
    if (found != nullptr && count >= fewest) continue;
    found = each->occupant.get();
    fewest = count;
  }
  return found;
}

worker* shared_state::emptiest_home() {
  const std::lock_guard lock(_mutex);
  if (worker* const home = emptiest(&worker::is_home)) return home;
  return emptiest([](const worker&) { return true; });  // the last home has left
}

void shared_state::choose_homes(bool hold_up) {
  if (!settings.gather_connections) return;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(_mutex);
  std::size_t workers = 0;
  gathering::view lately;
  for (const auto& each : _seats) {
    if (!is_lasting(*each)) continue;
    ++workers;
    if (each->occupant->is_home()) lately.add(each->occupant->recent_load(now));
  }
  if (!hold_up && workers <= io.processors) {
    use_homes(_gathering.judge(now, lately, workers));
  } else if (lately.homes < workers) {
    use_homes(_gathering.spread(now));
  }
}

void shared_state::use_homes(gathering::advice advice) {
  if (advice == gathering::advice::stay) return;
  if (advice == gathering::advice::fewer) {
    emptiest(&worker::is_home)->set_home(false);
  } else {
    for (const auto& each : _seats) each->occupant->set_home(true);
  }
  _gathered.store(advice == gathering::advice::fewer, std::memory_order_relaxed);  // relaxed: a choice
}

void shared_state::gather() {
  const std::lock_guard lock(_mutex);
  use_homes(gathering::advice::fewer);
}

// ---- What it knows.

runtime_metrics shared_state::metrics() const {
  runtime_metrics all;
  const std::lock_guard lock(_mutex);
  for (const auto& each : _seats) {
    if (!each->counted) continue;
    all.workers.push_back(each->occupant->metrics());
    if (each->occupant->kind() == worker_kind::io) {
      all.workers.back().residents = residents->count(each->occupant->station());
    }
  }
  all.departed = _departed;
  std::ranges::sort(all.workers, {}, &worker_metrics::id);
  all.global_queue_length = io.queue.size();
  all.compute_queue_length = compute.queue.size();
  all.unhandled_exceptions = _unhandled.load(std::memory_order_relaxed);  // relaxed: a number
  all.engine = _engine_kind;
  all.engine_reason = _engine_reason;
  return all;
}

std::vector<std::source_location> shared_state::running_callables() const {
  std::vector<std::source_location> all;
  const std::lock_guard lock(_mutex);
  for (const auto& each : _seats) {  // also one that was detached, and has not come out of its last callable
    const auto where = each->occupant->callable_place();
    if (where.line() != 0) all.push_back(where);
  }
  return all;
}

void shared_state::engine_is(const ioengine::engine& made) {
  const std::lock_guard lock(_mutex);
  if (_engine_kind != ioengine::engine_kind::automatic) return;
  _engine_kind = made.kind();
  _engine_reason = made.kind_reason();
}

void shared_state::report_unhandled(std::exception_ptr what, const std::source_location& where) noexcept {
  _unhandled.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  if (settings.on_unhandled) {
    settings.on_unhandled(std::move(what), where);
    return;
  }
  try {
    std::rethrow_exception(std::move(what));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "faio: unhandled exception in the task spawned at %s:%u: %s\n", where.file_name(),
                 where.line(), error.what());
  } catch (...) {
    std::fprintf(stderr, "faio: unhandled exception in the task spawned at %s:%u, of a type that says nothing\n",
                 where.file_name(), where.line());
  }
}

const ioengine::clock& shared_state::time() const noexcept {
  return settings.clock != nullptr ? *settings.clock : ioengine::clock::steady();
}

std::uint64_t shared_state::next_seed() noexcept {
  // The steps of splitmix64: seeds that differ in one bit give streams that have nothing in common.
  std::uint64_t mixed = _seed.fetch_add(0x9E3779B97F4A7C15ULL, std::memory_order_relaxed);  // relaxed: a number
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31);
}

}  // namespace faio::scheduler
