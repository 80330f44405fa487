// store_buffering -- a store, then a load of what the other stores: may both threads miss each other?
//
//   T0: x = 1; r0 = y        T1: y = 1; r1 = x        r0 = r1 = 0 ("00") is what only seq_cst forbids.
//
// This is the shape of every "publish, then look for sleepers" against "go to sleep, then look for work".
#include <gtest/gtest.h>

#include "litmus.hpp"

namespace faio::explorer::litmus {
namespace {

const outcomes weak = all_but(2, {});
const outcomes strong = all_but(2, {"00"});

outcomes store_then_load(std::memory_order store, std::memory_order load) {
  return all_outcomes(2, {[=](program& p) {
                            p.x.store(1, store);
                            p.r[0] = p.y.load(load);
                          },
                          [=](program& p) {
                            p.y.store(1, store);
                            p.r[1] = p.x.load(load);
                          }});
}

// Between the store and the load, both relaxed, each thread does something.
outcomes with_between(const thread& first, const thread& second) {
  return all_outcomes(2, {[&](program& p) {
                            p.x.store(1, relaxed);
                            first(p);
                            p.r[0] = p.y.load(relaxed);
                          },
                          [&](program& p) {
                            p.y.store(1, relaxed);
                            second(p);
                            p.r[1] = p.x.load(relaxed);
                          }});
}

TEST(StoreBuffering, BothMayMissWithRelaxed) { EXPECT_EQ(store_then_load(relaxed, relaxed), weak); }

TEST(StoreBuffering, BothMayMissWithReleaseAndAcquire) { EXPECT_EQ(store_then_load(release, acquire), weak); }

TEST(StoreBuffering, OneSeesTheOtherWithSeqCst) { EXPECT_EQ(store_then_load(seq_cst, seq_cst), strong); }

TEST(StoreBuffering, SeqCstStoresAloneAreNotEnough) { EXPECT_EQ(store_then_load(seq_cst, acquire), weak); }

TEST(StoreBuffering, SeqCstLoadsAloneAreNotEnough) { EXPECT_EQ(store_then_load(release, seq_cst), weak); }

TEST(StoreBuffering, OneSeesTheOtherWithSeqCstFences) {
  const thread fence = [](program&) { atomics::fence(seq_cst); };
  EXPECT_EQ(with_between(fence, fence), strong);
}

TEST(StoreBuffering, AFenceOnOneSideOnlyIsNotEnough) {
  const thread fence = [](program&) { atomics::fence(seq_cst); };
  const thread nothing = [](program&) {};
  EXPECT_EQ(with_between(fence, nothing), weak);
  EXPECT_EQ(with_between(nothing, fence), weak);
}

TEST(StoreBuffering, AcqRelFencesAreNotEnough) {
  const thread fence = [](program&) { atomics::fence(acq_rel); };
  EXPECT_EQ(with_between(fence, fence), weak);
}

TEST(StoreBuffering, AFenceOnOneSideMeetsSeqCstOperationsOnTheOther) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               p.x.store(1, relaxed);
                               atomics::fence(seq_cst);
                               p.r[0] = p.y.load(relaxed);
                             },
                             [](program& p) {
                               p.y.store(1, seq_cst);
                               p.r[1] = p.x.load(seq_cst);
                             }}),
            strong);
}

outcomes exchange_then_load(std::memory_order exchange, std::memory_order load) {
  return all_outcomes(2, {[=](program& p) {
                            p.x.exchange(1, exchange);
                            p.r[0] = p.y.load(load);
                          },
                          [=](program& p) {
                            p.y.exchange(1, exchange);
                            p.r[1] = p.x.load(load);
                          }});
}

// On x86 an exchange of any order is a full barrier; in the language it is not.
TEST(StoreBuffering, AnExchangeOrdersAsMuchAsItsOrderSays) {
  EXPECT_EQ(exchange_then_load(relaxed, relaxed), weak);
  EXPECT_EQ(exchange_then_load(acq_rel, acquire), weak);
  EXPECT_EQ(exchange_then_load(seq_cst, seq_cst), strong);
}

// The later of two read-modify-writes of one word reads the earlier one: acq_rel makes a meeting point of it.
TEST(StoreBuffering, AReadModifyWriteOfACommonWordIsAMeetingPoint) {
  const auto meet = [](std::memory_order order) { return thread{[order](program& p) { p.z.fetch_add(1, order); }}; };
  EXPECT_EQ(with_between(meet(acq_rel), meet(acq_rel)), strong);
  EXPECT_EQ(with_between(meet(relaxed), meet(relaxed)), weak);
  EXPECT_EQ(with_between(meet(release), meet(release)), weak);
}

TEST(StoreBuffering, AHeavyBarrierMakesALightOneEnough) {
  const thread light = [](program&) { atomics::light_barrier(); };
  const thread heavy = [](program&) { atomics::heavy_barrier(); };
  EXPECT_EQ(with_between(light, heavy), strong);
  EXPECT_EQ(with_between(heavy, light), strong);
  EXPECT_EQ(with_between(heavy, heavy), strong);
}

TEST(StoreBuffering, TwoLightBarriersAreNothing) {
  const thread light = [](program&) { atomics::light_barrier(); };
  EXPECT_EQ(with_between(light, light), weak);
}

TEST(StoreBuffering, WhereMembarrierIsRefusedBothBarriersAreFences) {
  const thread light = [](program&) { fenced_atomics::light_barrier(); };
  const thread heavy = [](program&) { fenced_atomics::heavy_barrier(); };
  EXPECT_EQ(with_between(light, heavy), strong);
  EXPECT_EQ(with_between(light, light), strong);
}

}  // namespace
}  // namespace faio::explorer::litmus
