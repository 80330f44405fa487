// process_fixture -- a runtime on each engine, and a check that no descriptor is left open.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>

#include "faio/context/context.hpp"
#include "faio/ioengine/engine.hpp"

namespace faio::process {

using namespace std::chrono_literals;

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

/// Both engines, each skipped where it is not allowed; every test ends with as many open descriptors as it began with.
class ProcessTest : public testing::TestWithParam<engine_kind> {
 protected:
  void SetUp() override {
    if (!ioengine::engine::create({.kind = GetParam()}))
      GTEST_SKIP() << to_string(GetParam()) << " is not allowed here";
    _before = open_descriptors();
    _ctx.emplace(config{.workers = 2, .engine = GetParam()});
  }
  void TearDown() override {
    if (!_ctx) return;
    _ctx.reset();
    // What is done behind the scenes, the reaping of a child that was dropped, may take a moment; it must end.
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (open_descriptors() != _before && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    EXPECT_EQ(open_descriptors(), _before);
  }
  runtime_context& ctx() { return *_ctx; }

 private:
  std::size_t _before = 0;
  std::optional<runtime_context> _ctx;
};

#define FAIO_ON_BOTH_ENGINES(Suite)                                                                 \
  INSTANTIATE_TEST_SUITE_P(Engines, Suite, testing::Values(engine_kind::uring, engine_kind::epoll), \
                           [](const auto& each) { return std::string(to_string(each.param)); })

}  // namespace faio::process
