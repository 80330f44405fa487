// late -- what completes while its worker runs something long waits for that; half of it, and of the next, goes to a worker that sleeps.
#include <memory>
#include <vector>

#include "faio/scheduler/worker.hpp"
#include "scheduler_fixture.hpp"
#include "waiting_operation.hpp"

namespace faio::scheduler::testing {
namespace {

class LateTest : public scheduler_fixture {
 protected:
  /// Worker 0 runs something for so long, in so many turns, and so many operations of its own complete meanwhile. How many of them does it give away? All
  /// of them run; where, nobody can say: it may take one back.
  std::uint64_t given_away_of(std::size_t completions, steady::duration length, std::size_t workers = 2,
                              int turns = 1) {
    std::latch done(static_cast<std::ptrdiff_t>(completions));
    const auto note = [&] { done.count_down(); };
    std::vector<std::unique_ptr<test_item>> items;
    std::vector<std::unique_ptr<waiting_operation>> operations;
    for (std::size_t i = 0; i < completions; ++i) {
      items.push_back(std::make_unique<test_item>(note));
      operations.push_back(std::make_unique<waiting_operation>(items.back().get()));
    }
    _rt = std::make_unique<runtime>(with({.workers = workers, .clock = &_clock}));
    on_worker(*_rt, 0, [&] {
      for (const auto& each : operations) each->submit_here();
    });
    EXPECT_TRUE(asleep(*_rt, workers));
    _rt->post_to(0, [&] {
      for (const auto& each : operations) each->happen();
      _clock.move_by(length / turns);
      for (int i = 1; i < turns; ++i) this_worker::post_self([&] { _clock.move_by(length / turns); });
    });
    done.wait();
    return _rt->metrics().workers[0].given_away;
  }

  /// One that lost its processor meanwhile gives nothing away: on a busy machine it takes some tries.
  std::uint64_t most_given_away_of(std::size_t completions, std::uint64_t wanted) {
    std::uint64_t most = 0;
    for (int round = 0; round < 200 && most < wanted; ++round) most = std::max(most, given_away_of(completions, 1ms));
    return most;
  }
  /// So one try in which nothing was given away shows nothing.
  static constexpr int several = 40;
  std::uint64_t ever_given_away_of(std::size_t completions, steady::duration length, std::size_t workers = 2,
                                   int turns = 1) {
    std::uint64_t sum = 0;
    for (int round = 0; round < several; ++round) sum += given_away_of(completions, length, workers, turns);
    return sum;
  }

  frozen_clock _clock;

 private:
  std::unique_ptr<runtime> _rt;
};

TEST_P(LateTest, HalfOfWhatCompletedBehindALongTaskGoesToASleeper) { EXPECT_EQ(most_given_away_of(4, 2), 2U); }

TEST_P(LateTest, ALoneOneIsGivenAway) { EXPECT_EQ(most_given_away_of(1, 1), 1U); }

TEST_P(LateTest, TheOneThatComputedStays) {
  for (int round = 0; round < several; ++round) {
    runtime rt(with({.workers = 2, .clock = &_clock}));
    ASSERT_TRUE(asleep(rt, 2));
    std::latch done(1);
    std::unique_ptr<waiting_operation> asks;
    test_item computes([&] {
      if (asks->is_submitted()) {
        done.count_down();
      } else {
        asks->happen();
        asks->submit_here();
        _clock.move_by(1ms);
      }
    });
    asks = std::make_unique<waiting_operation>(&computes);
    rt.post_to(0, [&] { current_worker()->push_back(computes); });
    done.wait();
    ASSERT_EQ(rt.metrics().total().given_away, 0U) << round;
  }
}

TEST_P(LateTest, WhatCompletedBehindAShortTaskStaysWhereItIs) { EXPECT_EQ(ever_given_away_of(4, 10us), 0U); }

TEST_P(LateTest, ManyShortTasksAreNoLongOne) { EXPECT_EQ(ever_given_away_of(4, 1ms, 2, 20), 0U); }

TEST_P(LateTest, WithNobodyElseItIsRunWhereItIs) { EXPECT_EQ(ever_given_away_of(4, 1ms, 1), 0U); }

FAIO_FOR_IO_KINDS(LateTest);

}  // namespace
}  // namespace faio::scheduler::testing
