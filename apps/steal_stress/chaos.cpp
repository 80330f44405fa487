// chaos -- workers come and go.
#include "chaos.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace steal_stress {

using faio::scheduler::errc;
using faio::scheduler::make_error_code;

chaos::chaos(garden& in, faults& to, std::uint64_t seed, std::size_t workers)
    : _garden(in), _faults(to), _random(seed), _most(workers + 3), _thread([this] { work(); }) {}

void chaos::end() {
  {
    const std::lock_guard lock(_mutex);
    _over = true;
  }
  _over_changed.notify_all();
  if (_thread.joinable()) _thread.join();
}

void chaos::work() {
  std::unique_lock lock(_mutex);
  while (!_over) {
    lock.unlock();
    step();
    _steps.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
    lock.lock();
    _over_changed.wait_for(lock, std::chrono::microseconds(500 + _random.below(8000)), [this] { return _over; });
  }
}

void chaos::attach(faio::worker_kind kind) {
  if (auto id = _garden.runtime.attach_worker(kind)) {
    _attached.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  } else {
    _faults.report("attach_worker: " + id.error().message());
  }
}

void chaos::detach(std::size_t id) {
  const auto left = _garden.runtime.detach_worker(id);
  if (left) {
    _detached.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  } else if (left.error() != make_error_code(errc::no_such_worker) &&
             left.error() != make_error_code(errc::last_worker) &&
             left.error() != make_error_code(errc::hosted_worker)) {
    _faults.report("detach_worker: " + left.error().message());
  }
}

void chaos::step() {
  const auto now = _garden.runtime.metrics();
  std::vector<std::size_t> io;
  std::vector<std::size_t> compute;
  for (const auto& each : now.workers) (each.kind == faio::worker_kind::io ? io : compute).push_back(each.id);
  for (auto& each : _garden.some_workers) {
    // relaxed: numbers, which may be out of date anyway.
    each.store(now.workers[_random.below(now.workers.size())].id, std::memory_order_relaxed);
  }
  const bool of_compute = _random.once_in(8);
  const auto& those = of_compute ? compute : io;
  const std::size_t most = of_compute ? 4 : _most;
  if (those.empty() || (those.size() < most && _random.once_in(2))) {
    attach(of_compute ? faio::worker_kind::compute : faio::worker_kind::io);
    return;
  }
  const std::size_t id = those[_random.below(those.size())];
  if (_random.once_in(4)) {
    // From one of the workers, perhaps the very one: there it does not wait.
    _garden.runtime.post([this, id] { detach(id); });
  } else {
    detach(id);
  }
}

}  // namespace steal_stress
