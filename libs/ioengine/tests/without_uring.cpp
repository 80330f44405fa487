// without_uring -- runs a program on a machine that forbids io_uring, as a default container does.
//
//   without_uring ./engine_test --gtest_filter=...
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "seccomp_filter.hpp"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s program [argument...]\n", argv[0]);
    return 2;
  }
  if (!faio::ioengine::testing::install_filter({{.number = __NR_io_uring_setup, .error = EPERM}})) {
    std::perror("without_uring: the filter was refused");
    return 2;
  }
  ::execv(argv[1], argv + 1);
  std::perror(argv[1]);
  return 2;
}
