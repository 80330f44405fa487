// metrics -- what each worker counts, cheap enough to be always on: numbers that only their worker writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "faio/ioengine/engine_options.hpp"
#include "faio/scheduler/config.hpp"

namespace faio::scheduler {

enum class worker_state : std::uint8_t { working, searching, asleep };

/// One worker's numbers, since it began.
struct worker_metrics {
  std::size_t id = 0;                          ///< as this_worker::id()
  worker_kind kind = worker_kind::io;          ///< I/O or compute
  worker_state state = worker_state::working;  ///< now
  std::uint64_t tasks_run = 0;     ///< a delayed post counts twice: on its way to a wheel, and when it is due
  std::uint64_t steals_tried = 0;  ///< looks at a queue that seemed worth it
  std::uint64_t steals_won = 0;    ///< each may have taken several tasks
  std::uint64_t tasks_stolen = 0;  ///< that others took from it
  std::uint64_t slots_taken = 0;   ///< one-slot caches of others that it emptied
  std::uint64_t searches = 0;      ///< looks at what the others have
  std::uint64_t parks = 0;         ///< sleeps in the engine
  std::uint64_t wakes = 0;         ///< parks that another worker or thread ended
  std::uint64_t polls = 0;         ///< looks for completions
  std::uint64_t overflows = 0;     ///< tasks that its full queue handed to the global queue
  std::uint64_t given_away = 0;    ///< completions that came late, to workers that slept
  std::size_t queue_length = 0;    ///< now
  std::size_t timers = 0;          ///< pending now
  std::size_t residents = 0;       ///< connections whose operations are done there now
  bool is_home = true;             ///< connections may live there (config.gather_connections)

  /// Adds the numbers; id, kind and state stay.
  worker_metrics& operator+=(const worker_metrics& other) noexcept {
    tasks_run += other.tasks_run;
    steals_tried += other.steals_tried;
    steals_won += other.steals_won;
    tasks_stolen += other.tasks_stolen;
    slots_taken += other.slots_taken;
    searches += other.searches;
    parks += other.parks;
    wakes += other.wakes;
    polls += other.polls;
    overflows += other.overflows;
    given_away += other.given_away;
    queue_length += other.queue_length;
    timers += other.timers;
    residents += other.residents;
    return *this;
  }
};

/// A runtime's numbers: a moment's view.
struct runtime_metrics {
  std::vector<worker_metrics> workers;     ///< those that are there, I/O and compute
  worker_metrics departed;                 ///< the sum of those that were detached or have ended
  std::size_t global_queue_length = 0;     ///< now
  std::size_t compute_queue_length = 0;    ///< now
  std::uint64_t unhandled_exceptions = 0;  ///< that nobody took
  ioengine::engine_kind engine = ioengine::engine_kind::automatic;  ///< what the I/O workers have
  std::string engine_reason;  ///< one sentence: what it uses, or why it is not uring

  /// Of all workers together, also those that have left.
  [[nodiscard]] worker_metrics total() const noexcept {
    worker_metrics sum = departed;
    for (const auto& each : workers) sum += each;
    return sum;
  }
};

/// A number that one thread writes and any reads. No read-modify-write: the owner's load and store are enough.
class owned_counter {
 public:
  /// Owner only.
  void add(std::uint64_t count = 1) noexcept {
    // relaxed, both: only we write it, and it hands nothing over.
    _value.store(_value.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  void set(std::uint64_t value) noexcept { _value.store(value, std::memory_order_relaxed); }  // relaxed: as above
  /// Any thread.
  [[nodiscard]] std::uint64_t get() const noexcept {
    return _value.load(std::memory_order_relaxed);
  }  // relaxed: as above

 private:
  std::atomic<std::uint64_t> _value{0};
};

}  // namespace faio::scheduler
