// many_threads_litmus -- litmus tests of three and four threads, and the shapes that the explorer cannot show.
#include <gtest/gtest.h>

#include "litmus.hpp"

namespace faio::explorer::litmus {
namespace {

// IRIW: two independent writers, two readers. "1010": the readers saw the two writes in opposite orders.
outcomes independent_reads(std::memory_order store, std::memory_order load, const thread& between = [](program&) {}) {
  return all_outcomes(4, {[=](program& p) { p.x.store(1, store); }, [=](program& p) { p.y.store(1, store); },
                          [&](program& p) {
                            p.r[0] = p.x.load(load);
                            between(p);
                            p.r[1] = p.y.load(load);
                          },
                          [&](program& p) {
                            p.r[2] = p.y.load(load);
                            between(p);
                            p.r[3] = p.x.load(load);
                          }});
}

TEST(IndependentReads, MayDisagreeWithoutSeqCst) {
  EXPECT_EQ(independent_reads(relaxed, relaxed), all_but(4, {}));
  EXPECT_EQ(independent_reads(release, acquire), all_but(4, {}));
}

TEST(IndependentReads, AgreeWithSeqCst) { EXPECT_EQ(independent_reads(seq_cst, seq_cst), all_but(4, {"1010"})); }

TEST(IndependentReads, NeedSeqCstOnTheLoadsToo) { EXPECT_EQ(independent_reads(seq_cst, acquire), all_but(4, {})); }

// The writers are relaxed: two seq_cst loads of one location agree all the same (a load counts in the order too).
TEST(IndependentReads, SeqCstLoadsAgreeOnRelaxedWriters) {
  EXPECT_EQ(independent_reads(relaxed, seq_cst), all_but(4, {"1010"}));
}

TEST(IndependentReads, AgreeWithSeqCstFencesBetweenThem) {
  EXPECT_EQ(independent_reads(relaxed, relaxed, [](program&) { atomics::fence(seq_cst); }), all_but(4, {"1010"}));
}

TEST(IndependentReads, AcqRelFencesDoNotMakeThemAgree) {
  EXPECT_EQ(independent_reads(release, relaxed, [](program&) { atomics::fence(acq_rel); }), all_but(4, {}));
}

// WRC: T1 reads T0's write and passes the word on. "110": T2 heard of it and does not see it.
outcomes write_to_read(std::memory_order load, std::memory_order store) {
  return all_outcomes(3, {[](program& p) { p.x.store(1, relaxed); },
                          [=](program& p) {
                            p.r[0] = p.x.load(relaxed);
                            p.y.store(1, store);
                          },
                          [=](program& p) {
                            p.r[1] = p.y.load(load);
                            p.r[2] = p.x.load(relaxed);
                          }});
}

TEST(WriteToRead, WordThatIsPassedOnMayOvertakeTheWrite) {
  EXPECT_EQ(write_to_read(relaxed, relaxed), all_but(3, {}));
  EXPECT_EQ(write_to_read(acquire, relaxed), all_but(3, {}));
  EXPECT_EQ(write_to_read(relaxed, release), all_but(3, {}));
}

TEST(WriteToRead, ReleaseAndAcquireCarryWhatWasOnlyRead) {
  EXPECT_EQ(write_to_read(acquire, release), all_but(3, {"110"}));
}

// ISA2: three threads in a chain. r0 and r1 saw the links; r2 is the data from the far end.
outcomes chain(std::memory_order store, std::memory_order load) {
  return all_outcomes(3, {[=](program& p) {
                            p.x.store(1, relaxed);
                            p.y.store(1, store);
                          },
                          [=](program& p) {
                            p.r[0] = p.y.load(load);
                            p.z.store(1, store);
                          },
                          [=](program& p) {
                            p.r[1] = p.z.load(load);
                            p.r[2] = p.x.load(relaxed);
                          }});
}

TEST(Chain, HappensBeforeIsTransitive) {
  EXPECT_EQ(chain(release, acquire), all_but(3, {"110"}));
  EXPECT_EQ(chain(relaxed, relaxed), all_but(3, {}));
}

// A heavy barrier promises an order between its caller and each other thread, not among the others.
TEST(HeavyBarrier, OfAThirdThreadDoesNotOrderTwoOthers) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               p.x.store(1, relaxed);
                               p.r[0] = p.y.load(relaxed);
                             },
                             [](program& p) {
                               p.y.store(1, relaxed);
                               p.r[1] = p.x.load(relaxed);
                             },
                             [](program&) { atomics::heavy_barrier(); }}),
            all_but(2, {}));
}

// The next two say what the explorer cannot do, so that nobody takes a clean result for more than it is. README.md says
// why it cannot.

// LB: a load returns a value that is stored later. The language allows "11"; it needs a load that is executed before
// the store that it reads.
TEST(OutOfReach, LoadBufferingIsNotShown) {
  EXPECT_EQ(all_outcomes(2, {[](program& p) {
                               p.r[0] = p.y.load(relaxed);
                               p.x.store(1, relaxed);
                             },
                             [](program& p) {
                               p.r[1] = p.x.load(relaxed);
                               p.y.store(1, relaxed);
                             }}),
            all_but(2, {"11"}));
}

// A seq_cst store overtaken by the weak store after it: "10" means that T1 saw the second but, by a seq_cst load, not
// the first. The language allows it, because nothing but their execution puts the load after the store in the order of
// seq_cst operations. (With any weaker load of x it is shown.)
TEST(OutOfReach, SeqCstOperationsAreOrderedAsTheyAreExecuted) {
  const auto overtaken = [](std::memory_order load) {
    return all_outcomes(2, {[](program& p) {
                              p.x.store(1, seq_cst);
                              p.y.store(1, relaxed);
                            },
                            [load](program& p) {
                              p.r[0] = p.y.load(relaxed);
                              p.r[1] = p.x.load(load);
                            }});
  };
  EXPECT_EQ(overtaken(seq_cst), all_but(2, {"10"}));
  EXPECT_EQ(overtaken(acquire), all_but(2, {}));
}

}  // namespace
}  // namespace faio::explorer::litmus
