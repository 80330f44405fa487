// descriptors -- how many a process has open; and a fixture whose tests leave as many as they found.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <faio/faio.hpp>
#include <string>
#include <thread>

namespace samples {

/// Of a process: "self", or its number. 0: it is gone.
inline std::size_t open_descriptors(const std::string& process = "self") {
  std::size_t count = 0;
  DIR* const folder = ::opendir(("/proc/" + process + "/fd").c_str());
  if (folder == nullptr) return 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

/// With the default runtime, which is there before and afterwards.
class LeavesNoDescriptor : public testing::Test {
 protected:
  void SetUp() override {
    faio::block_on([] {});  // it begins
    _before = open_descriptors();
  }
  void TearDown() override {
    // What is done behind the scenes, the reaping of a child that was dropped, may take a moment; it must end.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (open_descriptors() != _before && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    EXPECT_EQ(open_descriptors(), _before);
  }

 private:
  std::size_t _before = 0;
};

}  // namespace samples
