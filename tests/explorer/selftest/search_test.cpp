// search -- the order of executions: bounds, exact counts, replay, random walks, and bodies that cannot be explored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>

#include "litmus.hpp"

namespace faio::explorer {
namespace {

using namespace litmus;
using testing::HasSubstr;

// Threads of a few read-modify-writes each: no choice but who goes next.
std::uint64_t executions(unsigned threads, unsigned steps, unsigned preemptions) {
  static constexpr const char* names[] = {"one", "two", "three"};
  const report result = explore({.preemptions = preemptions}, [=](run& run) {
    atomics::atomic<int> count{0};
    for (unsigned i = 0; i < threads; ++i)
      run.thread(names[i], [&, steps] {
        for (unsigned j = 0; j < steps; ++j) count.fetch_add(1);
      });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
  return result.executions;
}

TEST(Search, MakesEachInterleavingExactlyOnce) {
  EXPECT_EQ(executions(1, 3, unbounded), 1);
  EXPECT_EQ(executions(2, 3, unbounded), 20);    // 6! / (3! 3!)
  EXPECT_EQ(executions(3, 3, unbounded), 1680);  // 9! / (3! 3! 3!)
}

TEST(Search, ThePreemptionBoundCutsWhatNeedsMore) {
  EXPECT_EQ(executions(2, 3, 0), 2);  // one after the other
  EXPECT_EQ(executions(2, 3, 1), 6);  // and either may be interrupted before its second or third step
  EXPECT_EQ(executions(3, 1, 0), 6);  // 3! orders: who comes first is no preemption
}

// Reads, then writes what it read plus one.
report lost_update(std::memory_order order, unsigned preemptions) {
  return explore({.preemptions = preemptions}, [=](run& run) {
    atomics::atomic<int> count{0};
    label(count, "count");
    for (const char* name : {"one", "two"}) run.thread(name, [&, order] { count.store(count.load(order) + 1, order); });
    run.join();
    check(count.load() == 2, "no increment is lost");
  });
}

TEST(Search, ALostUpdateNeedsOnePreemption) {
  EXPECT_TRUE(lost_update(seq_cst, 0).ok());
  EXPECT_EQ(lost_update(seq_cst, 1).kind, failure_kind::check);
}

// The second thread may still read the old value after the first has ended: no switch is needed to go wrong.
TEST(Search, AStaleReadNeedsNoPreemption) {
  const report result = lost_update(relaxed, 0);
  EXPECT_EQ(result.kind, failure_kind::check);
  ASSERT_EQ(result.log.size(), 8U) << result;
  EXPECT_THAT(result.log[3], HasSubstr("two         load  count -> 0, stale: the newest is 1 (relaxed)"));
  EXPECT_THAT(result.log[3], HasSubstr("search_test.cpp:"));
}

TEST(Search, TheBoundOnStaleReadsHolds) {
  const auto missed = [](unsigned allowed) {
    std::set<int> seen;
    const report result = explore({.stale_reads = allowed}, [&](run& run) {
      atomics::atomic<int> x{0};
      atomics::atomic<int> y{0};
      int zeros = 0;
      run.thread("writer", [&] {
        x.store(1, relaxed);
        y.store(1, relaxed);
      });
      run.join();
      run.thread("unrelated", [&] { zeros = -1; });
      run.join();
      run.thread("reader", [&] { zeros = (x.load(relaxed) == 0) + (y.load(relaxed) == 0); });
      run.join();
      seen.insert(zeros);
    });
    EXPECT_TRUE(result.ok()) << result;
    return seen;
  };
  // Threads of a later join come after those of an earlier one: nothing is stale for them.
  EXPECT_EQ(missed(unbounded), (std::set<int>{0}));

  const auto missed_beside = [](unsigned allowed) {
    std::set<int> seen;
    const report result = explore({.preemptions = 0, .stale_reads = allowed}, [&](run& run) {
      atomics::atomic<int> x{0};
      atomics::atomic<int> y{0};
      int zeros = -1;
      run.thread("writer", [&] {
        x.store(1, relaxed);
        y.store(1, relaxed);
      });
      run.thread("reader", [&] { zeros = (y.load(relaxed) == 0) * 2 + (x.load(relaxed) == 0); });
      run.join();
      seen.insert(zeros);
    });
    EXPECT_TRUE(result.ok()) << result;
    return seen;
  };
  EXPECT_EQ(missed_beside(0), (std::set<int>{0, 3}));  // after the writer, or before it
  EXPECT_EQ(missed_beside(1), (std::set<int>{0, 1, 2, 3}));
}

TEST(Search, SaysSoWhenItCouldNotFinish) {
  const report result = explore({.preemptions = unbounded, .executions = 10}, [](run& run) {
    atomics::atomic<int> count{0};
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        for (int i = 0; i < 3; ++i) count.fetch_add(1);
      });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::incomplete);
  EXPECT_EQ(result.executions, 10U);
}

void store_buffering(run& run) {
  atomics::atomic<int> x{0};
  atomics::atomic<int> y{0};
  int left = 0;
  int right = 0;
  run.thread("left", [&] {
    x.store(1, release);
    left = y.load(acquire);
  });
  run.thread("right", [&] {
    y.store(1, release);
    right = x.load(acquire);
  });
  run.join();
  check(left + right != 0, "one of them saw the other");
}

TEST(Replay, GivesTheSameFailureAgain) {
  const report found = explore({}, store_buffering);
  ASSERT_EQ(found.kind, failure_kind::check);
  for (int i = 0; i < 2; ++i) {
    const report again = replay(found.trace, store_buffering);
    EXPECT_EQ(again.kind, found.kind);
    EXPECT_EQ(again.message, found.message);
    EXPECT_EQ(again.log, found.log);
    EXPECT_EQ(again.trace, found.trace);
  }
}

TEST(Replay, RefusesWhatIsNoTraceOfThisBody) {
  EXPECT_EQ(replay("nonsense", store_buffering).kind, failure_kind::model);
  EXPECT_EQ(replay("p2.w1.c1.s-.l10000:zz", store_buffering).kind, failure_kind::model);
}

TEST(Replay, LogsAnExecutionThatEndsWellToo) {
  const report result = replay("p2.w1.c1.s-.l10000:", store_buffering);
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(result.log.size(), 6U) << result;  // four steps and two ends, one thread after the other
}

TEST(Random, FindsTheWeakOutcomeAndItsSeedFindsItAgain) {
  const report found = explore({.how = search::random, .executions = 10'000}, store_buffering);
  ASSERT_EQ(found.kind, failure_kind::check) << found;
  ASSERT_TRUE(found.seed.has_value());

  const report again = explore({.how = search::random, .executions = 10'000, .seed = found.seed}, store_buffering);
  EXPECT_EQ(again.executions, found.executions);
  EXPECT_EQ(again.trace, found.trace);
  EXPECT_EQ(again.log, found.log);

  const report replayed = replay(found.trace, store_buffering);
  EXPECT_EQ(replayed.kind, found.kind);
  EXPECT_EQ(replayed.log, found.log);
}

TEST(Random, TakesItsSeedFromTheEnvironment) {
  ASSERT_EQ(setenv("FAIO_EXPLORER_SEED", "12345", 1), 0);
  const report result = explore({.how = search::random, .executions = 1, .seed = 7}, [](run&) {});
  ASSERT_EQ(unsetenv("FAIO_EXPLORER_SEED"), 0);
  EXPECT_EQ(result.seed, 12345U);
}

TEST(Random, MakesAsManyExecutionsAsAsked) {
  const report result = explore({.how = search::random, .executions = 500}, [](run& run) {
    atomics::atomic<int> count{0};
    for (const char* name : {"one", "two"}) run.thread(name, [&] { count.fetch_add(1); });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(result.executions, 500U);
}

TEST(Body, ThatDependsOnSomethingElseIsRefused) {
  int calls = 0;
  const report result = explore({}, [&](run& run) {
    atomics::atomic<int> count{0};
    ++calls;
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        for (int i = 0; i < 2 + calls % 2; ++i) count.fetch_add(1);
      });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::model) << result;
  EXPECT_THAT(result.message, HasSubstr("could not be repeated"));
}

TEST(Body, MayNotForgetToJoinNorHaveTooManyThreads) {
  EXPECT_EQ(explore({}, [](run& run) { run.thread("lost", [] {}); }).kind, failure_kind::model);
  EXPECT_EQ(explore({},
                    [](run& run) {
                      for (int i = 0; i < 8; ++i) run.thread("one of many", [] {});
                      run.join();
                    })
                .kind,
            failure_kind::model);
}

TEST(Body, MayJoinMoreThanOnce) {
  const report result = explore({.preemptions = unbounded}, [](run& run) {
    atomics::plain<int> data{0};
    run.thread("first", [&] { data.write() += 1; });
    run.join();
    check(data.read() == 1, "the first is over");
    run.thread("second", [&] { data.write() += 1; });
    run.join();
    check(data.read() == 2, "so is the second");
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Body, SeesEveryThreadAsItself) {
  const report result = explore({}, [](run& run) {
    atomics::plain<const void*> first{nullptr};
    const void* body = atomics::this_thread();
    run.thread("one", [&] {
      first.write() = atomics::this_thread();
      check(first.read() == atomics::this_thread(), "a token stays the same");
    });
    run.join();
    run.thread("two", [&] { check(first.read() != atomics::this_thread(), "another thread, another token"); });
    run.join();
    check(body == atomics::this_thread() && body != first.read(), "the body is a thread of its own");
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(BodyDeathTest, ObjectsOutsideOfAnExecutionAreRefused) {
  EXPECT_DEATH(atomics::atomic<int>{0}, "used outside of explore");
}

TEST(Exceptions, ThatLeaveAThreadAreReported) {
  const report result = explore({}, [](run& run) {
    run.thread("thrower", [] { throw std::runtime_error("no luck"); });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::exception);
  EXPECT_THAT(result.message, HasSubstr("thrower ended by throwing: no luck"));
}

// Each thread is switched away inside its own handler; each must get its own exception back.
TEST(Exceptions, BeingHandledStayWithTheirThread) {
  const report result = explore({.preemptions = unbounded}, [](run& run) {
    atomics::atomic<int> steps{0};
    for (const int id : {1, 2})
      run.thread(id == 1 ? "one" : "two", [&, id] {
        try {
          try {
            throw id;
          } catch (int) {
            steps.fetch_add(1);
            steps.fetch_add(1);
            throw;
          }
        } catch (int caught) {
          steps.fetch_add(1);
          check(caught == id, "a thread catches what it threw");
        }
      });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
}

}  // namespace
}  // namespace faio::explorer
