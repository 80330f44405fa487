// libuv -- the same with faio.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <faio/faio.hpp>

using namespace std::chrono_literals;

faio::task<bool> program() {
  co_await faio::sleep_for(5ms);

  const std::uint64_t sum = co_await faio::compute([] {  // on a worker that serves no I/O
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < 1'000'000; ++i) all += i;
    return all;
  });

  auto file = co_await faio::fs::file::open("/proc/version");
  if (!file) co_return false;
  std::array<std::byte, 64> room;
  auto count = co_await file->read_at(room, 0);
  const bool read = count && *count > 0;

  std::printf("%llu, read: %s\n", static_cast<unsigned long long>(sum), read ? "yes" : "no");
  co_return sum == 499'999'500'000 && read;
}

int main() {
  faio::runtime_context ctx;
  return ctx.block_on(program()) ? 0 : 1;
}
