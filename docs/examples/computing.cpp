// computing -- the fifth chapter of docs/tutorial.md.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <faio/faio.hpp>
#include <thread>

using namespace std::chrono_literals;

// Plain recursion, each half on whichever worker is free. In `lifo` the deepest comes first, so memory stays small.
faio::task<std::uint64_t> fib(int n) {
  if (n < 2) co_return static_cast<std::uint64_t>(n);
  auto [a, b] = co_await faio::when_all(fib(n - 1), fib(n - 2));
  co_return a + b;
}

std::uint64_t sum_of_squares(std::uint64_t below) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < below; ++i) sum += i * i;
  return sum;
}

faio::task<void> program() {
  // A long calculation, beside the workers that serve I/O.
  const auto sum = co_await faio::compute([] { return sum_of_squares(1'000'000); });
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
  // A call that blocks, an old library say.
  co_await faio::blocking([] { std::this_thread::sleep_for(1ms); });
}

int main() {
  faio::runtime_context server;
  server.block_on(program());
  faio::runtime_context forks{{.discipline = faio::discipline::lifo}};
  std::printf("%llu\n", static_cast<unsigned long long>(forks.block_on(fib(20))));
}
