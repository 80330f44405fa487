#include <cstdio>
#include <faio/faio.hpp>

faio::task<int> add(int a, int b) {
  co_await faio::yield();
  co_return a + b;
}

faio::task<int> parent() {
  faio::spawn(add(1, 2));          // a child: block_on waits for it too
  auto h = faio::spawn(add(3, 4));  // join_handle<int>
  auto [x, y] = co_await faio::when_all(add(1, 1), add(2, 2));
  co_return co_await std::move(h) + x + y;
}

int main() {
  faio::runtime_context ctx{{.workers = 4}};
  const int n = ctx.block_on(parent());
  auto [a, b] = ctx.wait_all(add(1, 2), add(3, 4));
  std::printf("%d, %d, %d\n", n, a, b);
  return n == 13 && a == 3 && b == 7 ? 0 : 1;
}
