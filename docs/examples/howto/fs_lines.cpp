// fs_lines -- a file of any size, line by line, with little memory; and written so.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/fs/fs.hpp>
#include <filesystem>
#include <string>

namespace fs = faio::fs;

// Sums up the lines, each a number. Negative: it could not be read to its end.
faio::task<std::int64_t> sum_lines(std::filesystem::path path) {
  auto in = co_await fs::reader::open(path);  // the next block is read while we are at this one
  if (!in) co_return -1;
  std::int64_t sum = 0, number = 0;
  for (;;) {
    auto block = co_await in->next_block();  // without a copy; read_until("\n") gives a string for each line
    if (!block) co_return -1;
    if (block->empty()) co_return sum;
    for (const std::byte byte : *block) {
      if (byte != std::byte{'\n'}) {
        number = number * 10 + (static_cast<char>(byte) - '0');
        continue;
      }
      sum += number;
      number = 0;
    }
  }
}

faio::task<bool> program(std::filesystem::path path) {
  {
    auto out = co_await fs::writer::create(path);
    if (!out) co_return false;
    for (int i = 1; i <= 10'000; ++i) {
      const std::string line = std::to_string(i) + "\n";
      auto wrote = co_await out->write_all(line);
      if (!wrote) co_return false;
    }
    auto closed = co_await out->close();
    if (!closed) co_return false;
  }
  const auto sum = co_await sum_lines(path);
  auto removed = co_await fs::remove(path);
  std::printf("%lld\n", static_cast<long long>(sum));
  co_return removed&& sum == 50'005'000;
}

int main() {
  const auto path = std::filesystem::temp_directory_path() / ("faio_lines_" + std::to_string(::getpid()));
  faio::runtime_context ctx{{.workers = 2}};
  return ctx.block_on(program(path)) ? 0 : 1;
}
