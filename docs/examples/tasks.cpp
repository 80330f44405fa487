// tasks -- the first chapter of docs/tutorial.md.
#include <cstdio>
#include <faio/faio.hpp>
#include <stdexcept>
#include <string>

faio::task<std::string> greet(std::string name) {
  co_await faio::yield();  // others may run; we go on behind them
  co_return "Hello, " + name + "!";
}

faio::task<int> parse(std::string text) {
  if (text.empty()) throw std::invalid_argument("nothing to parse");
  co_return std::stoi(text);
}

faio::task<void> program() {
  std::puts((co_await greet("world")).c_str());
  const int n = co_await parse("42");
  std::printf("%d\n", n);
  try {
    (void)co_await parse("");
  } catch (const std::invalid_argument& error) {  // arrives where it is awaited
    std::printf("refused: %s\n", error.what());
  }
}

int main() {
  faio::runtime_context ctx;  // a worker for each processor that the container may use
  ctx.block_on(program());
}
