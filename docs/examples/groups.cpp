// groups -- the second chapter of docs/tutorial.md.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>
#include <vector>

using namespace std::chrono_literals;

std::atomic<int> finished{0};

faio::task<int> square(int n) {
  co_await faio::sleep_for(1ms);
  ++finished;
  co_return n* n;
}

faio::task<void> program() {
  // All at once, by name.
  auto [three, four] = co_await faio::when_all(square(3), square(4));
  std::printf("%d\n", three + four);

  // All at once, as many as there are.
  std::vector<faio::task<int>> many;
  for (int i = 1; i <= 10; ++i) many.push_back(square(i));
  int sum = 0;
  for (const int each : co_await faio::when_all(std::move(many))) sum += each;
  std::printf("%d\n", sum);

  // Now, and awaited later.
  auto handle = faio::spawn(square(5));
  std::printf("%d\n", co_await std::move(handle));

  // Together, in a group that is waited for. The first exception would stop the rest.
  faio::task_group group;
  for (int i = 0; i < 100; ++i) group.spawn(square(i));
  co_await group.join();

  faio::spawn(square(6));  // nobody waits for it here, but block_on does
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  ctx.block_on(program());
  std::printf("%d tasks finished\n", finished.load());
}
