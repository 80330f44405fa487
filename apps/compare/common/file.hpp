// file -- the file of the reading workload: made once, then in the page cache.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/program.hpp"

namespace compare {

constexpr std::size_t block_size = 4096;

/// Opened for reading; `blocks` is how many it has.
inline int open_blocks(const std::string& path, std::size_t& blocks) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about{};
  if (fd < 0 || fstat(fd, &about) != 0) fail("cannot open " + path);
  blocks = static_cast<std::size_t>(about.st_size) / block_size;
  if (blocks == 0) fail(path + " is empty");
  return fd;
}

/// Which block comes next: splitmix64, the same sequence in every program.
class random_blocks {
 public:
  explicit random_blocks(std::uint64_t seed, std::size_t blocks) : _state(seed), _blocks(blocks) {}
  std::uint64_t next() {
    std::uint64_t z = (_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((z ^ (z >> 31)) % _blocks) * block_size;
  }

 private:
  std::uint64_t _state;
  std::size_t _blocks;
};

}  // namespace compare
