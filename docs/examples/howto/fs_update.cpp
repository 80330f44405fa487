// fs_update -- settings in a file: whoever reads it, and whatever happens, finds the old ones or the new ones.
#include <unistd.h>

#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/fs/fs.hpp>
#include <filesystem>
#include <string>
#include <system_error>

namespace fs = faio::fs;

faio::task<fs::result<void>> add_line(std::filesystem::path to, std::string line) {
  auto text = co_await fs::read_file(to);
  if (!text && text.error() != std::errc::no_such_file_or_directory) co_return std::unexpected(text.error());
  const std::string all = text.value_or("") + line + "\n";
  co_return co_await fs::write_file(to, all);  // beside it, synced, renamed over it; its directory synced
}

faio::task<bool> program(std::filesystem::path path) {
  for (const char* each : {"colour = green", "size = 12"}) {
    auto added = co_await add_line(path, each);
    if (!added) {
      std::printf("%s\n", added.error().message().c_str());  // names the path
      co_return false;
    }
  }
  auto text = co_await fs::read_file(path);
  auto removed = co_await fs::remove(path);
  co_return text&& removed && *text == "colour = green\nsize = 12\n";
}

int main() {
  const auto path = std::filesystem::temp_directory_path() / ("faio_update_" + std::to_string(::getpid()));
  faio::runtime_context ctx{{.workers = 2}};
  const bool right = ctx.block_on(program(path));
  std::puts(right ? "as it should be" : "not as it should be");
  return right ? 0 : 1;
}
