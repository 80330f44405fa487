// shared_state -- workers come and go, and the runtime ends.
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <utility>

#include "faio/scheduler/available_cpus.hpp"
#include "faio/scheduler/shared_state.hpp"

namespace faio::scheduler {

using begun = std::expected<void, ioengine::setup_error>;

namespace {

void name_this_thread(const std::string& name) {
  constexpr std::size_t longest = 15;                                             // what the kernel takes
  (void)::pthread_setname_np(::pthread_self(), name.substr(0, longest).c_str());  // a name is a help, not a need
}

void pin_this_thread(std::span<const int> processors) {
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (const int each : processors) CPU_SET(each, &wanted);
  // Refused means that the processor went away meanwhile: running unpinned is all that is left.
  (void)::pthread_setaffinity_np(::pthread_self(), sizeof wanted, &wanted);
}

/// As sched_setattr(2) has it; not every C library does.
struct scheduling {
  std::uint32_t size = sizeof(scheduling);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice = 0;  // ns; 0: the usual
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

/// How long a compute worker asks to run at a time: for longer than the usual 1 to 3 ms, which is all that counts. On a processor that is shared the kernel
/// lets a thread that wakes go before one with a longer slice, so what waits for I/O need not wait for what computes (ADR 32).
constexpr std::uint64_t compute_slice = 20'000'000;

/// Each by itself, as a thread inherits it from the one that made it. Kernels before 6.12 know no slices and take no notice, and a policy that somebody has
/// chosen for the process stays.           ComputeTest.WhoComputesLetsOthersGoFirst
void take_slice(std::uint64_t wanted) noexcept {
  scheduling now;
  if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER) return;
  if (wanted == 0 && now.slice != compute_slice) return;  // it has inherited none
  now.size = sizeof now;
  now.slice = wanted;
  (void)::syscall(SYS_sched_setattr, 0, &now, 0);  // refused: it computes as others do
}

}  // namespace

/// Under _mutex. A seat that nobody sits on any more, or a new one.
auto shared_state::take_seat(worker_kind kind) -> std::expected<seat*, std::error_code> {
  // relaxed: under the lock. Whoever ends the workers has counted the seats.
  if (_phase.load(std::memory_order_relaxed) >= phase::leaving) return std::unexpected(make_error_code(errc::stopped));
  for (const auto& each : _seats) {
    if (each->active || !each->exited || each->occupant->kind() != kind) continue;
    if (each->thread.joinable()) each->thread.join();  // it has nothing left to do but return
    each->exited = false;
    each->hosted = false;
    return each.get();
  }
  pool& home = pool_of(kind);
  if (home.stations() == pool::most_workers) return std::unexpected(make_error_code(errc::too_many_workers));
  auto& made = _seats.emplace_back(std::make_unique<seat>());
  made->occupant = std::make_unique<worker>(*this, home, kind, home.stations());
  home.add_station(*made->occupant);
  return made.get();
}

/// The thread that will be the worker.
begun shared_state::begin_on_this_thread(seat& at) {
  if (auto done = at.occupant->begin(at.id); !done) {
    const std::lock_guard lock(_mutex);
    at.exited = true;
    return done;
  }
  const std::lock_guard lock(_mutex);
  at.active = true;
  at.counted = true;
  at.open = true;
  // The runtime may have been told to end since the seat was taken.
  if (_phase.load(std::memory_order_relaxed) >= phase::leaving) at.occupant->ask_to_leave();  // relaxed: under the lock
  return {};
}

std::expected<std::size_t, ioengine::setup_error> shared_state::start(worker_kind kind) {
  std::promise<begun> outcome;
  seat* at = nullptr;
  {
    const std::lock_guard lock(_mutex);
    auto taken = take_seat(kind);
    if (!taken) return std::unexpected(ioengine::setup_error{taken.error(), taken.error().message()});
    at = *taken;
    at->id = _next_id++;
    try {
      at->thread = std::thread([this, at, &outcome] { thread_main(*at, &outcome); });
    } catch (const std::system_error& refused) {
      at->exited = true;  // the seat is free again
      return std::unexpected(
          ioengine::setup_error{refused.code(), "no thread for a worker: " + refused.code().message()});
    }
  }
  if (auto done = outcome.get_future().get(); !done) return std::unexpected(std::move(done).error());
  return at->id;
}

void shared_state::thread_main(seat& at, void* startup) {
  name_this_thread(settings.thread_name + (at.occupant->kind() == worker_kind::io ? "-" : "-c") +
                   std::to_string(at.id));
  if (settings.pin_threads) pin(*at.occupant);
  take_slice(at.occupant->kind() == worker_kind::compute ? compute_slice : 0);
  auto& outcome = *static_cast<std::promise<begun>*>(startup);
  auto done = begin_on_this_thread(at);
  const bool began = done.has_value();
  outcome.set_value(std::move(done));
  if (!began) return;
  at.occupant->loop();
  deactivate(at);
}

/// The worker's own thread. I/O workers to one processor each.
void shared_state::pin(const worker& who) const {
  if (_processors.empty()) return;
  if (who.kind() != worker_kind::io) return run_anywhere();
  pin_this_thread(std::span(_processors).subspan(who.station() % _processors.size(), 1));
}

/// Compute workers and threads that may block: on all of them. A thread inherits the one of the worker that happened to start it.
void shared_state::run_anywhere() const {
  if (!_processors.empty()) pin_this_thread(_processors);
}

void shared_state::begin_blocking_thread() const {
  name_this_thread(settings.thread_name + "-blocking");
  run_anywhere();
  take_slice(0);
}

/// The worker, about itself: nobody delivers to it from here on, and what it has goes to the others.
void shared_state::deactivate(seat& at) {
  {
    const std::lock_guard lock(_mutex);
    at.active = false;
    at.open = false;
  }
  at.occupant->wind_down();
  const std::lock_guard lock(_mutex);
  _departed += at.occupant->metrics();
  at.counted = false;
  at.exited = true;
  _changed.notify_all();
}

/// Once; again if it failed.
std::error_code shared_state::start_compute_workers() {
  const std::lock_guard lock(_compute_starting);
  if (_compute_started.load(std::memory_order_relaxed)) return {};  // relaxed: under the lock
  const std::size_t wanted = settings.compute_workers != 0 ? settings.compute_workers : available_cpus();
  for (std::size_t i = 0; i < wanted; ++i) {
    // A thread engine needs nothing that could be refused; threads can be, and then the ones that there are do it.
    if (const auto started = start(worker_kind::compute); !started && i == 0) return started.error().code;
  }
  // release, pairs with post_compute().
  _compute_started.store(true, std::memory_order_release);
  return {};
}

std::expected<std::size_t, std::error_code> shared_state::attach(worker_kind kind) {
  if (stopping()) return std::unexpected(make_error_code(errc::stopped));
  if (kind == worker_kind::compute) {
    if (const auto error = start_compute_workers()) return std::unexpected(error);
  }
  auto started = start(kind);
  if (!started) return std::unexpected(started.error().code);
  return *started;
}

std::size_t shared_state::active_of(worker_kind kind) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      _seats, [&](const auto& each) { return each->active && !each->hosted && each->occupant->kind() == kind; }));
}

std::expected<void, std::error_code> shared_state::detach(std::size_t id) {
  std::unique_lock lock(_mutex);
  seat* const at = find(id);
  if (at == nullptr) return std::unexpected(make_error_code(errc::no_such_worker));
  if (at->hosted) return std::unexpected(make_error_code(errc::hosted_worker));
  if (active_of(at->occupant->kind()) == 1) return std::unexpected(make_error_code(errc::last_worker));
  at->active = false;  // nobody addresses it from here on; what its own waits send it still arrives
  at->occupant->ask_to_leave();
  at->occupant->wake();  // its thread deactivates it under this lock before it ends its engine
  if (this_thread().runtime == this) return {};
  _changed.wait(lock, [&] { return at->exited || at->id != id; });
  return {};
}

std::expected<worker*, std::error_code> shared_state::host() {
  seat* at = nullptr;
  {
    const std::lock_guard lock(_mutex);
    if (stopping()) return std::unexpected(make_error_code(errc::stopped));
    auto taken = take_seat(worker_kind::io);
    if (!taken) return std::unexpected(taken.error());
    at = *taken;
    at->id = _next_id++;
    at->hosted = true;
  }
  if (auto done = begin_on_this_thread(*at); !done) return std::unexpected(done.error().code);
  at->occupant->set_hosted();
  return at->occupant.get();
}

void shared_state::unhost(worker& hosted) {
  seat* at = nullptr;
  {
    const std::lock_guard lock(_mutex);
    for (const auto& each : _seats) {
      if (each->occupant.get() == &hosted) at = each.get();
    }
  }
  hosted.ask_to_leave();
  deactivate(*at);
}

// ---- The end.

void shared_state::begin_stop() {
  auto now = phase::running;
  // release, pairs with accepts_work().
  if (!_phase.compare_exchange_strong(now, phase::stopping, std::memory_order_acq_rel)) return;
  io.wake_all();  // those who sleep say so
}

void shared_state::leave_when_quiet(time_point deadline) {
  const std::lock_guard lock(_mutex);
  _leave_when_quiet = true;
  _stop_deadline = std::min(_stop_deadline, deadline);
  io.wake_all();
}

std::optional<std::chrono::nanoseconds> shared_state::time_to_stop() const {
  const std::lock_guard lock(_mutex);
  if (_stop_deadline == time_point::max()) return std::nullopt;
  return std::max(_stop_deadline - std::chrono::steady_clock::now(), time_point::duration::zero());
}

/// Under _mutex.
void shared_state::ask_all_to_leave() {
  for (const auto& each : _seats) {
    if (!each->active) continue;
    each->occupant->ask_to_leave();
    each->occupant->wake();
  }
}

void shared_state::tell_quiet() {
  const std::lock_guard lock(_mutex);
  if (_leave_when_quiet && (quiet() || std::chrono::steady_clock::now() >= _stop_deadline)) ask_all_to_leave();
  _changed.notify_all();
}

/// Under _mutex.
bool shared_state::quiet() const {
  if (!io.queue.empty() || !compute.queue.empty() || !_blocking.quiet()) return false;
  if (io.machine.working() > io.resting() || compute.machine.working() != 0) return false;
  return std::ranges::all_of(_seats, [](const auto& each) { return !each->active || !each->occupant->has_work(); });
}

bool shared_state::wait_until_quiet(time_point deadline) {
  std::unique_lock lock(_mutex);
  const auto is_quiet = [this] { return quiet(); };
  if (deadline == time_point::max()) {
    _changed.wait(lock, is_quiet);
    return true;
  }
  return _changed.wait_until(lock, deadline, is_quiet);
}

bool shared_state::end_workers(time_point deadline) {
  std::unique_lock lock(_mutex);
  if (_phase.load(std::memory_order_relaxed) == phase::ended) return true;  // relaxed: under the lock
  _phase.store(phase::leaving, std::memory_order_release);                  // pairs with accepts_work()
  ask_all_to_leave();
  const auto all_left = [this] {
    return std::ranges::all_of(_seats,
                               [](const auto& each) { return each->exited || (each->hosted && !each->active); });
  };
  if (deadline == time_point::max()) {
    _changed.wait(lock, all_left);
  } else if (!_changed.wait_until(lock, deadline, all_left)) {
    return false;
  }
  lock.unlock();
  if (!_blocking.end(deadline)) return false;
  lock.lock();
  if (_phase.load(std::memory_order_relaxed) == phase::ended)
    return true;  // by another thread; relaxed: under the lock
  for (const auto& each : _seats) {
    if (each->thread.joinable()) each->thread.join();
  }
  _phase.store(phase::ended, std::memory_order_release);  // pairs with ended()
  return true;
}

void shared_state::leave_over(std::vector<work_item*> items) {
  const std::lock_guard lock(_mutex);
  _leftovers.insert(_leftovers.end(), items.begin(), items.end());
}

void shared_state::drop_leftovers() {
  const std::lock_guard one_at_a_time(_dropping);
  io.queue.close();
  compute.queue.close();
  // Dropping one may put others in: a frame's destructor that unlocks, say.
  for (;;) {
    std::vector<work_item*> all;
    {
      const std::lock_guard lock(_mutex);
      all.swap(_leftovers);
    }
    for (pool* each : {&io, &compute}) {
      while (const auto item = each->queue.try_pop()) all.push_back(*item);
    }
    if (all.empty()) return;
    for (work_item* each : all) each->drop();
  }
}

}  // namespace faio::scheduler
