// compute -- workers that only compute: one queue for all of them, no ring, started when the first work comes.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <set>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class ComputeTest : public scheduler_fixture {
 protected:
  static std::size_t compute_workers(runtime& rt) {
    const auto all = rt.metrics().workers;
    return static_cast<std::size_t>(std::ranges::count(all, worker_kind::compute, &worker_metrics::kind));
  }
};

TEST_P(ComputeTest, RunsOnComputeWorkersWhichHaveNoRing) {
  runtime rt(with({.workers = 2, .compute_workers = 2}));
  const std::size_t many = scaled(1000);
  std::latch done(static_cast<std::ptrdiff_t>(many));
  std::atomic<int> wrong = 0;
  for (std::size_t i = 0; i < many; ++i) {
    rt.post_compute([&] {
      if (current_worker()->kind() != worker_kind::compute) ++wrong;
      if (current_worker()->io().kind() != engine_kind::thread) ++wrong;
      done.count_down();
    });
  }
  done.wait();
  EXPECT_EQ(wrong, 0);
  for (const auto& each : rt.metrics().workers) {
    EXPECT_TRUE(each.kind == worker_kind::io || each.steals_tried == 0);
  }
}

TEST_P(ComputeTest, IoWorkIsNeverDoneByComputeWorkers) {
  runtime rt(with({.workers = 1, .compute_workers = 2}));
  occupied busy(rt, 0);
  std::latch done(100);
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 100; ++i) {
    rt.post([&] {
      if (current_worker()->kind() != worker_kind::io) ++wrong;
      done.count_down();
    });
  }
  std::promise<void> computed;
  rt.post_compute([&] { computed.set_value(); });
  computed.get_future().get();
  ASSERT_TRUE(becomes_true([&] { return rt.shared().compute.machine.sleeping() == 2; }));
  busy.release();
  done.wait();
  EXPECT_EQ(wrong, 0);
}

TEST_P(ComputeTest, AllOfThemTakeFromTheOneQueue) {
  runtime rt(with({.workers = 1, .compute_workers = 3}));
  for (std::size_t round = 0; round < scaled(200); ++round) {
    std::atomic<int> met = 0;
    std::atomic<bool> failed = false;
    std::latch done(3);
    for (int i = 0; i < 3; ++i) {
      rt.post_compute([&] {
        ++met;
        if (!becomes_true([&] { return met == 3; }, 10s)) failed = true;
        done.count_down();
      });
    }
    done.wait();
    ASSERT_FALSE(failed);
  }
}

TEST_P(ComputeTest, TheyStartWithTheFirstWorkUnlessTheirNumberIsGiven) {
  runtime later(with({.workers = 1}));
  EXPECT_EQ(compute_workers(later), 0U);
  std::promise<void> ran;
  on_a_worker(later, [&] { later.post_compute([&] { ran.set_value(); }); });  // also from a worker
  ran.get_future().get();
  EXPECT_GE(compute_workers(later), 1U);
  runtime at_once(with({.workers = 1, .compute_workers = 3}));
  EXPECT_EQ(compute_workers(at_once), 3U);
}

TEST_P(ComputeTest, TheyPostToTheOthersAndBack) {
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  std::promise<void> done;
  rt.post_compute([&] {
    rt.post([&] {
      EXPECT_EQ(current_worker()->kind(), worker_kind::io);
      rt.post_compute([&] {
        EXPECT_EQ(current_worker()->kind(), worker_kind::compute);
        const auto here = this_worker::id();
        this_worker::post_self([&, here] {
          EXPECT_EQ(this_worker::id(), here);
          rt.post_to(0, [&] { done.set_value(); });
        });
      });
    });
  });
  done.get_future().get();
}

TEST_P(ComputeTest, WorkForItselfThatNeverEndsDoesNotKeepTheQueueAway) {
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  std::atomic<bool> over = false;
  gate ran;
  std::function<void()> again = [&] {
    if (!over) this_worker::post_self(again);
  };
  rt.post_compute(again);
  rt.post_compute([&] { ran.open(); });
  EXPECT_TRUE(ran.pass());
  over = true;
  EXPECT_TRUE(rt.stop());
}

TEST_P(ComputeTest, TheyComeAndGo) {
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  const std::size_t many = scaled(5000);
  std::atomic<std::size_t> ran = 0;
  for (std::size_t i = 0; i < many; ++i) rt.post_compute([&] { ++ran; });
  do {
    const auto id = rt.attach_worker(worker_kind::compute);
    ASSERT_TRUE(id.has_value());
    EXPECT_EQ(compute_workers(rt), 2U);
    ASSERT_TRUE(rt.detach_worker(*id).has_value());
  } while (ran < many);
  EXPECT_EQ(ran, many);
}

/// What the kernel lets the calling thread run at a time, in ns; 0 where it does not tell.
std::uint64_t slice_here() {
  std::array<std::uint64_t, 6> said{};  // struct sched_attr: the fourth word
  if (::syscall(SYS_sched_getattr, 0, said.data(), sizeof said, 0) != 0) return 0;
  return said[3];
}

/// Whether the kernel takes a wish for another one.
bool takes_wishes() {
  bool taken = false;
  std::thread([&] {
    constexpr std::uint64_t wish = 7'000'000;
    const std::array<std::uint64_t, 6> wanted{sizeof(wanted), 0, 0, wish, 0, 0};
    taken = ::sched_getscheduler(0) == SCHED_OTHER && ::syscall(SYS_sched_setattr, 0, wanted.data(), 0) == 0 &&
            slice_here() == wish;
  }).join();
  return taken;
}

TEST_P(ComputeTest, WhoComputesLetsOthersGoFirst) {
  if (!takes_wishes()) GTEST_SKIP() << "a kernel before 6.12, or a policy of somebody's choice";
  const std::uint64_t usual = slice_here();
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  std::uint64_t of_io = 0;
  on_a_worker(rt, [&] { of_io = slice_here(); });
  EXPECT_EQ(of_io, usual);

  // What a compute worker starts inherits its slice, unless it asks for another one.
  std::uint64_t of_compute = 0;
  std::uint64_t of_blocking = 0;
  std::expected<std::size_t, std::error_code> attached = 0;
  std::latch done(2);
  test_item blocking([&] {
    of_blocking = slice_here();
    done.count_down();
  });
  rt.post_compute([&] {
    of_compute = slice_here();
    attached = rt.attach_worker();
    EXPECT_TRUE(rt.shared().post_blocking(blocking));
    done.count_down();
  });
  done.wait();
  EXPECT_GT(of_compute, usual);
  EXPECT_EQ(of_blocking, usual);
  ASSERT_TRUE(attached.has_value());
  std::uint64_t of_attached = 0;
  on_worker(rt, *attached, [&] { of_attached = slice_here(); });
  EXPECT_EQ(of_attached, usual);
}

FAIO_FOR_IO_KINDS(ComputeTest);

}  // namespace
}  // namespace faio::scheduler::testing
