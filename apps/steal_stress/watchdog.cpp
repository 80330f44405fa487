// watchdog -- looks ten times a second.
#include "watchdog.hpp"

#include <chrono>
#include <utility>

namespace steal_stress {

watchdog::~watchdog() {
  {
    const std::lock_guard lock(_mutex);
    _over = true;
  }
  _changed.notify_all();
  _thread.join();
}

void watchdog::add(std::string what, std::function<std::uint64_t()> progress) {
  const std::lock_guard lock(_mutex);
  const auto now = progress();
  _pulses.push_back({std::move(what), std::move(progress), now, clock::now()});
}

void watchdog::remove(const std::string& what) {
  const std::lock_guard lock(_mutex);
  std::erase_if(_pulses, [&](const pulse& each) { return each.what == what; });
}

void watchdog::watch() {
  constexpr std::chrono::milliseconds between_looks{100};
  std::unique_lock lock(_mutex);
  while (!_changed.wait_for(lock, between_looks, [this] { return _over; })) {
    const auto now = clock::now();
    for (pulse& each : _pulses) {
      const auto progress = each.progress();
      if (progress != each.last || progress == at_rest) {
        each.last = progress;
        each.changed = now;
      } else if (now - each.changed > _bound) {
        _bark(each.what);
      }
    }
  }
}

}  // namespace steal_stress
