// litmus -- runs a tiny program in all its executions and returns every outcome that it can have.
//
// The classic litmus tests ask which values a few loads can return together. A checker is right when it shows exactly
// the outcomes that the memory model allows: one too few and it misses mistakes, one too many and it cries wolf.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "explorer/explorer.hpp"

namespace faio::explorer::litmus {

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

/// What the threads share, and a register for each load of interest.
struct program {
  atomics::atomic<int> x{0};
  atomics::atomic<int> y{0};
  atomics::atomic<int> z{0};
  std::array<int, 4> r{};
};

using thread = std::function<void(program&)>;

/// Each outcome is written as the digits of its registers: r[0]=1, r[1]=0 is "10".
using outcomes = std::set<std::string>;

/// All outcomes of the first `registers` registers. `finally` runs after the threads, to read final values.
inline outcomes all_outcomes(unsigned registers, const std::vector<thread>& threads, const thread& finally = nullptr) {
  static constexpr std::array names{"T0", "T1", "T2", "T3"};
  outcomes seen;
  const report result = explore({.preemptions = unbounded}, [&](run& run) {
    program shared;
    for (std::size_t i = 0; i < threads.size(); ++i) run.thread(names.at(i), [&, i] { threads[i](shared); });
    run.join();
    if (finally) finally(shared);
    std::string digits;
    for (unsigned i = 0; i < registers; ++i) digits += std::to_string(shared.r.at(i));
    seen.insert(digits);
  });
  if (!result.ok()) throw std::logic_error("a litmus test failed: " + result.message);
  return seen;
}

/// Every combination of `count` digits 0 and 1, less those named.
inline outcomes all_but(unsigned count, const outcomes& forbidden) {
  outcomes out;
  for (unsigned bits = 0; bits < (1U << count); ++bits) {
    std::string digits;
    for (unsigned i = 0; i < count; ++i) digits += (bits >> (count - 1 - i)) % 2 == 1 ? '1' : '0';
    if (!forbidden.contains(digits)) out.insert(digits);
  }
  return out;
}

}  // namespace faio::explorer::litmus
