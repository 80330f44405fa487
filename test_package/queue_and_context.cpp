// queue_and_context -- tasks that put their results into a queue; the main thread takes them out.
#include <array>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/queue/global_queue.hpp>

faio::task<> square(int* number, faio::queue::global_queue<int*>& done) {
  co_await faio::yield();
  *number *= *number;
  done.push(number);
}

int main() {
  std::array numbers{1, 2, 3, 4};
  faio::queue::global_queue<int*> done;
  faio::runtime_context ctx{{.workers = 2}};
  ctx.wait_all(square(&numbers[0], done), square(&numbers[1], done), square(&numbers[2], done),
               square(&numbers[3], done));

  int sum = 0;
  while (auto number = done.try_pop()) sum += **number;
  std::printf("1 + 4 + 9 + 16 = %d\n", sum);
  return sum == 30 ? 0 : 1;
}
