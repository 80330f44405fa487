// compare_tbb -- fork-join with TBB: parallel_invoke for two children; for more a task_group, the last child in the node's own thread.
//
// By CPU time the best of what was tried: a task_group with run_and_wait takes 18 % more for fib, parallel_for 15 % more for skynet.
#include "common/fork_join.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <array>
#include <cstdint>
#include <numeric>

#include "common/program.hpp"

namespace compare {
namespace {

std::uint64_t fib(std::uint64_t n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  tbb::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

std::uint64_t skynet(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) return first;
  std::array<std::uint64_t, 10> sums{};
  const std::uint64_t share = leaves / 10;
  tbb::task_group group;
  for (std::uint64_t i = 0; i < 9; ++i)
    group.run([&sums, first, share, i] { sums[i] = skynet(first + i * share, share); });
  sums[9] = skynet(first + 9 * share, share);
  group.wait();
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

std::uint64_t queens(taken before, std::size_t n) {
  if (before.full(n)) return 1;
  if (before.free(n) == 0) return 0;
  std::array<std::uint64_t, solutions.size()> counts{};
  tbb::task_group group;
  std::size_t i = 0;
  for (std::uint32_t left = before.free(n); left != 0; left &= left - 1, ++i) {
    const taken next = before.with(left & -left);
    if ((left & (left - 1)) != 0) {
      group.run([&counts, next, n, i] { counts[i] = queens(next, n); });
    } else {
      counts[i] = queens(next, n);
    }
  }
  group.wait();
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// The idle row: threads that have worked once and have nothing more to do.
void idle(options& wanted, tbb::task_arena& arena) {
  const auto length = std::chrono::milliseconds(wanted.number("ms", 3000));
  wanted.all_asked();
  arena.execute([] { expect(fib(20) == fib_value(20), "fib"); });
  usleep(200'000);  // TBB's threads spin a while before they sleep; that is not the row's question
  const double before = cpu_seconds();
  usleep(static_cast<useconds_t>(std::chrono::microseconds(length).count()));
  report().add("cpu_seconds", cpu_seconds() - before).print();
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  options wanted(argc, argv);
  const std::size_t workers = wanted.number("workers", 2);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
  tbb::task_arena arena(static_cast<int>(workers));
  arena.initialize();
  const auto run = [&](std::size_t operations, auto f, std::uint64_t right) {
    wanted.all_asked();
    timed(operations, [&] { arena.execute([&] { expect(f() == right, "fork-join"); }); }).print();
  };
  if (wanted.workload == "fib") {
    const std::size_t n = wanted.number("n", 36);
    run(fib_calls(n), [=] { return fib(n); }, fib_value(n));
  } else if (wanted.workload == "skynet") {
    const std::size_t n = wanted.number("n", 10'000'000);
    run(n, [=] { return skynet(0, n); }, n * (n - 1) / 2);
  } else if (wanted.workload == "nqueens") {
    const std::size_t n = wanted.number("n", 13);
    if (n >= solutions.size()) fail("nqueens: n is too large");
    run(1, [=] { return queens({}, n); }, solutions[n]);
  } else if (wanted.workload == "idle") {
    idle(wanted, arena);
  } else {
    fail("no workload " + wanted.workload);
  }
}
