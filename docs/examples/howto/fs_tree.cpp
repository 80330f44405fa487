// fs_tree -- all files below a directory, read in parallel.
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/fs/fs.hpp>
#include <filesystem>
#include <string>

namespace fs = faio::fs;

// Spawns into the group from inside it: join() waits for those as well.
faio::task<void> count_lines(faio::task_group& group, std::filesystem::path at, std::atomic<std::uint64_t>& lines) {
  auto names = co_await fs::list(at);
  if (!names) co_return;  // gone meanwhile, or not for us
  for (const fs::entry& each : *names) {
    if (each.is_directory()) group.spawn(count_lines(group, at / each.name, lines));
    if (!each.is_file()) continue;
    auto text = co_await fs::read_file(at / each.name, 1 << 20);  // larger ones are left out: too_long
    if (!text) continue;
    for (const char byte : *text) lines += byte == '\n';
  }
}

faio::task<std::uint64_t> program(std::filesystem::path root) {
  std::atomic<std::uint64_t> lines{0};
  faio::task_group group;
  group.spawn(count_lines(group, root, lines));
  co_await group.join();
  co_return lines.load();
}

int main() {
  const auto root = std::filesystem::temp_directory_path() / ("faio_tree_" + std::to_string(::getpid()));
  faio::runtime_context ctx{{.workers = 2}};
  const auto lines = ctx.block_on([&]() -> faio::task<std::uint64_t> {
    for (int i = 0; i < 10; ++i) {
      const auto below = root / std::to_string(i) / "deep";
      auto made = co_await fs::create_directories(below);
      if (!made) co_return 0;
      auto wrote = co_await fs::write_file(below / "text", "one\ntwo\nthree\n", {.durable = false});
      if (!wrote) co_return 0;
    }
    co_return co_await program(root);
  });
  std::filesystem::remove_all(root);
  std::printf("%llu lines\n", static_cast<unsigned long long>(lines));
  return lines == 30 ? 0 : 1;
}
