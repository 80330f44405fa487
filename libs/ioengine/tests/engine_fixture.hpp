// engine_fixture -- what the suites share: one engine of each kind that this machine allows, operations that record.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "faio/ioengine/engine.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAIO_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAIO_TEST_SANITIZED 1
#endif
#endif

namespace faio::ioengine::testing {

using namespace std::chrono_literals;

#ifdef FAIO_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Records every call of its completion function.
struct recorded : operation {
  std::vector<int> results;
  std::vector<bool> mores;
  recorded() : operation(&record) {}
  [[nodiscard]] bool finished() const { return !results.empty() && !mores.back(); }

 private:
  static void record(operation& op) noexcept {
    auto& self = static_cast<recorded&>(op);
    self.results.push_back(op.result());
    self.mores.push_back(op.more());
  }
};

/// Closes what it holds.
struct owned_fd {
  int fd = -1;
  owned_fd() = default;
  explicit owned_fd(int held) : fd(held) {}
  owned_fd(owned_fd&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  owned_fd& operator=(owned_fd&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~owned_fd() { reset(); }
  void reset() {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }
  operator int() const { return fd; }
};

struct fd_pair {
  owned_fd first;
  owned_fd second;
};

inline fd_pair make_pipe(int flags = O_CLOEXEC) {
  int fds[2];
  if (::pipe2(fds, flags) != 0) std::abort();
  return {owned_fd(fds[0]), owned_fd(fds[1])};
}

inline fd_pair make_socketpair(int type = SOCK_STREAM) {
  int fds[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0) std::abort();
  return {owned_fd(fds[0]), owned_fd(fds[1])};
}

/// A file without a name.
inline owned_fd make_file(std::string_view content = {}) {
  std::string path = "/tmp/faio_ioengine_XXXXXX";
  owned_fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (file < 0) std::abort();
  ::unlink(path.c_str());
  if (::write(file, content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
  return file;
}

inline std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

template <std::size_t Size>
std::string_view text(const std::array<std::byte, Size>& buffer, int length) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(std::max(length, 0))};
}

/// Printed by whoever uses it, so that a failure can be run again: FAIO_SEED=...
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    if (const char* given = std::getenv("FAIO_SEED")) return std::strtoull(given, nullptr, 10);
    return static_cast<unsigned long long>(std::random_device{}());
  }();
  return seed;
}

/// The steady clock, with a count of the looks at it. An engine looks a few times in each turn of its loop: that tells a sleep from
/// a spin, whatever else the machine does.
struct counting_clock final : clock {
  mutable long looks = 0;
  [[nodiscard]] time_point now() const noexcept override {
    ++looks;
    return std::chrono::steady_clock::now();
  }
};

inline std::unique_ptr<engine> make_engine(engine_options options) {
  auto made = engine::create(options);
  if (!made) {
    ADD_FAILURE() << made.error().message;
    std::abort();
  }
  return std::move(*made);
}

/// The kinds that do I/O and that this machine allows. Under a policy without io_uring: automatic, which must then work everywhere.
inline std::vector<engine_kind> io_kinds() {
  if (engine::create({.kind = engine_kind::uring})) return {engine_kind::uring, engine_kind::epoll};
  return {engine_kind::automatic, engine_kind::epoll};
}

inline std::string kind_name(const ::testing::TestParamInfo<engine_kind>& info) {
  return std::string(to_string(info.param));
}

/// A suite that runs once on each of io_kinds().
class io_fixture : public ::testing::TestWithParam<engine_kind> {
 protected:
  [[nodiscard]] engine_options options() const { return {.kind = GetParam()}; }

  /// Drives until the operation has completed for the last time; a hang is the test's timeout.
  void finish(recorded& op) {
    while (op.in_flight()) io->wait_and_drive();
  }
  int run(recorded& op) {
    io->submit(op);
    finish(op);
    return op.results.back();
  }

  std::unique_ptr<engine> io = make_engine(options());
};

#define FAIO_FOR_IO_KINDS(Suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(On, Suite, ::testing::ValuesIn(::faio::ioengine::testing::io_kinds()), \
                           ::faio::ioengine::testing::kind_name)

}  // namespace faio::ioengine::testing
