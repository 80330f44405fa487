// pool -- the workers of one kind, what they share, and how one of them is found and woken.
//
//   stations  [ w0 ][ w1 ][ w2 ] ..   every worker object there ever was: thieves walk them without a lock, because an object
//                                     stays until the runtime ends and is used again for the next worker that is attached
//   members   number in the state machine -> worker, under _mutex: who can be woken
//
// I1  A worker is a member from before its first sleep until it has left; its engine lives as long.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "faio/queue/global_queue.hpp"
#include "faio/scheduler/export.hpp"
#include "faio/scheduler/queue_atomics.hpp"
#include "faio/scheduler/work_item.hpp"
#include "faio/statemachine/state_machine.hpp"

namespace faio::scheduler {

class worker;

class FAIO_SCHEDULER_API pool {
 public:
  static constexpr std::size_t most_workers = 2048;

  /// A worker of the pool, after it published work that any other may take: wakes one if that is needed.
  void notify_one() { tell(machine.worker_to_notify()); }
  /// The same for a thread that is no worker of the pool.
  void notify_one_from_outside() { tell(machine.worker_to_notify_outside()); }

  /// As many of its workers have work as there are processors: one more would take its processor from another. A moment's view.
  [[nodiscard]] bool is_crowded() const noexcept {
    return running() >= processors.load(std::memory_order_relaxed);  // relaxed: a number
  }
  /// Workers that have work; hosts between two calls have none, however they count in the state machine. A moment's view.
  [[nodiscard]] std::size_t running() const noexcept {
    const std::size_t counted = machine.running();
    return counted - std::min(counted, resting());
  }

  /// A worker of the pool that has something for whoever sleeps: unless nobody does, or somebody searches, calls give(worker*) with one, and wakes that. Null: it
  /// woke by itself meanwhile, and has left.
  template <class Give>
  void give_to_sleeper(Give&& give) {
    const auto number = machine.worker_to_notify();
    if (!number) return;
    give(member(*number));
    wake(*number);  // it is counted as searching
  }

  /// Any thread. Wakes that worker, if it is still a member.
  void wake(std::size_t number);
  void wake_all();

  /// Any thread. f(worker&) for each station, from `first` on and round.
  template <class F>
  void for_each_station(std::size_t first, F&& f) const {
    // acquire, pairs with add_station(): the worker is made before it can be found.
    const std::size_t count = _station_count.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = first + i;
      f(*_stations[at < count ? at : at - count]);
    }
  }
  /// Any thread.
  [[nodiscard]] std::size_t stations() const noexcept { return _station_count.load(std::memory_order_acquire); }
  [[nodiscard]] worker& station(std::size_t at) const noexcept { return *_stations[at]; }

  /// Under the runtime's lock, one at a time.
  void add_station(worker& made) noexcept {
    const std::size_t at = _station_count.load(std::memory_order_relaxed);  // relaxed: only we write it
    _stations[at] = &made;
    // release, pairs with for_each_station().
    _station_count.store(at + 1, std::memory_order_release);
  }

  /// The worker, about itself.
  std::size_t join(worker& who);
  void leave(std::size_t number);

  /// The host's thread, about its worker: between two of its calls nobody counts on it. It stays `running` in the state machine,
  /// as if in a long task, so a notice never goes to a thread that may not come back; only when nobody else sleeps or searches
  /// does new work make its handle readable.   HostingTest.AHostThatDoesNotComeBackHoldsNobodyUp
  /// The host is on the list, then looks at the queues; a publisher puts its work in, then looks at the list: the barriers are in
  /// worker::rest() and worker_to_notify().
  void rest(worker& host);
  void come_back(worker& host);
  /// Any thread. Something that any worker may take, but for the slots. A moment's view.
  [[nodiscard]] bool work_in_sight() const;
  /// Any thread. Hosts between two calls.
  [[nodiscard]] std::size_t resting() const noexcept {
    return _resting_count.load(std::memory_order_relaxed);  // relaxed: a number
  }

  statemachine::state_machine machine{0};
  queue::global_queue<work_item*, global_queue_atomics> queue;
  /// Workers that sleep with a time limit to look after the slots of others, and their short queues (worker_watch.cpp).
  std::atomic<std::uint32_t> watchers{0};
  /// That this process may use. Written before there are workers, and by tests.
  std::atomic<std::size_t> processors{~std::size_t{0}};

 private:
  void tell(std::optional<std::size_t> number) {
    if (number) {
      wake(*number);
    } else if (_listening_count.load(std::memory_order_relaxed) != 0) [[unlikely]] {  // relaxed: see rest()
      wake_a_host();
    }
  }
  void wake_a_host();
  worker* member(std::size_t number);

  std::array<worker*, most_workers> _stations{};
  std::atomic<std::size_t> _station_count{0};
  std::mutex _mutex;
  std::vector<worker*> _members;
  std::vector<worker*> _listening;  // hosts at rest who have not been told of any work yet
  std::atomic<std::size_t> _listening_count{0};
  std::atomic<std::size_t> _resting_count{0};
};

}  // namespace faio::scheduler
