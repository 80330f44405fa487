// fs_fixture -- a runtime on each engine, a folder of its own, a check that no descriptor is left open; and a process of its own, for what
// needs other rights or limits.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>

#include "faio/context/context.hpp"
#include "faio/ioengine/engine.hpp"

namespace faio::fs {

using namespace std::chrono_literals;

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

/// A new folder, removed at the end.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = testing::TempDir() + "faio-fs-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::system_category(), name);
    _path = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(_path, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return _path; }

 private:
  std::filesystem::path _path;
};

/// What the standard library reads, to compare with.
inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void put(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// Bytes of which no two neighbourhoods are alike.
inline std::string pattern(std::size_t size) {
  std::string text(size, ' ');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + (i * i / 7 + i) % 26);
  return text;
}

inline bool is_allowed_here(engine_kind kind) { return ioengine::engine::create({.kind = kind}).has_value(); }

/// Both engines, each skipped where it is not allowed; every test ends with as many open descriptors as it began with.
class FsTest : public testing::TestWithParam<engine_kind> {
 protected:
  void SetUp() override {
    if (!is_allowed_here(GetParam())) GTEST_SKIP() << to_string(GetParam()) << " is not allowed here";
    _before = open_descriptors();
    _ctx.emplace(config{.workers = 2, .engine = GetParam()});
  }
  void TearDown() override {
    if (!_ctx) return;
    _ctx.reset();
    EXPECT_EQ(open_descriptors(), _before);
  }
  runtime_context& ctx() { return *_ctx; }
  [[nodiscard]] std::filesystem::path in_folder(const std::string& name) const { return _folder.path() / name; }

 private:
  temporary_folder _folder;
  std::size_t _before = 0;
  std::optional<runtime_context> _ctx;
};

#define FAIO_ON_BOTH_ENGINES(Suite)                                                                 \
  INSTANTIATE_TEST_SUITE_P(Engines, Suite, testing::Values(engine_kind::uring, engine_kind::epoll), \
                           [](const auto& each) { return std::string(to_string(each.param)); })

/// For a test in a process of its own: fork, before there is a runtime.
class FsProcessTest : public testing::TestWithParam<engine_kind> {
 protected:
  void SetUp() override {
    if (!is_allowed_here(GetParam())) GTEST_SKIP() << to_string(GetParam()) << " is not allowed here";
  }
  static constexpr int skipped = 77;
  /// Runs `prepare` (an empty text, or why it cannot be done here), then `body` with a runtime. Failed expectations there fail the test here.
  template <class Prepare, class Body>
  void in_a_process(Prepare prepare, Body body) {
    std::fflush(nullptr);
    int reason[2];
    ASSERT_EQ(::pipe(reason), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      if (const std::string why_not = prepare(); !why_not.empty()) {
        (void)!::write(reason[1], why_not.data(), why_not.size());
        std::_Exit(skipped);
      }
      {
        runtime_context ctx({.workers = 2, .engine = GetParam()});
        body(ctx);
      }
      std::fflush(nullptr);
      std::_Exit(testing::Test::HasFailure() ? 1 : 0);
    }
    ::close(reason[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    std::string why(200, ' ');
    why.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(reason[0], why.data(), why.size()), 0)));
    ::close(reason[0]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == skipped) GTEST_SKIP() << why;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }
  [[nodiscard]] std::filesystem::path in_folder(const std::string& name) const { return _folder.path() / name; }
  [[nodiscard]] const temporary_folder& folder() const { return _folder; }

 private:
  temporary_folder _folder;
};

}  // namespace faio::fs
