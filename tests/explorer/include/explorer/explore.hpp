// explore -- runs a small concurrent program in every way that it can go, and reports the first that goes wrong.
//
//     auto report = explore({.preemptions = 2}, [](run& run) {
//       queue<int, explorer::atomics> q;                       // made afresh for each execution
//       int taken = 0;
//       run.thread("owner", [&] { q.push(1); });
//       run.thread("thief", [&] { taken += q.steal(); });
//       run.join();                                            // the threads run here
//       check(taken == 0 || taken == 1, "the thief takes it at most once");
//     });
//     EXPECT_TRUE(report.ok()) << report;
//
// The body is called once for each execution and must do the same each time but for what the explorer chooses: no
// clock, no randomness, no decisions by address, nothing carried over (results may be collected). What the body does
// before join() comes before everything in the threads, what it does after it comes after everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "explorer/report.hpp"

namespace faio::explorer {

inline constexpr unsigned unbounded = std::numeric_limits<unsigned>::max();

enum class search : std::uint8_t {
  exhaustive,  // depth first through every choice
  random,      // draws each choice; preemptions are not bounded
};

struct options {
  search how = search::exhaustive;
  /// How often an execution may switch away from a thread that could go on. Most mistakes need 2.
  unsigned preemptions = 2;
  /// How many operations of an execution may deal with another than the newest value: loads that return an older one,
  /// stores and read-modify-writes that are put before a newer one.
  unsigned stale_reads = unbounded;
  /// How many futex_waits of an execution may return without a wake.
  unsigned spurious_wakes = 1;
  /// How many compare_exchange_weaks of an execution may fail although the value was the expected one.
  unsigned weak_failures = 1;
  /// An execution that takes more steps is a livelock.
  unsigned max_steps = 10'000;
  /// Exhaustive: needing more than these is a failure (incomplete). Random: make this many.
  std::uint64_t executions = 100'000'000;
  /// Random: drawn when absent. The environment variable FAIO_EXPLORER_SEED overrides both.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// One execution, handed to the body.
class run {
 public:
  run() = default;
  run(const run&) = delete;
  run& operator=(const run&) = delete;

  /// Adds a thread (at most 7). It starts in join(). `name` must outlive the execution; what `body` captures by
  /// reference must live until join() returns.
  template <class Body>
  void thread(const char* name, Body&& body) {
    using stored = std::decay_t<Body>;
    static_assert(alignof(stored) <= alignof(std::max_align_t));
    void* place = closure_storage(sizeof(stored));
    ::new (place) stored(std::forward<Body>(body));
    add_thread(name, place, [](void* closure) {
      auto* self = static_cast<stored*>(closure);
      (*self)();
      std::destroy_at(self);
    });
  }

  /// Runs the threads added so far until all have ended.
  void join();

 private:
  static void* closure_storage(std::size_t size);
  static void add_thread(const char* name, void* closure, void (*call)(void*));
};

/// Tries executions of `what` until one fails or all are done. Not reentrant, one thread of the process at a time.
[[nodiscard]] report explore(const options& how, const std::function<void(run&)>& what);

/// Makes the one execution that `trace` (from report::trace) describes. The step log is always filled.
[[nodiscard]] report replay(std::string_view trace, const std::function<void(run&)>& what);

/// Any thread of the model, or the body. Ends the execution as failed unless `condition` holds.
void check(bool condition, const char* sentence);

}  // namespace faio::explorer
