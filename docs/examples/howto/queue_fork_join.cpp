// queue_fork_join -- threads of one's own share a computation that splits itself: each has a deque, the others steal from it.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <faio/queue/deque.hpp>
#include <optional>
#include <thread>
#include <vector>

// A piece of work is no larger than a pointer. Here: the numbers from `begin` up to `end`.
struct range {
  std::uint32_t begin, end;
};

int main() {
  constexpr std::size_t threads = 4;
  constexpr std::uint32_t count = 1'000'000;
  faio::queue::deque<range> work[threads];
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::uint32_t> left{count};  // numbers that nobody has added yet

  auto run = [&](std::size_t me) {
    while (left > 0) {
      std::optional<range> piece = work[me].pop();                                                   // our newest
      for (std::size_t i = 1; !piece && i < threads; ++i) piece = work[(me + i) % threads].steal();  // their oldest
      if (!piece) {
        std::this_thread::yield();  // others are at it still; faio::statemachine knows how to sleep here
        continue;
      }
      while (piece->end - piece->begin > 1000) {  // split: one half for whoever comes, one for us
        const std::uint32_t middle = piece->begin + (piece->end - piece->begin) / 2;
        work[me].push({middle, piece->end});
        piece->end = middle;
      }
      std::uint64_t part = 0;
      for (std::uint32_t i = piece->begin; i < piece->end; ++i) part += i;
      sum += part;
      left -= piece->end - piece->begin;
    }
  };

  work[0].push({0, count});
  work[0].release_owner();  // pushed here, owned by the first thread from now on
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < threads; ++i) all.emplace_back(run, i);
  }
  std::printf("0 + 1 + ... + 999999 = %llu\n", static_cast<unsigned long long>(sum));
  return sum == 499'999'500'000 ? 0 : 1;
}
