// blocking_pool -- a few threads for what can only block: files, opening, syncing. The epoll engine's.
//
//   owner --push--> [queue] --> thread: do_blocking --> [done] --take_done--> owner
//
// Invariants
//   I1 An operation is in the queue, with one thread (its links are null), or in the done list (its flags are done_mark);
//      that is how remove, under the lock, knows which.
//   I2 After it was put into the done list, `on_done` is called, without the lock: the owner may be asleep.
//   I3 The threads are joined by the destructor; what is still queued then was never started.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "operation_access.hpp"

namespace faio::ioengine::detail {

class blocking_pool {
 public:
  /// `on_done` is called by the pool's threads.
  blocking_pool(unsigned max_threads, std::function<void()> on_done);
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;
  ~blocking_pool();

  /// Owner only. Starts a thread if none is idle and there may be more. If no thread at all can be had, the caller does it.
  void push(operation& op) noexcept;

  /// Owner only. True: it was not begun, and is the caller's again.
  bool remove(operation& op) noexcept;

  /// Owner only. Everything that is done, with its result in the operation.
  void take_done(operation_link& into) noexcept;

 private:
  /// In an operation's flags while it is in the done list; the engine overwrites it.
  static constexpr std::uint32_t done_mark = 1U << 7;  // no completion has it

  void work() noexcept;
  bool start_thread() noexcept;

  const unsigned _max_threads;
  const std::function<void()> _on_done;
  std::vector<std::thread> _threads;  // owner

  std::mutex _mutex;  // guards all below
  std::condition_variable _work;
  operation_link _queue;
  operation_link _done;
  unsigned _idle = 0;
  unsigned _queued = 0;
  bool _stopping = false;
};

}  // namespace faio::ioengine::detail
