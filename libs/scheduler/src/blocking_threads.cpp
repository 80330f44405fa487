// blocking_threads -- a queue, and as many threads as there is work in it.
#include "faio/scheduler/blocking_threads.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include "faio/scheduler/shared_state.hpp"
#include "faio/scheduler/thread_state.hpp"

namespace faio::scheduler {

bool blocking_threads::post(work_item& item) {
  std::vector<std::thread> gone;
  {
    const std::lock_guard lock(_mutex);
    if (_closed) return false;
    _queue.push_back(&item);
    if (_idle >= _queue.size() || _busy + _idle >= most_threads) {
      _work.notify_one();
    } else {
      std::size_t at = _threads.size();
      if (!_ended.empty()) {
        at = _ended.back();
        _ended.pop_back();
        gone.push_back(std::move(_threads[at]));
      } else {
        _threads.emplace_back();
      }
      try {
        _threads[at] = std::thread([this, at] { serve(at); });
        ++_idle;
      } catch (const std::system_error&) {
        _ended.push_back(at);
        if (_busy + _idle == 0) {  // nobody would ever take it
          _queue.pop_back();
          throw;
        }
      }
    }
  }
  for (auto& each : gone) {
    if (each.joinable()) each.join();
  }
  return true;
}

void blocking_threads::serve(std::size_t index) {
  constexpr std::chrono::seconds kept_idle{10};
  _runtime.begin_blocking_thread();
  this_thread().runtime = &_runtime;
  std::unique_lock lock(_mutex);
  for (;;) {
    _work.wait_for(lock, kept_idle, [this] { return !_queue.empty() || _closed; });
    if (_queue.empty()) break;
    work_item& item = *_queue.front();
    _queue.pop_front();
    --_idle;
    ++_busy;
    lock.unlock();
    item.run();
    lock.lock();
    --_busy;
    ++_idle;
    if (_closed) _idle_again.notify_all();
    if (_runtime.stopping()) {  // stop() may be waiting for us
      lock.unlock();
      _runtime.tell_quiet();
      lock.lock();
    }
  }
  --_idle;
  if (!_closed) _ended.push_back(index);
}

bool blocking_threads::end(std::chrono::steady_clock::time_point deadline) {
  std::deque<work_item*> dropped;
  std::vector<std::thread> threads;
  {
    std::unique_lock lock(_mutex);
    _closed = true;
    dropped.swap(_queue);
    _work.notify_all();
    const auto none_busy = [this] { return _busy == 0; };
    if (deadline == std::chrono::steady_clock::time_point::max()) {
      _idle_again.wait(lock, none_busy);
    } else {
      (void)_idle_again.wait_until(lock, deadline, none_busy);
    }
    if (none_busy()) threads.swap(_threads);
  }
  for (work_item* each : dropped) each->drop();
  const bool all = !threads.empty() || quiet();
  for (auto& each : threads) {
    if (each.joinable()) each.join();
  }
  return all;
}

bool blocking_threads::quiet() const {
  const std::lock_guard lock(_mutex);
  return _queue.empty() && _busy == 0;
}

}  // namespace faio::scheduler
