// report -- what an exploration found.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace faio::explorer {

enum class failure_kind : std::uint8_t {
  none,
  check,              // explorer::check(false, ...)
  data_race,          // two accesses, one of them a write, construction or destruction, that nothing orders
  deadlock,           // every thread that has not ended waits: also what a lost wake-up looks like
  livelock,           // every thread only spins, or the execution took more than options::max_steps
  leak,               // something made was never destroyed
  double_free,        // destroyed twice, or never made
  use_after_free,     // an access to an object in destroyed memory
  use_after_destroy,  // an access to an object whose destructor has run, or that never was
  misuse,             // of a mutex, or an object destroyed while a thread waits on it
  exception,          // one left a thread
  model,              // the body itself is wrong: it cannot be explored
  incomplete,         // more executions would have been needed than options::executions
};

[[nodiscard]] const char* name(failure_kind kind) noexcept;

struct report {
  failure_kind kind = failure_kind::none;
  std::string message;           // one sentence
  std::vector<std::string> log;  // the steps of the failing execution, in order
  std::string trace;             // for explorer::replay
  std::uint64_t executions = 0;
  std::uint64_t steps = 0;  // in all executions together
  double seconds = 0;
  std::optional<std::uint64_t> seed;  // of a random search

  /// No failure; for an exhaustive search that also means that it was completed.
  [[nodiscard]] bool ok() const noexcept { return kind == failure_kind::none; }
};

std::ostream& operator<<(std::ostream& out, failure_kind kind);
std::ostream& operator<<(std::ostream& out, const report& what);

}  // namespace faio::explorer
