// first_sync -- the example of the README: a bounded channel between tasks, and a lock around what they share.
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/sync/channel.hpp>
#include <faio/sync/mutex.hpp>

faio::task<> produce(faio::sync::channel<int>& numbers) {
  for (int i = 1; i <= 1000; ++i) co_await numbers.send(i);  // waits while 16 are on their way
  numbers.close();                                           // what was sent is still received
}

faio::task<> consume(faio::sync::channel<int>& numbers, faio::sync::mutex& lock, long& sum) {
  while (auto number = co_await numbers.recv()) {
    auto guard = co_await lock.lock();  // suspends the task, not the thread
    sum += *number;
  }
}

int main() {
  faio::runtime_context ctx{{.workers = 4}};
  faio::sync::channel<int> numbers(16);
  faio::sync::mutex lock;
  long sum = 0;
  ctx.wait_all(produce(numbers), consume(numbers, lock, sum), consume(numbers, lock, sum));
  std::printf("1 + 2 + ... + 1000 = %ld\n", sum);
  return sum == 500500 ? 0 : 1;
}
