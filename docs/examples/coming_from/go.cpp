// go -- the same with faio.
#include <cstdio>
#include <faio/faio.hpp>

faio::task<void> produce(faio::sync::channel<int>& numbers) {
  for (;;) {
    auto sent = co_await numbers.send(1);  // a stop request ends the wait: no second case is needed
    if (!sent) co_return;
  }
}

faio::task<int> program() {
  faio::sync::channel<int> numbers(16);
  faio::task_group producers;
  for (int i = 0; i < 3; ++i) producers.spawn(produce(numbers));

  int sum = 0;
  for (int i = 0; i < 1000; ++i) {
    auto number = co_await numbers.recv();
    sum += number.value_or(0);
  }
  producers.request_stop();
  co_await producers.join();
  co_return sum;
}

int main() {
  faio::runtime_context ctx;
  const int sum = ctx.block_on(program());
  std::printf("%d\n", sum);
  return sum == 1000 ? 0 : 1;
}
