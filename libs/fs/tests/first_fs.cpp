#include <array>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/fs/fs.hpp>

namespace fs = faio::fs;

faio::task<bool> work() {
  auto wrote = co_await fs::write_file("first_fs.txt", "one\ntwo\nthree\n");  // all of it or nothing, also after a crash
  if (!wrote) std::printf("%s\n", wrote.error().message().c_str());

  auto file = co_await fs::file::open("first_fs.txt");
  if (!file) co_return false;
  std::array<std::byte, 3> word{};
  auto got = co_await file->read_at(word, 4);  // suspends the task if it has to wait, never the thread
  if (got) std::printf("at 4: %.3s\n", reinterpret_cast<const char*>(word.data()));

  fs::reader lines(std::move(*file));  // reads ahead
  auto first = co_await lines.read_until("\n");
  if (first) std::printf("first line: %s", first->c_str());

  auto missing = co_await fs::read_file("no such file");
  std::printf("%s\n", missing.error().message().c_str());  // open no such file: No such file or directory
  auto removed = co_await fs::remove("first_fs.txt");
  co_return removed && first && missing.error() == std::errc::no_such_file_or_directory;
}

int main() {
  faio::runtime_context ctx;
  return ctx.block_on(work()) ? 0 : 1;
}
