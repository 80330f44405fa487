// store_order -- two threads store to the same location: in which order do the stores take effect?
//
// A store may take effect later than it was executed, after another thread's store that was executed later. The shapes
// with two writers (2+2W, R, S) show it.
#include <gtest/gtest.h>

#include "litmus.hpp"

namespace faio::explorer::litmus {
namespace {

const thread nothing = [](program&) {};
const thread fence = [](program&) { atomics::fence(seq_cst); };

// 2+2W: each thread stores 1 to its own first location and 2 to the other's. Final "11": both first stores came last.
outcomes two_and_two(std::memory_order order, const thread& between = nothing) {
  return all_outcomes(2,
                      {[&](program& p) {
                         p.x.store(1, order);
                         between(p);
                         p.y.store(2, order);
                       },
                       [&](program& p) {
                         p.y.store(1, order);
                         between(p);
                         p.x.store(2, order);
                       }},
                      [](program& p) {
                        p.r[0] = p.x.load(relaxed);
                        p.r[1] = p.y.load(relaxed);
                      });
}

TEST(TwoAndTwoWrites, BothFirstStoresMayComeLast) {
  EXPECT_EQ(two_and_two(relaxed), (outcomes{"11", "12", "21", "22"}));
  EXPECT_EQ(two_and_two(release), (outcomes{"11", "12", "21", "22"}));
}

TEST(TwoAndTwoWrites, NotWithSeqCst) {
  EXPECT_EQ(two_and_two(seq_cst), (outcomes{"12", "21", "22"}));
  EXPECT_EQ(two_and_two(relaxed, fence), (outcomes{"12", "21", "22"}));
}

// R: T0 stores x then y; T1 stores y then loads x. "20": T1's store of y came last, yet its load missed x.
outcomes store_against_load(std::memory_order x_order, std::memory_order x_load, std::memory_order y_order,
                            const thread& between = nothing) {
  return all_outcomes(2,
                      {[&](program& p) {
                         p.x.store(1, x_order);
                         between(p);
                         p.y.store(1, y_order);
                       },
                       [&](program& p) {
                         p.y.store(2, y_order);
                         between(p);
                         p.r[1] = p.x.load(x_load);
                       }},
                      [](program& p) { p.r[0] = p.y.load(relaxed); });
}

TEST(StoreAgainstLoad, TheStoreMayBeDelayedPastTheLoad) {
  EXPECT_EQ(store_against_load(relaxed, relaxed, relaxed), (outcomes{"10", "11", "20", "21"}));
  EXPECT_EQ(store_against_load(release, acquire, release), (outcomes{"10", "11", "20", "21"}));
}

// x86 shows this one: the store of y waits in the store buffer while the load of x runs.
TEST(StoreAgainstLoad, SeqCstOnOneOfTheLocationsIsNotEnough) {
  EXPECT_EQ(store_against_load(seq_cst, seq_cst, release), (outcomes{"10", "11", "20", "21"}));
  EXPECT_EQ(store_against_load(release, acquire, seq_cst), (outcomes{"10", "11", "20", "21"}));
}

TEST(StoreAgainstLoad, NotWithSeqCst) {
  EXPECT_EQ(store_against_load(seq_cst, seq_cst, seq_cst), (outcomes{"10", "11", "21"}));
  EXPECT_EQ(store_against_load(relaxed, relaxed, relaxed, fence), (outcomes{"10", "11", "21"}));
}

// S: T1 has read the flag that T0 set after its store, and stores too. "12": T0's store came last all the same.
outcomes store_after_flag(std::memory_order store, std::memory_order load) {
  return all_outcomes(2,
                      {[=](program& p) {
                         p.x.store(2, relaxed);
                         p.y.store(1, store);
                       },
                       [=](program& p) {
                         p.r[0] = p.y.load(load);
                         p.x.store(1, relaxed);
                       }},
                      [](program& p) { p.r[1] = p.x.load(relaxed); });
}

TEST(StoreAfterFlag, MayComeFirstUnlessTheFlagOrdersIt) {
  EXPECT_EQ(store_after_flag(relaxed, relaxed), (outcomes{"01", "02", "11", "12"}));
  EXPECT_EQ(store_after_flag(release, relaxed), (outcomes{"01", "02", "11", "12"}));
  EXPECT_EQ(store_after_flag(relaxed, acquire), (outcomes{"01", "02", "11", "12"}));
  EXPECT_EQ(store_after_flag(release, acquire), (outcomes{"01", "02", "11"}));
}

// Store buffering with a read-modify-write in the place of the load. It reads the value just before its own in the
// order of the location, but that is not the order of time.
outcomes store_then_modify(std::memory_order store, std::memory_order modify) {
  return all_outcomes(2, {[=](program& p) {
                            p.x.store(1, store);
                            p.r[0] = p.y.fetch_add(0, modify);
                          },
                          [=](program& p) {
                            p.y.store(1, store);
                            p.r[1] = p.x.fetch_add(0, modify);
                          }});
}

TEST(StoreThenModify, BothMayMissWithoutSeqCst) {
  EXPECT_EQ(store_then_modify(relaxed, relaxed), all_but(2, {}));
  EXPECT_EQ(store_then_modify(release, acq_rel), all_but(2, {}));
  EXPECT_EQ(store_then_modify(seq_cst, seq_cst), all_but(2, {"00"}));
}

// Nothing comes between what a read-modify-write reads and what it writes, wherever a store is put.
TEST(StoreThenModify, AStoreNeverSplitsAReadModifyWrite) {
  EXPECT_EQ(all_outcomes(
                2, {[](program& p) { p.r[0] = p.x.fetch_add(1, relaxed); }, [](program& p) { p.x.store(5, relaxed); }},
                [](program& p) { p.r[1] = p.x.load(relaxed); }),
            (outcomes{"05", "56"}));
  EXPECT_EQ(
      all_outcomes(3,
                   {[](program& p) { p.r[0] = p.x.fetch_add(1, relaxed); },
                    [](program& p) { p.r[1] = p.x.fetch_add(1, relaxed); }, [](program& p) { p.x.store(5, relaxed); }},
                   [](program& p) { p.r[2] = p.x.load(relaxed); }),
      (outcomes{"015", "105", "056", "506", "567", "657"}));
}

}  // namespace
}  // namespace faio::explorer::litmus
