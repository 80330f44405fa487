// state_machine_test -- each line of the state table, the limits, and threads that must not miss work.
#include "faio/statemachine/state_machine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

namespace faio::statemachine {
namespace {

TEST(StateMachine, StartsWithEverybodyRunning) {
  state_machine machine(4);
  EXPECT_EQ(machine.workers(), 4U);
  EXPECT_EQ(machine.working(), 4U);
  EXPECT_EQ(machine.searching(), 0U);
  EXPECT_EQ(machine.sleeping(), 0U);
  EXPECT_EQ(machine.worker_to_notify(), std::nullopt);
}

TEST(StateMachine, LetsHalfOfTheWorkersSearch) {
  state_machine machine(4);
  EXPECT_TRUE(machine.set_searching());
  EXPECT_TRUE(machine.set_searching());
  EXPECT_FALSE(machine.set_searching());
  EXPECT_FALSE(machine.cancel_searching());
  EXPECT_TRUE(machine.cancel_searching()) << "the second one is the last";
}

TEST(StateMachine, LetsALoneWorkerSearch) {
  state_machine machine(1);
  EXPECT_TRUE(machine.set_searching());
  EXPECT_FALSE(machine.set_searching());
  EXPECT_TRUE(machine.cancel_searching());
}

TEST(StateMachine, LetsTheOnlySearcherLingerWhileSomebodyRuns) {
  state_machine machine(4);
  machine.set_searching();
  EXPECT_TRUE(machine.may_linger());
  machine.set_searching();
  EXPECT_FALSE(machine.may_linger()) << "another one looks";
  static_cast<void>(machine.set_sleeping(0, true));
  EXPECT_TRUE(machine.may_linger());
  static_cast<void>(machine.set_sleeping(1, false));
  static_cast<void>(machine.set_sleeping(2, false));
  EXPECT_FALSE(machine.may_linger()) << "nobody is left who could publish";
}

TEST(StateMachine, TellsTheLastSearcherToLookAgain) {
  state_machine machine(4);
  machine.set_searching();
  machine.set_searching();
  const auto first = machine.set_sleeping(0, true);
  EXPECT_FALSE(first.was_last_searcher);
  EXPECT_FALSE(first.look_again);
  const auto second = machine.set_sleeping(1, true);
  EXPECT_TRUE(second.was_last_searcher);
  EXPECT_TRUE(second.look_again);
  EXPECT_TRUE(second);
  EXPECT_EQ(machine.working(), 2U);
  EXPECT_EQ(machine.searching(), 0U);
}

TEST(StateMachine, TellsAWorkerThatWasRefusedTheSearchToLookAgainOnceNobodySearches) {
  state_machine machine(2);
  ASSERT_TRUE(machine.set_searching());   // worker 0
  ASSERT_FALSE(machine.set_searching());  // worker 1 is refused
  ASSERT_TRUE(machine.cancel_searching());
  const auto verdict = machine.set_sleeping(1, false);
  EXPECT_FALSE(verdict.was_last_searcher);
  EXPECT_TRUE(verdict.look_again);
}

TEST(StateMachine, DoesNotTellAWorkerToLookAgainWhileAnotherSearches) {
  state_machine machine(2);
  ASSERT_TRUE(machine.set_searching());
  EXPECT_FALSE(machine.set_sleeping(1, false).look_again);
}

TEST(StateMachine, NotifiesTheLatestSleeperAndCountsItAsSearching) {
  state_machine machine(3);
  machine.set_sleeping(2, false);
  machine.set_sleeping(0, false);
  EXPECT_EQ(machine.worker_to_notify(), 0U);
  EXPECT_EQ(machine.working(), 2U);
  EXPECT_EQ(machine.searching(), 1U);
  EXPECT_FALSE(machine.cancel_sleeping(0)) << "it was notified, so it searches";
  EXPECT_EQ(machine.searching(), 1U);
}

TEST(StateMachine, NotifiesNobodyWhileSomebodySearches) {
  state_machine machine(4);
  machine.set_sleeping(2, false);
  machine.set_sleeping(3, false);
  EXPECT_EQ(machine.worker_to_notify(), 3U);
  EXPECT_EQ(machine.worker_to_notify(), std::nullopt) << "worker 3 searches";
  EXPECT_TRUE(machine.cancel_searching());
  EXPECT_EQ(machine.worker_to_notify(), 2U);
}

TEST(StateMachine, CountsAWorkerThatWokeByItself) {
  state_machine machine(2);
  for (int round = 0; round < 3; ++round) {
    machine.set_sleeping(1, false);
    EXPECT_EQ(machine.working(), 1U);
    EXPECT_TRUE(machine.cancel_sleeping(1));
    EXPECT_EQ(machine.working(), 2U);
    EXPECT_EQ(machine.searching(), 0U);
  }
  machine.set_sleeping(1, false);
  EXPECT_EQ(machine.worker_to_notify(), 1U) << "it can still be notified";
}

TEST(StateMachine, TellsTheLastSearcherWhetherItIsAlone) {
  state_machine machine(2);
  machine.set_sleeping(1, false);
  machine.set_searching();
  const auto alone = machine.cancel_searching();
  EXPECT_TRUE(alone.was_last);
  EXPECT_TRUE(alone.alone);
  machine.cancel_sleeping(1);
  machine.set_searching();
  const auto beside_another = machine.cancel_searching();
  EXPECT_TRUE(beside_another.was_last);
  EXPECT_FALSE(beside_another.alone);
  EXPECT_TRUE(beside_another);
}

TEST(StateMachine, CountsAndNotifiesABriefSleeperLikeAnyOther) {
  state_machine machine(2);
  machine.set_searching();
  machine.set_sleeping_briefly(0, true);
  EXPECT_EQ(machine.working(), 1U);
  EXPECT_EQ(machine.searching(), 0U);
  EXPECT_TRUE(machine.cancel_sleeping(0)) << "it woke by itself";
  machine.set_sleeping_briefly(0, false);
  EXPECT_EQ(machine.sleeping(), 1U);
  EXPECT_EQ(machine.worker_to_notify(), 0U);
  EXPECT_FALSE(machine.cancel_sleeping(0)) << "it was notified";
  EXPECT_EQ(machine.searching(), 1U);
}

TEST(StateMachine, TakesASleeperOutOfTheMiddle) {
  state_machine machine(3);
  for (std::size_t id = 0; id < 3; ++id) machine.set_sleeping(id, false);
  EXPECT_TRUE(machine.cancel_sleeping(1));
  EXPECT_EQ(machine.worker_to_notify(), 2U);
  machine.cancel_searching();
  EXPECT_EQ(machine.worker_to_notify(), 0U);
  machine.cancel_searching();
  EXPECT_EQ(machine.worker_to_notify(), std::nullopt);
}

TEST(StateMachine, CountsWorkersThatJoinAndLeave) {
  state_machine machine(1);
  EXPECT_EQ(machine.add_worker(), 1U);
  EXPECT_EQ(machine.add_worker(), 2U);
  EXPECT_EQ(machine.workers(), 3U);
  machine.set_sleeping(2, false);
  machine.retire_worker(1);
  EXPECT_EQ(machine.workers(), 2U);
  EXPECT_EQ(machine.sleeping(), 1U);
  EXPECT_EQ(machine.worker_to_notify(), 2U);
  EXPECT_EQ(machine.add_worker(), 3U) << "ids are not reused";
}

TEST(StateMachine, LetsMoreSearchAfterWorkersJoined) {
  state_machine machine(2);
  EXPECT_TRUE(machine.set_searching());
  EXPECT_FALSE(machine.set_searching());
  machine.add_worker();
  machine.add_worker();
  EXPECT_TRUE(machine.set_searching());
  EXPECT_FALSE(machine.set_searching());
}

TEST(StateMachine, RefusesMoreWorkersThanItCanCount) {
  EXPECT_THROW(state_machine(state_machine::max_workers + 1), std::length_error);
  state_machine machine(state_machine::max_workers);
  EXPECT_THROW(machine.add_worker(), std::length_error);
}

/// Counts what a call does to memory that others share: locks, and steps that may write an atomic.
struct counting : std_atomics {
  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    T fetch_add(T by, std::memory_order order) { return ++writes, std::atomic<T>::fetch_add(by, order); }
    T fetch_sub(T by, std::memory_order order) { return ++writes, std::atomic<T>::fetch_sub(by, order); }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order) {
      return ++writes, std::atomic<T>::compare_exchange_weak(expected, desired, order);
    }
    // What the machine does not call today must not slip through tomorrow.
    void store(T, std::memory_order) = delete;
    T exchange(T, std::memory_order) = delete;
    bool compare_exchange_strong(T&, T, std::memory_order) = delete;
  };
  struct mutex : std::mutex {
    void lock() {
      ++locks;
      std::mutex::lock();
    }
  };
  static inline int writes = 0;
  static inline int locks = 0;
};

TEST(StateMachine, NeitherLocksNorWritesWhenThereIsNobodyToWake) {
  counting::locks = counting::writes = 0;
  basic_state_machine<counting> machine(2);
  EXPECT_EQ(machine.worker_to_notify(), std::nullopt) << "nobody sleeps";
  EXPECT_EQ(counting::locks, 0);
  EXPECT_EQ(counting::writes, 0);

  machine.set_sleeping(0, false);
  ASSERT_TRUE(machine.set_searching());
  const int locks = counting::locks;
  const int writes = counting::writes;
  ASSERT_GT(locks, 0);
  ASSERT_GT(writes, 0);
  EXPECT_EQ(machine.worker_to_notify(), std::nullopt) << "one searches";
  EXPECT_EQ(counting::locks, locks);
  EXPECT_EQ(counting::writes, writes);
}

#ifndef NDEBUG

TEST(StateMachineDeathTest, StopsAWorkerThatIsNotWhatItSays) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  state_machine machine(2);
  EXPECT_DEATH(machine.cancel_searching(), "cancel_searching\\(\\) by a worker that does not search");
  machine.set_sleeping(1, false);
  EXPECT_DEATH(machine.set_sleeping(1, false), "set_sleeping\\(\\) by a worker that sleeps");
  EXPECT_DEATH(machine.retire_worker(1), "retire_worker\\(\\) by a worker that sleeps");
}

TEST(StateMachineDeathTest, StopsACallThatWouldCountBelowZero) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  state_machine machine(2);
  EXPECT_DEATH(machine.set_sleeping(0, true), "set_sleeping\\(\\) by a worker that says that it searches");
  EXPECT_DEATH(machine.set_sleeping_briefly(0, true), "set_sleeping\\(\\) by a worker that says that it searches");
  EXPECT_DEATH(machine.cancel_sleeping(0), "cancel_sleeping\\(\\) by a worker that did not sleep");
  machine.retire_worker(0);
  EXPECT_DEATH((machine.set_searching(), machine.retire_worker(1)),
               "retire_worker\\(\\) by a worker that does not run");
  EXPECT_DEATH((machine.set_sleeping(1, false), machine.set_sleeping(0, false)),
               "set_sleeping\\(\\) by a worker that does not run");
  machine.retire_worker(1);
  EXPECT_DEATH(machine.retire_worker(1), "retire_worker\\(\\) by a worker that does not run");
}

TEST(StateMachineDeathTest, StopsAnIdThatWasNeverGiven) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  state_machine machine(2);
  EXPECT_DEATH(machine.set_sleeping(2, false), "no worker has this id");
  EXPECT_DEATH(machine.cancel_sleeping(77), "no worker has this id");
  EXPECT_DEATH(machine.retire_worker(2), "no worker has this id");
  machine.set_sleeping(machine.add_worker(), false);
  EXPECT_EQ(machine.worker_to_notify(), 2U);
}

#endif

TEST(StateMachine, NeverLetsMoreThanHalfSearchUnderLoad) {
  constexpr std::size_t workers = 4;
  state_machine machine(workers);
  std::atomic<std::size_t> searching{0};
  std::atomic<bool> over{false};
  std::vector<std::jthread> threads;
  for (std::size_t id = 0; id < workers; ++id) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        if (!machine.set_searching()) continue;
        if (searching.fetch_add(1) + 1 > workers / 2) over = true;
        searching.fetch_sub(1);
        machine.cancel_searching();
      }
    });
  }
  threads.clear();
  EXPECT_FALSE(over);
  EXPECT_EQ(machine.searching(), 0U);
}

/// Workers that follow the rules of the header, while others join and leave: every job is done, though nobody ever
/// polls. A lost wake-up leaves a job undone with everybody asleep, and the test runs into its time limit.
TEST(StateMachine, LosesNoWakeUpWhileWorkersSleepJoinAndLeave) {
  constexpr int jobs = 20'000;
  constexpr std::size_t most = 64;
  state_machine machine(3);
  std::vector<std::counting_semaphore<>*> beds;
  for (std::size_t i = 0; i < most; ++i) beds.push_back(new std::counting_semaphore<>(0));
  std::atomic<int> waiting{0};
  std::atomic<int> done{0};
  std::atomic<bool> over{false};

  const auto take = [&] {
    for (int n = waiting.load(std::memory_order_acquire); n > 0;) {
      if (waiting.compare_exchange_weak(n, n - 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  };
  const auto wake_one = [&] {
    if (const auto id = machine.worker_to_notify()) beds[*id]->release();
  };
  // Runs until `rounds` jobs are done by it, or all are; then leaves.
  const auto worker = [&](std::size_t id, int rounds) {
    bool searching = false;
    while (rounds > 0 && !over.load()) {
      if (!searching) searching = machine.set_searching();
      bool found = take();
      bool looked_again = false;
      if (!found) {
        looked_again = machine.set_sleeping(id, searching).look_again;
        if (looked_again) found = take();
        if (!found && !over.load()) beds[id]->acquire();
        searching = !machine.cancel_sleeping(id);
      }
      if (found) {
        if (searching ? machine.cancel_searching() : looked_again) wake_one();
        searching = false;
        --rounds;
        if (done.fetch_add(1) + 1 == jobs) {
          over = true;
          for (auto* bed : beds) bed->release();
        }
      }
    }
    if (searching && machine.cancel_searching()) wake_one();
    machine.retire_worker(id);
    wake_one();  // on behalf of work that this worker would have seen
  };

  std::vector<std::jthread> threads;
  for (std::size_t id = 0; id < 3; ++id) threads.emplace_back(worker, id, id == 0 ? jobs : 500);
  for (int i = 0; i < jobs; ++i) {
    waiting.fetch_add(1, std::memory_order_release);
    wake_one();
    // One or two at a time: workers run out of work always, and a job that nobody saw has no successor to save it.
    if (i % 3 != 1) {
      while (done.load() <= i) std::this_thread::yield();
    }
    if (i % 1000 == 999 && threads.size() < most) threads.emplace_back(worker, machine.add_worker(), 300);
  }
  threads.clear();
  EXPECT_EQ(done.load(), jobs);
  EXPECT_EQ(machine.workers(), 0U);
  for (auto* bed : beds) delete bed;
}

}  // namespace
}  // namespace faio::statemachine
