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
  struct experiment {
    std::size_t completions;
    steady::duration length;
    std::size_t workers = 2;
    int turns = 1;
  };
  /// Worker 0 runs something for so long, in so many turns, and so many operations of its own complete meanwhile. The most of them that it gives away in one of several
  /// tries: one that waited for its processor since it was last asked gives nothing away, and on a busy machine it may have. All of them run; where, nobody can say:
  /// it may take one back.
  std::uint64_t most_given_away(const experiment& what, std::uint64_t wanted = ~std::uint64_t{0}) {
    runtime rt(with({.workers = what.workers, .clock = &_clock}));
    const int tries = wanted == ~std::uint64_t{0} ? several : many;
    std::uint64_t most = 0;
    for (int round = 0; round < tries && most < wanted; ++round) most = std::max(most, given_away(rt, what));
    return most;
  }

  static constexpr int several = 40;
  static constexpr int many = 1000;
  frozen_clock _clock;

 private:
  std::uint64_t given_away(runtime& rt, const experiment& what) {
    const auto before = rt.metrics().workers[0].given_away;
    std::latch done(static_cast<std::ptrdiff_t>(what.completions));
    const auto note = [&] { done.count_down(); };
    std::vector<std::unique_ptr<test_item>> items;
    std::vector<std::unique_ptr<waiting_operation>> operations;
    for (std::size_t i = 0; i < what.completions; ++i) {
      items.push_back(std::make_unique<test_item>(note));
      operations.push_back(std::make_unique<waiting_operation>(items.back().get()));
    }
    on_worker(rt, 0, [&] {
      for (const auto& each : operations) each->submit_here();
    });
    EXPECT_TRUE(asleep(rt, what.workers));
    const auto step = what.length / what.turns;
    rt.post_to(0, [&] {
      for (const auto& each : operations) each->happen();
      _clock.move_by(step);
      for (int i = 1; i < what.turns; ++i) this_worker::post_self([this, step] { _clock.move_by(step); });
    });
    done.wait();
    EXPECT_TRUE(asleep(rt, what.workers));  // nobody touches what was made here any more
    return rt.metrics().workers[0].given_away - before;
  }
};

TEST_P(LateTest, HalfOfWhatCompletedBehindALongTaskGoesToASleeper) {
  EXPECT_EQ(most_given_away({.completions = 4, .length = 1ms}, 2), 2U);
}

TEST_P(LateTest, ALoneOneIsGivenAway) { EXPECT_EQ(most_given_away({.completions = 1, .length = 1ms}, 1), 1U); }

TEST_P(LateTest, TheOneThatComputedStays) {
  // One of them may be woken for what is queued: somebody must sleep all the same, whom it could be given to.
  runtime rt(with({.workers = 4, .clock = &_clock}));
  for (int round = 0; round < several; ++round) {
    ASSERT_TRUE(asleep(rt, 4));
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
    ASSERT_TRUE(asleep(rt, 4));
    ASSERT_EQ(rt.metrics().total().given_away, 0U) << round;
  }
}

TEST_P(LateTest, WhatCompletedBehindAShortTaskStaysWhereItIs) {
  EXPECT_EQ(most_given_away({.completions = 4, .length = 10us}), 0U);
}

TEST_P(LateTest, ManyShortTasksAreNoLongOne) {
  EXPECT_EQ(most_given_away({.completions = 4, .length = 1ms, .turns = 20}), 0U);
}

TEST_P(LateTest, WithNobodyElseItIsRunWhereItIs) {
  EXPECT_EQ(most_given_away({.completions = 4, .length = 1ms, .workers = 1}), 0U);
}

FAIO_FOR_IO_KINDS(LateTest);

}  // namespace
}  // namespace faio::scheduler::testing
