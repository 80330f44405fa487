// process_fixture -- a runtime on each engine, and a check that no descriptor is left open.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "faio/context/context.hpp"

namespace faio::process {

using namespace std::chrono_literals;

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

/// Both engines; every test ends with as many open descriptors as it began with.
class ProcessTest : public testing::TestWithParam<engine_kind> {
 protected:
  ProcessTest()
      : _before(open_descriptors()),
        _ctx(std::make_unique<runtime_context>(config{.workers = 2, .engine = GetParam()})) {}
  ~ProcessTest() override {
    _ctx.reset();
    // What is done behind the scenes, the reaping of a child that was dropped, may take a moment; it must end.
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (open_descriptors() != _before && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    EXPECT_EQ(open_descriptors(), _before);
  }
  runtime_context& ctx() { return *_ctx; }

 private:
  std::size_t _before;
  std::unique_ptr<runtime_context> _ctx;
};

#define FAIO_ON_BOTH_ENGINES(Suite)                                                                     \
  INSTANTIATE_TEST_SUITE_P(Engines, Suite, testing::Values(engine_kind::automatic, engine_kind::epoll), \
                           [](const auto& each) { return std::string(to_string(each.param)); })

}  // namespace faio::process
