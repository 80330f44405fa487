// hop_test -- to other threads and back: yield, compute, blocking.
#include "faio/context/hop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

using HopEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(HopEverywhere);

TEST(HopTest, YieldLetsOthersRunFirst) {
  runtime_context ctx{{.workers = 1}};
  std::string order;
  ctx.block_on([&]() -> task<void> {
    auto other = spawn([&]() -> task<void> {
      for (int i = 0; i < 3; ++i) {
        order += 'b';
        co_await yield();
      }
    });
    for (int i = 0; i < 3; ++i) {
      co_await yield();
      order += 'a';
    }
    co_await std::move(other);
  });
  EXPECT_EQ(order, "bababa");
}

TEST_P(HopEverywhere, ComputeRunsOnAComputeWorkerAndComesBack) {
  runtime_context ctx{with(2)};
  ctx.block_on([&]() -> task<void> {
    std::size_t where = 0;
    const int value = co_await compute([&] {
      where = this_worker::id().value();
      return 7;
    });
    EXPECT_EQ(value, 7);
    const auto workers = ctx.metrics().workers;
    const auto kind_of = [&](std::size_t id) {
      for (const auto& each : workers) {
        if (each.id == id) return each.kind;
      }
      return worker_kind::io;
    };
    EXPECT_EQ(kind_of(where), worker_kind::compute);
    EXPECT_EQ(kind_of(this_worker::id().value()), worker_kind::io);
  });
}

TEST_P(HopEverywhere, BlockingRunsOnAThreadOfItsOwnAndComesBack) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    const auto here = std::this_thread::get_id();
    const auto there = co_await blocking([] {
      EXPECT_FALSE(this_worker::id().has_value());
      return std::this_thread::get_id();
    });
    EXPECT_NE(here, there);
    EXPECT_TRUE(this_worker::id().has_value());
  });
}

/// A hundred calls that all block until all of them are there: as many threads as there is work.
TEST(HopTest, BlockingCallsDoNotWaitForEachOther) {
  runtime_context ctx{{.workers = 1}};
  std::atomic<int> there{0};
  ctx.block_on([&]() -> task<void> {
    std::vector<task<void>> calls;
    for (int i = 0; i < 100; ++i) {
      calls.push_back([](std::atomic<int>& number) -> task<void> {
        co_await blocking([&] {
          count(number);
          wait_for(number, 100);
        });
      }(there));
    }
    co_await when_all(std::move(calls));
  });
  EXPECT_EQ(there.load(), 100);
}

TEST_P(HopEverywhere, PassesEveryKindOfValueAndExceptions) {
  runtime_context ctx{with(1)};
  ctx.block_on([]() -> task<void> {
    int number = 1;
    EXPECT_EQ(&co_await compute([&]() -> int& { return number; }), &number);
    EXPECT_EQ(*co_await blocking([] { return std::make_unique<int>(3); }), 3);
    co_await compute([&] { ++number; });
    EXPECT_EQ(number, 2);
    // Named: g++ 12 destroys the captures of a closure twice that is made inside a co_await expression.
    auto owns = [held = std::make_unique<int>(5)] { return *held; };
    EXPECT_EQ(co_await compute(std::move(owns)), 5) << "a callable to be moved";
    EXPECT_THROW(co_await compute([] { throw std::runtime_error("compute"); }), std::runtime_error);
    EXPECT_THROW(co_await blocking([] { throw std::runtime_error("blocking"); }), std::runtime_error);
  });
}

TEST_P(HopEverywhere, ManyHopsFromManyTasks) {
  runtime_context ctx{with(4)};
  std::atomic<int> sum{0};
  constexpr int tasks = 50;
  constexpr int hops = 40;
  ctx.block_on([&]() -> task<void> {
    for (int i = 0; i < tasks; ++i) {
      (void)spawn([&, i]() -> task<void> {
        for (int j = 0; j < hops; ++j) {
          switch ((i + j) % 3) {
            case 0:
              sum += co_await compute([] { return 1; });
              break;
            case 1:
              sum += co_await blocking([] { return 1; });
              break;
            default:
              co_await yield();
              sum += 1;
          }
        }
      });
    }
    co_return;
  });
  EXPECT_EQ(sum.load(), tasks * hops);
}

}  // namespace
}  // namespace faio::tests
