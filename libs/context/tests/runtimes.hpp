// runtimes -- what the tests of this library share: runtimes of every kind, a gate that tasks and threads meet at, a seed that is printed.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "faio/context/context.hpp"
#include "faio/ioengine/engine.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAIO_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAIO_TEST_SANITIZED 1
#endif
#endif

namespace faio::tests {

using namespace std::chrono_literals;

#if defined(FAIO_TEST_SANITIZED)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Longer than anything takes, on a machine that does something else as well.
inline constexpr auto generous = 60s;

/// Opens once; threads block on it, tasks poll it between yields.
class gate {
 public:
  void open() {
    _open.store(true);
    _open.notify_all();
  }
  void wait() const { _open.wait(false); }
  [[nodiscard]] bool is_open() const { return _open.load(); }
  task<void> pass() const {
    while (!is_open()) co_await yield();
  }

 private:
  std::atomic<bool> _open{false};
};

/// Blocks a thread until the number is reached.
inline void wait_for(const std::atomic<int>& number, int wanted) {
  for (int seen = number.load(); seen < wanted; seen = number.load()) number.wait(seen);
}
inline void count(std::atomic<int>& number) {
  number.fetch_add(1);
  number.notify_all();
}

/// Counts itself while it lives.
class tracked {
 public:
  explicit tracked(std::atomic<int>& alive) : _alive(&alive) { alive.fetch_add(1); }
  tracked(const tracked& other) : _alive(other._alive) { _alive->fetch_add(1); }
  tracked& operator=(const tracked&) = default;
  ~tracked() { _alive->fetch_sub(1); }

 private:
  std::atomic<int>* _alive;
};

/// FAIO_SEED, or from the machine; printed, so that a failure can be run again.
/// Does not end by itself, and does not look at its token.
inline task<void> never() {
  for (;;) co_await sleep_for(std::chrono::hours(1));
}

inline std::uint64_t seed() {
  const char* const given = std::getenv("FAIO_SEED");
  const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("FAIO_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

/// Every combination of discipline and engine that this machine allows.
struct variety {
  scheduler::discipline order;
  engine_kind engine;
};
inline std::vector<variety> varieties() {
  const bool uring = ioengine::engine::create({.kind = engine_kind::uring}).has_value();
  std::vector<variety> all;
  for (const auto order : {scheduler::discipline::fifo, scheduler::discipline::lifo}) {
    if (uring) all.push_back({order, engine_kind::uring});
    all.push_back({order, engine_kind::epoll});
  }
  return all;
}
class EveryRuntime : public testing::TestWithParam<variety> {
 protected:
  [[nodiscard]] static config with(std::size_t workers) {
    return {.workers = workers, .discipline = GetParam().order, .engine = GetParam().engine};
  }
};
inline std::string name_of(const testing::TestParamInfo<variety>& each) {
  return std::string(each.param.order == scheduler::discipline::fifo ? "fifo" : "lifo") +
         (each.param.engine == engine_kind::uring ? "_uring" : "_epoll");
}
#define FAIO_EVERY_RUNTIME(suite) \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(::faio::tests::varieties()), name_of)

}  // namespace faio::tests
