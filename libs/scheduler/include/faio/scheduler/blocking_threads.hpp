// blocking_threads -- threads for work that may block: as many as there is work, kept for a while, gone when idle.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "faio/scheduler/export.hpp"
#include "faio/scheduler/work_item.hpp"

namespace faio::scheduler {

class shared_state;

/// Thread roles: all for any thread.
class FAIO_SCHEDULER_API blocking_threads {
 public:
  explicit blocking_threads(shared_state& runtime) : _runtime(runtime) {}
  blocking_threads(const blocking_threads&) = delete;
  blocking_threads& operator=(const blocking_threads&) = delete;
  /// Waits for what runs; what is queued is dropped.
  ~blocking_threads() { (void)end(std::chrono::steady_clock::time_point::max()); }

  /// False after end(): the item stays with the caller.
  bool post(work_item& item);
  /// Takes nothing more, drops what is queued, waits for what runs. True: all have ended before the deadline. Any number of times.
  [[nodiscard]] bool end(std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] bool quiet() const;

  // ---- end of the public interface ----

 private:
  /// More do not help any file system; they wait in the queue.
  static constexpr std::size_t most_threads = 512;

  void serve(std::size_t index);

  shared_state& _runtime;
  mutable std::mutex _mutex;
  std::condition_variable _work;
  std::condition_variable _idle_again;  // one of them is not busy any more, after end()
  std::deque<work_item*> _queue;
  std::vector<std::thread> _threads;
  std::vector<std::size_t> _ended;  // indices of threads that have left and can be joined
  std::size_t _idle = 0;
  std::size_t _busy = 0;
  bool _closed = false;
};

}  // namespace faio::scheduler
