// spawn -- a command becomes a process. Blocks until it has been loaded.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "faio/process/child.hpp"

namespace faio::process {

/// A thread that may block.
result<child> spawn_now(const command& what);

/// What a child and those who wait for it share. Destroyed before it was reaped: killed unless detached, and reaped later.
class child::state {
 public:
  state(pid_t number, int handle) noexcept : pid(number), pidfd(handle) {}
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state();

  /// Any thread. Nothing: it runs.
  result<std::optional<exit_status>> try_reap();
  result<void> kill(int signal) noexcept;

  const pid_t pid;
  const int pidfd;
  std::atomic<bool> detached{false};

 private:
  std::mutex _mutex;
  std::optional<exit_status> _ended;  // guarded by _mutex
};

}  // namespace faio::process
