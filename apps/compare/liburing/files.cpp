// files -- the limit for reads: each thread keeps its share of the depth under way on a ring of its own.
#include <array>
#include <cstddef>
#include <thread>
#include <vector>

#include "common/file.hpp"
#include "ring.hpp"
#include "workloads.hpp"

namespace compare {
namespace {

void read_often(int fd, std::size_t blocks, std::size_t first, std::size_t depth, std::size_t n) {
  io_uring ring{};
  make_ring(ring, 256);
  std::vector<std::array<char, block_size>> rooms(depth);
  std::vector<random_blocks> places;
  for (std::size_t i = 0; i < depth; ++i) places.emplace_back(first + i, blocks);
  std::size_t asked = 0;
  const auto ask = [&](std::size_t i) {
    auto& entry = next_entry(ring);
    io_uring_prep_read(&entry, fd, rooms[i].data(), block_size, places[i].next());
    entry.user_data = i;
    ++asked;
  };
  for (std::size_t i = 0; i < depth; ++i) ask(i);
  std::size_t done = 0;
  while (done < n) {
    io_uring_submit_and_wait(&ring, 1);
    unsigned head = 0;
    unsigned seen = 0;
    io_uring_cqe* each = nullptr;
    io_uring_for_each_cqe(&ring, head, each) {
      expect(each->res == static_cast<int>(block_size), "file_reads");
      ++seen;
      ++done;
      if (asked < n) ask(static_cast<std::size_t>(each->user_data));
    }
    io_uring_cq_advance(&ring, seen);
  }
  io_uring_queue_exit(&ring);
}

}  // namespace

void file_reads(options& wanted) {
  const std::size_t workers = wanted.number("workers", 2);
  const std::size_t depth = wanted.number("depth", 32) / workers;
  const std::size_t each = wanted.number("n", 500'000) / workers;
  std::size_t blocks = 0;
  const int fd = open_blocks(wanted.text("path", ""), blocks);
  wanted.all_asked();
  timed(each * workers, [&] {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers; ++i)
      threads.emplace_back([=] { read_often(fd, blocks, i * depth, depth, each); });
  }).print();
  close(fd);
}

}  // namespace compare
