// scheduler_fixture -- what the suites share: a runtime on each engine that this machine allows, gates, items that tests own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faio/ioengine/engine.hpp"
#include "faio/scheduler/runtime_poller.hpp"
#include "faio/scheduler/timer_item.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAIO_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAIO_TEST_SANITIZED 1
#endif
#endif

namespace faio::scheduler::testing {

using namespace std::chrono_literals;

#ifdef FAIO_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// `many`, or a tenth of it where every access is checked.
constexpr std::size_t scaled(std::size_t many) { return sanitized ? many / 10 : many; }

using steady = std::chrono::steady_clock;

/// Longer than anything that is not broken takes; a condition that is still false then fails its test.
inline constexpr std::chrono::seconds long_enough{20};

/// Watches a condition that other threads make true. False: it did not become true.
template <class Condition>
[[nodiscard]] bool becomes_true(Condition&& condition, std::chrono::nanoseconds within = long_enough) {
  const auto deadline = steady::now() + within;
  while (!condition()) {
    if (steady::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Closed until somebody opens it.
class gate {
 public:
  void open() {
    const std::lock_guard lock(_mutex);
    _open = true;
    _changed.notify_all();
  }
  [[nodiscard]] bool is_open() const {
    const std::lock_guard lock(_mutex);
    return _open;
  }
  /// False: it was not opened for a long time.
  bool pass(std::chrono::nanoseconds within = long_enough) {
    std::unique_lock lock(_mutex);
    return _changed.wait_for(lock, within, [this] { return _open; });
  }

 private:
  mutable std::mutex _mutex;
  std::condition_variable _changed;
  bool _open = false;
};

/// An item that the test owns: runs its body as often as it is scheduled.
class test_item final : public work_item {
 public:
  explicit test_item(std::function<void()> body) : work_item(how), _body(std::move(body)) {}
  std::atomic<int> dropped = 0;

 private:
  static void run_it(work_item& item) noexcept { static_cast<test_item&>(item)._body(); }
  static void drop_it(work_item& item) noexcept { ++static_cast<test_item&>(item).dropped; }
  static constexpr operations how{&run_it, &drop_it};
  std::function<void()> _body;
};

/// A timer that the test owns: `fired` runs in the engine's turn.
class test_timer final : public timer_item {
 public:
  explicit test_timer(std::function<void()> fired) : timer_item(how, &fire), _fired(std::move(fired)) {}

 private:
  static void nothing(work_item& /*item*/) noexcept {}
  static void fire(ioengine::timer_entry& timer) noexcept {
    static_cast<test_timer&>(static_cast<timer_item&>(timer))._fired();
  }
  static bool stays(timer_item& /*item*/) noexcept { return false; }
  static constexpr timer_operations how{{&nothing, &nothing}, &stays};
  std::function<void()> _fired;
};

/// Time stands still unless it is moved: who sleeps for a while, to watch a slot say, does so until somebody wakes it.
class frozen_clock final : public ioengine::clock {
 public:
  [[nodiscard]] ioengine::time_point now() const noexcept override { return _at; }
  void move_by(steady::duration more) { _at = _at.load() + more; }

 private:
  std::atomic<ioengine::time_point> _at = steady::now();
};

/// Printed by whoever uses it, so that a failure can be run again: FAIO_SEED=...
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    if (const char* given = std::getenv("FAIO_SEED")) return std::strtoull(given, nullptr, 10);
    return static_cast<unsigned long long>(std::random_device{}());
  }();
  return seed;
}

/// The engines that do I/O and that this machine allows.
inline std::vector<engine_kind> io_kinds() {
  if (ioengine::engine::create({.kind = engine_kind::uring})) return {engine_kind::uring, engine_kind::epoll};
  return {engine_kind::epoll};
}

inline std::string kind_name(const ::testing::TestParamInfo<engine_kind>& info) {
  return std::string(ioengine::to_string(info.param));
}

/// A suite that runs once on each of io_kinds().
class scheduler_fixture : public ::testing::TestWithParam<engine_kind> {
 protected:
  /// A config with this suite's engine.
  [[nodiscard]] config with(config wanted) const {
    wanted.engine = GetParam();
    return wanted;
  }

  /// Runs `f` on a worker and returns when it has ended.
  static void on_a_worker(runtime& rt, std::function<void()> f) {
    std::promise<void> done;
    rt.post([&] {
      f();
      done.set_value();
    });
    done.get_future().get();
  }
  static void on_worker(runtime& rt, std::size_t id, std::function<void()> f) {
    std::promise<void> done;
    rt.post_to(id, [&] {
      f();
      done.set_value();
    });
    done.get_future().get();
  }

  /// True when that many I/O workers sleep.
  static bool asleep(runtime& rt, std::size_t count) {
    return becomes_true([&] { return rt.shared().io.machine.sleeping() == count; });
  }

  /// Each sleeps in its engine, and none of them for a while only: one of a crowd, as they all are while they begin, would come by once more (worker_watch.cpp).
  static bool at_rest(runtime& rt) {
    return becomes_true([&] {
      const auto& io = rt.shared().io;
      if (io.machine.sleeping() != io.machine.workers() || io.watchers.load() != 0) return false;
      return std::ranges::all_of(rt.metrics().workers,
                                 [](const worker_metrics& each) { return each.state == worker_state::asleep; });
    });
  }

  static std::vector<std::size_t> ids(runtime& rt) {
    std::vector<std::size_t> all;
    for (const auto& each : rt.metrics().workers) all.push_back(each.id);
    return all;
  }
};

/// Keeps a worker busy until it is released or goes away.
class occupied {
 public:
  occupied(runtime& rt, std::size_t id) {
    rt.post_to(id, [this] {
      _began.open();
      _released.pass(10min);
      _ended.open();
    });
    _began.pass();
  }
  occupied(const occupied&) = delete;
  occupied& operator=(const occupied&) = delete;
  ~occupied() { release(); }
  void release() {
    _released.open();
    _ended.pass();
  }

 private:
  gate _began, _released, _ended;
};

#define FAIO_FOR_IO_KINDS(Suite)                                                                   \
  INSTANTIATE_TEST_SUITE_P(On, Suite, ::testing::ValuesIn(::faio::scheduler::testing::io_kinds()), \
                           ::faio::scheduler::testing::kind_name)

}  // namespace faio::scheduler::testing
