// signal -- a task waits for a signal of the operating system; nothing is lost between two waits.
//
//   auto which = co_await faio::process::signal({SIGINT, SIGTERM});     // result<int>: the number
//
// From the first wait for a signal on, the process notes each arrival instead of what the signal would do by default: Ctrl-C
// ends the program only if the program does. forget() puts back what was before.
//
// Who gets an arrival
//   signal()      everybody who waits for it at that time; when nobody does it is kept, for the next who waits.
//   signal_set    each set gets each arrival since it was made. For a loop that must miss none while others wait for the same signal.
//
// An arrival is one run of the handler. The kernel merges standard signals that are sent faster than a thread takes them; what it
// does not merge is counted here.
//
// Threads: the handler runs on whichever thread the kernel chooses, so at least one must not block the signal. Several runtimes may wait for
// the same signal. Children start without blocked signals, with those handlers gone.
//
// Rejected: signalfd. It needs the signal blocked in every thread of the process, also in those that are there already.
// Rejected: a thread that takes signals and wakes tasks. A thread more, for what a few writes in the handler do.
#pragma once

#include <concepts>
#include <csignal>
#include <cstdint>
#include <memory>
#include <span>

#include "faio/context/result.hpp"
#include "faio/context/task.hpp"
#include "faio/process/export.hpp"

namespace faio::process {

/// Some signals by their numbers: {SIGINT, SIGTERM}.
class signal_mask {
 public:
  static constexpr int highest = 64;

  template <std::same_as<int>... More>
  constexpr signal_mask(int first, More... more) noexcept {  // NOLINT(google-explicit-constructor): {SIGINT, SIGTERM}
    add(first);
    (add(more), ...);
  }
  constexpr explicit signal_mask(std::span<const int> numbers) noexcept {
    for (const int each : numbers) add(each);
  }

  constexpr void add(int number) noexcept {
    if (number >= 1 && number <= highest) {
      _bits |= bit(number);
    } else {
      _valid = false;
    }
  }
  [[nodiscard]] constexpr bool has(int number) const noexcept { return (_bits & bit(number)) != 0; }
  /// False: one of the numbers is no signal.
  [[nodiscard]] constexpr bool valid() const noexcept { return _valid; }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return _bits; }

 private:
  static constexpr std::uint64_t bit(int number) noexcept { return std::uint64_t{1} << (number - 1); }
  std::uint64_t _bits = 0;
  bool _valid = true;
};

/// Effect: waits for the next arrival of one of the signals, or takes one that was kept, and gives its number. Call from: a task, any
/// number of them. Resumes on any worker. Stop requested: operation_canceled; nothing was taken. Errors: invalid_argument for a signal
/// that cannot be waited for (SIGKILL, SIGSTOP, and SIGSEGV, SIGBUS, SIGFPE, SIGILL, which end a program for a reason); no descriptor left.
///     auto which = co_await faio::process::signal({SIGINT, SIGTERM});                          // tests/signal_test.cpp
[[nodiscard("co_await it")]] FAIO_PROCESS_API task<result<int>> signal(signal_mask which);

/// What the process did with these signals before the first wait for them is put back; arrivals that were kept are dropped. Any
/// thread. A task that waits for them waits on, until somebody waits for them anew.
///     faio::process::forget({SIGINT});  // a second Ctrl-C ends the program at once
FAIO_PROCESS_API void forget(signal_mask which) noexcept;

/// Hears the signals from the moment it is made, each arrival once. Movable. Several tasks may wait on one set: each arrival is one task's.
class FAIO_PROCESS_API signal_set {
 public:
  /// Any thread. Errors: as signal().
  static result<signal_set> listen(signal_mask which);

  /// Effect: the number of the next signal that arrived since the set was made and was not given yet. The lowest number first.
  /// Call from: a task. Stop requested: operation_canceled; nothing was taken.
  [[nodiscard("co_await it")]] task<result<int>> next();

  // ---- end of the public interface ----

  class state;

 private:
  explicit signal_set(std::shared_ptr<state> made) noexcept : _state(std::move(made)) {}
  std::shared_ptr<state> _state;
};

}  // namespace faio::process
