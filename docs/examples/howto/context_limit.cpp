// context_limit -- many things to do, so many at a time and no more.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <faio/context/context.hpp>
#include <numeric>
#include <vector>

using namespace std::chrono_literals;

// `limit` tasks, each of which takes the next item until there is none. The first exception stops the others and arrives at whoever awaits.
template <class Item, class F>
faio::task<void> for_each_limited(const std::vector<Item>& items, std::size_t limit, F f) {
  std::atomic<std::size_t> next{0};
  auto take_turns = [&]() -> faio::task<void> {
    for (std::size_t i = next++; i < items.size(); i = next++) co_await f(items[i]);
  };
  faio::task_group group;
  for (std::size_t i = 0; i < limit; ++i) group.spawn(take_turns);
  co_await group.join();  // before what they refer to goes
}

int main() {
  std::vector<int> items(50);
  std::iota(items.begin(), items.end(), 1);
  std::atomic<int> sum{0}, now{0}, most{0};

  auto work = [&](int item) -> faio::task<void> {
    const int running = ++now;
    for (int seen = most; seen < running && !most.compare_exchange_weak(seen, running);) {
    }
    co_await faio::sleep_for(1ms);  // a request, say
    sum += item;
    --now;
  };
  faio::runtime_context ctx{{.workers = 2}};
  ctx.block_on(for_each_limited(items, 4, work));
  std::printf("sum %d, at most %d at a time\n", sum.load(), most.load());
  return sum == 1275 && most <= 4 ? 0 : 1;
}
