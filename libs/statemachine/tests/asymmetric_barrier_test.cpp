// asymmetric_barrier_test -- the real barrier where a sandbox refuses membarrier, from the start or later.
//
// The kernel is asked once for each process, so each test here needs one of its own: a death test of the threadsafe style starts it.
#include "faio/statemachine/asymmetric_barrier.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <semaphore>
#include <thread>

#include "faio/statemachine/state_machine.hpp"

namespace faio::statemachine {
namespace {

/// For good, in this process: membarrier fails, whatever it is asked for.
void refuse_membarrier() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    std::_Exit(3);
}

/// Without telling asymmetric_barrier.
bool kernel_has_membarrier() {
  constexpr int query = 0;
  constexpr long private_expedited = 1 << 3;
  const long commands = ::syscall(SYS_membarrier, query, 0, 0);
  return commands > 0 && (commands & private_expedited) != 0;
}

/// A worker that sleeps whenever it finds nothing, and a publisher that waits for each job: a lost wake-up runs into the time limit.
/// Few jobs will do: it shows that the other way works, the models show that it is right. Beside busy threads each takes some milliseconds.
int jobs_done(int jobs) {
  state_machine machine(1);
  std::counting_semaphore<> bed(0);
  std::counting_semaphore<> finished(0);
  std::atomic<int> published{0};
  std::atomic<int> done{0};
  std::jthread worker([&] {
    const auto found_one = [&] { return published.load(std::memory_order_acquire) > done.load(); };
    bool searching = false;
    while (done.load() < jobs) {
      if (!searching) searching = machine.set_searching();
      bool found = found_one();
      if (!found) {
        found = machine.set_sleeping(0, searching).look_again && found_one();
        if (!found) bed.acquire();
        searching = !machine.cancel_sleeping(0);
      }
      if (!found) continue;
      if (searching) machine.cancel_searching();
      searching = false;
      ++done;
      finished.release();
    }
  });
  for (int i = 1; i <= jobs; ++i) {
    published.store(i, std::memory_order_release);
    if (machine.worker_to_notify()) bed.release();
    finished.acquire();
  }
  worker.join();
  return done;
}

TEST(AsymmetricBarrierDeathTest, IsAFullBarrierOnBothSidesWhereMembarrierIsRefused) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        refuse_membarrier();
        const bool all = jobs_done(200) == 200;
        std::_Exit(all && !asymmetric_barrier::by_membarrier() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

/// The machine asks when it is made: its first publisher has the cheap way already, and what comes later comes too late.
TEST(AsymmetricBarrierDeathTest, SaysWhyItCannotGoOnWhenMembarrierIsRefusedAfterTheStart) {
  if (!kernel_has_membarrier()) GTEST_SKIP() << "no membarrier here";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        state_machine machine(1);
        refuse_membarrier();
        machine.set_sleeping(0, false);
        std::_Exit(0);
      },
      testing::KilledBySignal(SIGABRT), "faio::statemachine: membarrier was refused .* after the start");
}

}  // namespace
}  // namespace faio::statemachine
