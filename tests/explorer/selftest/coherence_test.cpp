// coherence -- one location alone: all threads agree on one order of its values, and nobody goes back in it.
//
// Relaxed everywhere: coherence is what even relaxed atomics give.
#include <gtest/gtest.h>

#include "litmus.hpp"

namespace faio::explorer::litmus {
namespace {

TEST(Coherence, TwoReadsNeverGoBackwards) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) { p.x.store(1, relaxed); },
                             [](program& p) {
                               p.r[0] = p.x.load(relaxed);
                               p.r[1] = p.x.load(relaxed);
                             }}),
            (outcomes{"00", "01", "11"}));
}

TEST(Coherence, ReadersAgreeOnTheOrderOfTwoWriters) {
  const thread reader_one = [](program& p) {
    p.r[0] = p.x.load(relaxed);
    p.r[1] = p.x.load(relaxed);
  };
  const thread reader_two = [](program& p) {
    p.r[2] = p.x.load(relaxed);
    p.r[3] = p.x.load(relaxed);
  };
  const outcomes seen = all_outcomes(4, {[](program& p) { p.x.store(1, relaxed); },
                                         [](program& p) { p.x.store(2, relaxed); }, reader_one, reader_two});
  // One reader alone may see the writes in either order; but not one reader in the one and the other in the other.
  const outcomes alone{"00", "01", "02", "11", "22", "12", "21"};
  outcomes expected;
  for (const std::string& one : alone)
    for (const std::string& two : alone)
      if (!(one == "12" && two == "21") && !(one == "21" && two == "12")) expected.insert(one + two);
  EXPECT_EQ(seen, expected);
}

TEST(Coherence, TwoWritesOfAThreadKeepTheirOrder) {
  EXPECT_EQ(all_outcomes(1,
                         {[](program& p) {
                            p.x.store(1, relaxed);
                            p.x.store(2, relaxed);
                          },
                          [](program&) {}},
                         [](program& p) { p.r[0] = p.x.load(relaxed); }),
            (outcomes{"2"}));
}

// r0 = 2 and a final 2 would put our own write before the one that we had read.
TEST(Coherence, AWriteComesAfterWhatItsThreadHasRead) {
  EXPECT_EQ(all_outcomes(2,
                         {[](program& p) {
                            p.r[0] = p.x.load(relaxed);
                            p.x.store(1, relaxed);
                          },
                          [](program& p) { p.x.store(2, relaxed); }},
                         [](program& p) { p.r[1] = p.x.load(relaxed); }),
            (outcomes{"01", "02", "21"}));
}

// r0 = 2 and a final 1 would mean that we read what our own write had replaced.
TEST(Coherence, AReadComesAfterWhatItsThreadHasWritten) {
  EXPECT_EQ(all_outcomes(2,
                         {[](program& p) {
                            p.x.store(1, relaxed);
                            p.r[0] = p.x.load(relaxed);
                          },
                          [](program& p) { p.x.store(2, relaxed); }},
                         [](program& p) { p.r[1] = p.x.load(relaxed); }),
            (outcomes{"11", "12", "22"}));
}

TEST(ReadModifyWrite, IncrementsAreNeverLost) {
  const thread add = [](program& p) { p.x.fetch_add(1, relaxed); };
  EXPECT_EQ(all_outcomes(1, {add, add, add}, [](program& p) { p.r[0] = p.x.load(relaxed); }), (outcomes{"3"}));
}

TEST(ReadModifyWrite, EachExchangeSeesAnotherValue) {
  EXPECT_EQ(all_outcomes(3,
                         {[](program& p) { p.r[0] = p.x.exchange(1, relaxed); },
                          [](program& p) { p.r[1] = p.x.exchange(2, relaxed); }},
                         [](program& p) { p.r[2] = p.x.load(relaxed); }),
            (outcomes{"012", "201"}));
}

TEST(ReadModifyWrite, BitsAreSetAndClearedAndSubtractionWraps) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                           p.x.fetch_or(6, relaxed);
                           p.x.fetch_and(3, relaxed);
                           p.r[0] = p.x.load(relaxed);
                           p.y.fetch_sub(1, relaxed);
                           p.r[1] = p.y.load(relaxed) == -1;
                         }}),
            (outcomes{"21"}));
}

TEST(CompareExchange, ALoopCountsExactly) {
  const thread add = [](program& p) {
    int seen = p.x.load(relaxed);
    while (!p.x.compare_exchange_weak(seen, seen + 1, relaxed)) {
    }
  };
  EXPECT_EQ(all_outcomes(1, {add, add, add}, [](program& p) { p.r[0] = p.x.load(relaxed); }), (outcomes{"3"}));
}

TEST(CompareExchange, ExactlyOneThreadWins) {
  const auto claim = [](unsigned i) {
    return thread{[i](program& p) {
      int expected = 0;
      p.r[i] = p.x.compare_exchange_strong(expected, 1, relaxed) ? 1 : 0;
    }};
  };
  EXPECT_EQ(all_outcomes(3, {claim(0), claim(1), claim(2)}), (outcomes{"100", "010", "001"}));
}

// The value is 1 for good once y is 1, yet a failing compare-exchange is only a load: it may still report the old 0.
TEST(CompareExchange, FailsWithAStaleValueAsAnyLoadMay) {
  EXPECT_EQ(all_outcomes(3, {[](program& p) {
                               p.x.store(1, relaxed);
                               p.y.store(1, relaxed);
                             },
                             [](program& p) {
                               p.r[0] = p.y.load(relaxed);
                               int expected = 1;
                               p.r[1] = p.x.compare_exchange_strong(expected, 2, relaxed) ? 1 : 0;
                               p.r[2] = expected;
                             }}),
            (outcomes{"000", "011", "100", "111"}));
}

TEST(CompareExchange, OnlyTheWeakFormFailsSpuriouslyAndOnlyAsOftenAsAllowed) {
  const auto failures = [](bool weak, unsigned allowed) {
    std::set<int> seen;
    const report result = explore({.weak_failures = allowed}, [&](run& run) {
      atomics::atomic<int> x{0};
      int failed = 0;
      run.thread("only", [&] {
        for (int i = 0; i < 3; ++i) {
          int expected = i;
          while (!(weak ? x.compare_exchange_weak(expected, i + 1) : x.compare_exchange_strong(expected, i + 1))) {
            check(expected == i, "a spurious failure leaves the expected value");
            ++failed;
          }
        }
      });
      run.join();
      seen.insert(failed);
    });
    EXPECT_TRUE(result.ok()) << result;
    return seen;
  };
  EXPECT_EQ(failures(true, 0), (std::set<int>{0}));
  EXPECT_EQ(failures(true, 2), (std::set<int>{0, 1, 2}));
  EXPECT_EQ(failures(false, 2), (std::set<int>{0}));
}

}  // namespace
}  // namespace faio::explorer::litmus
