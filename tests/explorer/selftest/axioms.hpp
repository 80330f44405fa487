// axioms -- the memory model a second time, as the standard states it, to compare the explorer with.
//
// The explorer runs a program step by step. Here nothing runs: every way to say which write each read returns (rf) and
// in which order the writes of a location come (mo) is tried, and kept if it breaks no rule of [intro.races] and
// [atomics.order]. Slow, short, and written from the other end: where the two agree, both are probably right.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace faio::explorer::litmus {

struct instruction {
  enum class what : std::uint8_t { load, store, add, cas, fence };
  what kind;
  int location = 0;  // 0 or 1
  int value = 0;     // stored; added; what a cas makes of a 0
  std::memory_order order = std::memory_order_relaxed;
  std::memory_order failure = std::memory_order_relaxed;  // of a cas
};

/// For each thread its instructions.
using listing = std::vector<std::vector<instruction>>;

enum class reach : std::uint8_t {
  /// What the language allows, but for loads that return a value which their own thread's later stores led to.
  language,
  /// The same, where in addition the order S of seq_cst operations agrees with an order of execution.
  explorer,
};

/// Each outcome: what every load, add and cas read, thread by thread, then the last value of both locations.
[[nodiscard]] std::set<std::string> outcomes_by_axioms(const listing& program, reach limit);

[[nodiscard]] std::string to_text(const listing& program);

}  // namespace faio::explorer::litmus
