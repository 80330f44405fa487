// blocking -- mutexes, futexes and atomic waits: who waits, who is woken, and what a lost wake-up looks like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "litmus.hpp"

namespace faio::explorer {
namespace {

using namespace litmus;
using testing::HasSubstr;

TEST(Mutex, ExcludesAndHandsOver) {
  const report result = explore({.preemptions = unbounded}, [](run& run) {
    atomics::mutex door;
    atomics::plain<int> inside{0};
    for (const char* name : {"one", "two", "three"})
      run.thread(name, [&] {
        const std::lock_guard guard(door);
        inside.write() += 1;
      });
    run.join();
    check(inside.read() == 3, "nobody's increment is lost");
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Mutex, TryLockFailsOnlyWhileItIsHeld) {
  std::set<int> taken;
  const report result = explore({}, [&](run& run) {
    atomics::mutex door;
    atomics::plain<int> entered{0};
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        if (!door.try_lock()) return;
        entered.write() += 1;
        door.unlock();
      });
    run.join();
    taken.insert(entered.read());
  });
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(taken, (std::set<int>{1, 2}));
}

TEST(Mutex, LockedInOppositeOrdersIsADeadlock) {
  const auto lock_both = [](atomics::mutex& first, atomics::mutex& second) {
    const std::lock_guard outer(first);
    const std::lock_guard inner(second);
  };
  const report result = explore({}, [&](run& run) {
    atomics::mutex a;
    atomics::mutex b;
    label(a, "a");
    label(b, "b");
    run.thread("ab", [&] { lock_both(a, b); });
    run.thread("ba", [&] { lock_both(b, a); });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::deadlock) << result;
  EXPECT_THAT(result.message, HasSubstr("ab waits for b, held by ba"));
  EXPECT_THAT(result.message, HasSubstr("ba waits for a, held by ab"));

  const report same_order = explore({.preemptions = unbounded}, [&](run& run) {
    atomics::mutex a;
    atomics::mutex b;
    for (const char* name : {"one", "two"}) run.thread(name, [&] { lock_both(a, b); });
    run.join();
  });
  EXPECT_TRUE(same_order.ok()) << same_order;
}

// A thread that had to wait takes the mutex, and is interrupted right after it: another one finds the mutex held and
// nothing done yet. With one preemption there is no other way to get there.
TEST(Mutex, TakenAfterAWaitIsAStepLikeAnyOther) {
  bool seen = false;
  const report result = explore({.preemptions = 1}, [&](run& run) {
    atomics::mutex door;
    atomics::atomic<bool> coming{false};
    atomics::atomic<bool> left{false};
    atomics::atomic<bool> done{false};
    run.thread("first", [&] {
      door.lock();
      while (!coming.load()) atomics::pause();
      door.unlock();
      left.store(true);
    });
    run.thread("second", [&] {
      coming.store(true);
      door.lock();
      done.store(true);
      door.unlock();
    });
    run.thread("observer", [&] {
      if (!left.load()) return;
      if (door.try_lock()) return door.unlock();
      if (!done.load()) seen = true;
    });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_TRUE(seen);
}

TEST(Mutex, MisuseIsFound) {
  const auto with = [](void (*misuse)(atomics::mutex&)) {
    return explore({}, [misuse](run& run) {
      atomics::mutex door;
      run.thread("only", [&] { misuse(door); });
      run.join();
    });
  };
  EXPECT_EQ(with([](atomics::mutex& door) { door.unlock(); }).kind, failure_kind::misuse);
  EXPECT_EQ(with([](atomics::mutex& door) {
              door.lock();
              door.lock();
            }).kind,
            failure_kind::misuse);
  // Left locked: the body destroys it while it is held.
  EXPECT_EQ(with([](atomics::mutex& door) { door.lock(); }).kind, failure_kind::misuse);
}

TEST(Mutex, UnlockedByAnotherThreadIsMisuse) {
  const report result = explore({}, [](run& run) {
    atomics::mutex door;
    run.thread("holder", [&] {
      door.lock();
      door.unlock();
    });
    run.thread("intruder", [&] {
      if (door.try_lock()) return door.unlock();
      door.unlock();
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::misuse) << result;
  EXPECT_THAT(result.message, HasSubstr("intruder unlocks"));
}

// A gate that one thread opens and another waits for, by futex.
struct gate {
  atomics::atomic<std::uint32_t> open{0};

  void open_it() {
    open.store(1, release);
    atomics::futex_wake_all(&open);
  }
  void pass() {
    while (open.load(acquire) == 0) atomics::futex_wait(open, 0);
  }
};

TEST(Futex, AWaiterThatLooksAgainIsNeverLost) {
  const report result = explore({.preemptions = unbounded}, [](run& run) {
    gate shared;
    atomics::plain<int> data{0};
    run.thread("opener", [&] {
      data.write() = 1;
      shared.open_it();
    });
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        shared.pass();
        check(data.read() == 1, "who passes the gate sees what was done before it opened");
      });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Futex, AWordThatTheWakerDoesNotChangeLosesTheWake) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<bool> ready{false};
    atomics::atomic<std::uint32_t> word{0};
    label(word, "word");
    run.thread("waker", [&] {
      ready.store(true, seq_cst);
      atomics::futex_wake_one(&word);
    });
    run.thread("waiter", [&] {
      while (!ready.load(seq_cst)) atomics::futex_wait(word, 0);  // the wake may fall between the look and the sleep
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::deadlock) << result;
  EXPECT_THAT(result.message, HasSubstr("waiter waits for word to change (a lost wake-up?)"));
}

TEST(Futex, WakingOneOfTwoLeavesTheOther) {
  const auto wake = [](bool all) {
    return explore({}, [all](run& run) {
      gate shared;
      run.thread("opener", [&] {
        shared.open.store(1, release);
        if (all) return atomics::futex_wake_all(&shared.open);
        atomics::futex_wake_one(&shared.open);
      });
      for (const char* name : {"one", "two"}) run.thread(name, [&] { shared.pass(); });
      run.join();
    });
  };
  EXPECT_TRUE(wake(true).ok());
  EXPECT_EQ(wake(false).kind, failure_kind::deadlock);
}

TEST(Futex, WakeOneMayWakeEither) {
  std::set<int> firsts;
  const report result = explore({}, [&](run& run) {
    atomics::atomic<std::uint32_t> word{0};
    atomics::atomic<int> first{0};
    for (const int id : {1, 2})
      run.thread(id == 1 ? "one" : "two", [&, id] {
        atomics::futex_wait(word, 0);
        int nobody = 0;
        first.compare_exchange_strong(nobody, id);
      });
    run.thread("waker", [&] {
      word.store(1);
      atomics::futex_wake_one(&word);
      while (first.load() == 0) atomics::pause();
      atomics::futex_wake_all(&word);
    });
    run.join();
    firsts.insert(first.load());
  });
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(firsts, (std::set<int>{1, 2}));
}

TEST(Futex, MayReturnSpuriouslyAsOftenAsAllowed) {
  const auto trusting = [](unsigned allowed) {
    return explore({.spurious_wakes = allowed}, [](run& run) {
      gate shared;
      run.thread("opener", [&] { shared.open_it(); });
      run.thread("trusting", [&] {
        atomics::futex_wait(shared.open, 0);
        check(shared.open.load(relaxed) == 1, "it only returns when the gate is open");
      });
      run.join();
    });
  };
  EXPECT_TRUE(trusting(0).ok());
  EXPECT_EQ(trusting(1).kind, failure_kind::check);
}

TEST(AtomicWait, ReturnsOnceTheValueHasChanged) {
  const report result = explore({.preemptions = unbounded}, [](run& run) {
    atomics::atomic<int> stage{0};
    atomics::plain<int> data{0};
    run.thread("worker", [&] {
      data.write() = 1;
      stage.store(1, release);
      stage.notify_all();
    });
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        stage.wait(0, acquire);
        check(data.read() == 1, "the wait acquired");
      });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(AtomicWait, WithoutANotifyIsALostWakeup) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<int> stage{0};
    run.thread("forgetful", [&] { stage.store(1); });
    run.thread("waiter", [&] { stage.wait(0); });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::deadlock) << result;
}

TEST(AtomicWait, RelaxedOrdersNothing) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<int> stage{0};
    atomics::plain<int> data{0};
    run.thread("worker", [&] {
      data.write() = 1;
      stage.store(1, release);
      stage.notify_all();
    });
    run.thread("waiter", [&] {
      stage.wait(0, relaxed);
      check(data.read() == 1, "the data");
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
}

TEST(Spinning, EndsWhenSomebodyWrites) {
  const report result = explore({.preemptions = unbounded}, [](run& run) {
    atomics::atomic<bool> flag{false};
    atomics::plain<int> data{0};
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        while (!flag.load(acquire)) atomics::pause();
        check(data.read() == 1, "the data came with the flag");
      });
    run.thread("setter", [&] {
      data.write() = 1;
      flag.store(true, release);
    });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
}

// Two that try and take it back each time change the value again and again: they must not keep the third from its turn.
TEST(Spinning, DoesNotKeepAReadyThreadWaitingForEver) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<int> tickets{1};
    run.thread("holder", [&] { tickets.fetch_sub(1); });
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        while (tickets.fetch_add(1) != 0) {
          tickets.fetch_sub(1);
          atomics::pause();
        }
        tickets.fetch_sub(1);
      });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Spinning, ForWhatNobodyWillWriteIsALivelock) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<bool> left{false};
    atomics::atomic<bool> right{false};
    run.thread("left", [&] {
      while (!right.load()) atomics::pause();
      left.store(true);
    });
    run.thread("right", [&] {
      while (!left.load()) atomics::pause();
      right.store(true);
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::livelock) << result.message;
  EXPECT_THAT(result.message, HasSubstr("left spins, right spins"));
}

TEST(Spinning, WithoutAPauseRunsIntoTheStepBound) {
  const report result = explore({.max_steps = 1000}, [](run& run) {
    atomics::atomic<bool> flag{false};
    run.thread("only", [&] {
      while (!flag.load()) {
      }
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::livelock) << result.message;
  EXPECT_THAT(result.message, HasSubstr("more than 1000 steps"));
}

TEST(Spinning, OverPlainFieldsWithoutAStepIsALivelock) {
  const report result = explore({.max_steps = 100}, [](run& run) {
    atomics::plain<int> value{0};
    run.thread("reader", [&] {
      while (value.read() == 0) {
      }
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::livelock) << result.message;
}

// After a spurious failure the retry succeeds without anybody's help: to pause before it is no livelock.
TEST(Spinning, BackingOffAloneIsNoLivelock) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<int> count{0};
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        int seen = count.load(relaxed);
        while (!count.compare_exchange_weak(seen, seen + 1, relaxed))
          for (int i = 0; i < 4; ++i) atomics::pause();
      });
    run.join();
    check(count.load(relaxed) == 2, "both counted");
  });
  EXPECT_TRUE(result.ok()) << result;
}

// A thread that polls without pausing sees a store after a while: stale reads do not go on for ever.
TEST(Spinning, PollingSeesAStoreInTheEnd) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<std::uint32_t> word{0};
    atomics::atomic<bool> done{false};
    run.thread("setter", [&] {
      done.store(true, relaxed);
      word.store(1, relaxed);
      atomics::futex_wake_one(&word);
    });
    run.thread("poller", [&] {
      while (!done.load(relaxed)) atomics::futex_wait(word, 0);
    });
    run.join();
  });
  EXPECT_TRUE(result.ok()) << result.message;
}

}  // namespace
}  // namespace faio::explorer
