// report -- what is shown while it runs, and at the end.
#pragma once

#include <chrono>
#include <cstdio>
#include <span>
#include <string>

#include "faio/context/context.hpp"
#include "ledger.hpp"
#include "options.hpp"

namespace steal_stress {

/// A bar on a terminal, a line a second elsewhere.
class progress_bar {
 public:
  progress_bar();
  void show(const options& wanted, double seconds, std::uint64_t tasks, const faio::worker_metrics& total);
  /// Before anything else is printed.
  void clear();

 private:
  bool _terminal;
  double _next = 1;
};

struct wait_record {
  clock::duration longest{};
  place where = place::root;
};
wait_record longest_wait(std::span<book* const> books);

std::string describe(const options& wanted);
void print_waits(std::FILE* to, std::span<book* const> books);
/// Everything known about who is where: for a run that failed.
void print_whereabouts(std::FILE* to, std::span<book* const> books, const faio::runtime_metrics& now);

}  // namespace steal_stress
