// files -- reads of 4 KiB at random places of a cached file, a task for each that is under way.
#include "common/file.hpp"

#include <array>
#include <cstddef>
#include <string>

#include "workloads.hpp"

namespace compare {
namespace {

using faio::task;

task<> read_often(const faio::fs::file& file, random_blocks places, std::size_t n) {
  std::array<std::byte, block_size> into;
  for (std::size_t i = 0; i < n; ++i) {
    auto got = co_await file.read_at(into, places.next());
    expect(got && *got == block_size, "file_reads");
  }
}

task<> read_all(std::string path, std::size_t depth, std::size_t each) {
  auto file = co_await faio::fs::file::open(path);
  if (!file) fail("cannot open " + path);
  auto size = co_await file->size();
  expect(size && *size >= block_size, "the file's size");
  faio::task_group group;
  for (std::size_t i = 0; i < depth; ++i) group.spawn(read_often(*file, random_blocks(i, *size / block_size), each));
  co_await group.join();
}

}  // namespace

void file_reads(options& wanted) {
  const std::size_t depth = wanted.number("depth", 32);
  const std::size_t each = wanted.number("n", 500'000) / depth;
  const std::string path = wanted.text("path", "");
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  timed(each * depth, [&] { ctx.block_on(read_all(path, depth, each)); }).print();
}

}  // namespace compare
