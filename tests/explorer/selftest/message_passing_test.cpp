// message_passing -- data is written, then a flag: may who sees the flag miss the data?
//
//   T0: x = 1; y = 1        T1: r0 = y; r1 = x        r0 = 1, r1 = 0 ("10") is what release and acquire forbid.
#include <gtest/gtest.h>

#include "litmus.hpp"

namespace faio::explorer::litmus {
namespace {

const outcomes weak = all_but(2, {});
const outcomes strong = all_but(2, {"10"});

outcomes flag(std::memory_order store, std::memory_order load) {
  return all_outcomes(2, {[=](program& p) {
                            p.x.store(1, relaxed);
                            p.y.store(1, store);
                          },
                          [=](program& p) {
                            p.r[0] = p.y.load(load);
                            p.r[1] = p.x.load(relaxed);
                          }});
}

// The flag itself is relaxed, the fences stand beside it.
outcomes fenced_flag(std::memory_order writer, std::memory_order reader) {
  return all_outcomes(2, {[=](program& p) {
                            p.x.store(1, relaxed);
                            if (writer != relaxed) atomics::fence(writer);
                            p.y.store(1, relaxed);
                          },
                          [=](program& p) {
                            p.r[0] = p.y.load(relaxed);
                            if (reader != relaxed) atomics::fence(reader);
                            p.r[1] = p.x.load(relaxed);
                          }});
}

TEST(MessagePassing, RelaxedMayMissTheData) { EXPECT_EQ(flag(relaxed, relaxed), weak); }

TEST(MessagePassing, ReleaseAndAcquireDeliverTheData) {
  EXPECT_EQ(flag(release, acquire), strong);
  EXPECT_EQ(flag(seq_cst, seq_cst), strong);
}

TEST(MessagePassing, OneHalfOfThePairIsNotEnough) {
  EXPECT_EQ(flag(release, relaxed), weak);
  EXPECT_EQ(flag(relaxed, acquire), weak);
  EXPECT_EQ(flag(relaxed, seq_cst), weak);
}

TEST(MessagePassing, FencesDeliverTheData) {
  EXPECT_EQ(fenced_flag(release, acquire), strong);
  EXPECT_EQ(fenced_flag(acq_rel, acq_rel), strong);
  EXPECT_EQ(fenced_flag(seq_cst, seq_cst), strong);
}

TEST(MessagePassing, OneFenceOrTheWrongFenceIsNotEnough) {
  EXPECT_EQ(fenced_flag(release, relaxed), weak);
  EXPECT_EQ(fenced_flag(relaxed, acquire), weak);
  EXPECT_EQ(fenced_flag(acquire, release), weak);
}

TEST(MessagePassing, AFenceMeetsAnOrderedOperation) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               p.x.store(1, relaxed);
                               atomics::fence(release);
                               p.y.store(1, relaxed);
                             },
                             [](program& p) {
                               p.r[0] = p.y.load(acquire);
                               p.r[1] = p.x.load(relaxed);
                             }}),
            strong);
}

TEST(MessagePassing, AReleaseFenceCoversOnlyWhatCameBeforeIt) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               atomics::fence(release);
                               p.x.store(1, relaxed);
                               p.y.store(1, relaxed);
                             },
                             [](program& p) {
                               p.r[0] = p.y.load(acquire);
                               p.r[1] = p.x.load(relaxed);
                             }}),
            weak);
}

// y is 1 from the store, 2 from a fetch_add(2) before it, 3 from one after it.
TEST(MessagePassing, AReadModifyWriteCarriesTheReleaseOn) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               p.x.store(1, relaxed);
                               p.y.store(1, release);
                             },
                             [](program& p) { p.y.fetch_add(2, relaxed); },
                             [](program& p) {
                               p.r[0] = p.y.load(acquire);
                               p.r[1] = p.x.load(relaxed);
                             }}),
            (outcomes{"00", "01", "11", "20", "21", "31"}));
}

TEST(MessagePassing, AStoreOfAnotherThreadBreaksTheReleaseSequence) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               p.x.store(1, relaxed);
                               p.y.store(1, release);
                             },
                             [](program& p) {
                               if (p.y.load(relaxed) == 1) p.y.store(2, relaxed);
                             },
                             [](program& p) {
                               p.r[0] = p.y.load(acquire);
                               p.r[1] = p.x.load(relaxed);
                             }}),
            (outcomes{"00", "01", "11", "20", "21"}));
}

// Until C++17 this was still a release sequence.
TEST(MessagePassing, AStoreOfTheSameThreadBreaksItToo) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               p.x.store(1, relaxed);
                               p.y.store(1, release);
                               p.y.store(2, relaxed);
                             },
                             [](program& p) {
                               p.r[0] = p.y.load(acquire);
                               p.r[1] = p.x.load(relaxed);
                             }}),
            (outcomes{"00", "01", "11", "20", "21"}));
}

TEST(MessagePassing, TheFailureOrderOfACompareExchangeCounts) {
  const auto failing = [](std::memory_order failure) {
    return all_outcomes(2, {[](program& p) {
                              p.x.store(1, relaxed);
                              p.y.store(1, release);
                            },
                            [failure](program& p) {
                              int expected = 5;  // never there
                              p.y.compare_exchange_strong(expected, 6, relaxed, failure);
                              p.r[0] = expected;
                              p.r[1] = p.x.load(relaxed);
                            }});
  };
  EXPECT_EQ(failing(acquire), strong);
  EXPECT_EQ(failing(relaxed), weak);
}

TEST(MessagePassing, AHeavyBarrierOnOneSideDeliversTheData) {
  const auto with = [](const thread& writer, const thread& reader) {
    return all_outcomes(2, {[&](program& p) {
                              p.x.store(1, relaxed);
                              writer(p);
                              p.y.store(1, relaxed);
                            },
                            [&](program& p) {
                              p.r[0] = p.y.load(relaxed);
                              reader(p);
                              p.r[1] = p.x.load(relaxed);
                            }});
  };
  const thread light = [](program&) { atomics::light_barrier(); };
  const thread heavy = [](program&) { atomics::heavy_barrier(); };
  EXPECT_EQ(with(light, heavy), strong);
  EXPECT_EQ(with(heavy, light), strong);
  EXPECT_EQ(with(light, light), weak);
}

}  // namespace
}  // namespace faio::explorer::litmus
