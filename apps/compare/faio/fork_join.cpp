// fork_join -- a tree of tasks: each awaits its children by when_all.
#include "common/fork_join.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "workloads.hpp"

namespace compare {
namespace {

using faio::task;

task<std::uint64_t> fib_of(std::uint64_t n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await faio::when_all(fib_of(n - 1), fib_of(n - 2));
  co_return a + b;
}

/// The sum of the numbers of `leaves` leaves from `first` on; ten children each, until one is left.
task<std::uint64_t> skynet_of(std::uint64_t first, std::uint64_t leaves) {
  if (leaves == 1) co_return first;
  std::vector<task<std::uint64_t>> children;
  children.reserve(10);
  for (std::uint64_t i = 0; i < 10; ++i) children.push_back(skynet_of(first + i * (leaves / 10), leaves / 10));
  const auto sums = co_await faio::when_all(std::move(children));
  co_return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

/// Without a vector: as many places as a row has are in the node itself.
task<std::uint64_t> queens(taken before, std::size_t n) {
  if (before.full(n)) co_return 1;
  if (before.free(n) == 0) co_return 0;
  faio::task_list<std::uint64_t, solutions.size()> children;
  for (std::uint32_t left = before.free(n); left != 0; left &= left - 1)
    children.push_back(queens(before.with(left & -left), n));
  std::array<std::uint64_t, solutions.size()> counts;  // of which as many are set as there are children
  co_await faio::when_all(children.all(), std::span(counts));
  co_return std::accumulate(counts.begin(), counts.begin() + children.size(), std::uint64_t{0});
}

}  // namespace

void fib(options& wanted) {
  const std::size_t n = wanted.number("n", 36);
  faio::runtime_context ctx(configured(wanted, "lifo"));
  wanted.all_asked();
  timed(fib_calls(n), [&] { expect(ctx.block_on(fib_of(n)) == fib_value(n), "fib"); }).print();
}

/// `times`: small trees are too quick to be timed one by one.
void skynet(options& wanted) {
  const std::size_t leaves = wanted.number("n", 10'000'000);
  const std::size_t times = wanted.number("times", 1);
  faio::runtime_context ctx(configured(wanted, "lifo"));
  wanted.all_asked();
  timed(leaves * times, [&] {
    for (std::size_t i = 0; i < times; ++i)
      expect(ctx.block_on(skynet_of(0, leaves)) == leaves * (leaves - 1) / 2, "skynet");
  }).print();
}

void nqueens(options& wanted) {
  const std::size_t n = wanted.number("n", 13);
  if (n >= solutions.size()) fail("nqueens: n is too large");
  faio::runtime_context ctx(configured(wanted, "lifo"));
  wanted.all_asked();
  timed(1, [&] { expect(ctx.block_on(queens({}, n)) == solutions[n], "nqueens"); }).print();
}

}  // namespace compare
