// worker -- stealing, searching, waking: nobody waits behind a worker that is busy, and nobody is woken for nothing.
#include "faio/scheduler/worker.hpp"

#include <set>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class WorkerTest : public scheduler_fixture {
 protected:
  /// Where a child may be put.
  enum class place { slot, ring, deque };

  struct start {
    std::chrono::nanoseconds after;
    bool elsewhere;
  };
  /// A task puts a child there and spins for 300 ms, or until the child has begun.
  start start_of_child_before_a_spin(runtime& rt, place where) {
    start result{};
    std::latch both(2);
    std::atomic<bool> began = false;
    std::optional<std::size_t> parent;
    steady::time_point put;
    test_item child([&] {
      result = {steady::now() - put, this_worker::id() != parent};
      began = true;
      both.count_down();
    });
    // Nobody searches: whoever takes the child has been woken for it.
    EXPECT_TRUE(asleep(rt, rt.metrics().workers.size()));
    rt.post_to(0, [&] {
      parent = this_worker::id();
      put = steady::now();
      if (where == place::slot) current_worker()->push_next(child);
      if (where == place::ring) current_worker()->push_back(child);
      if (where == place::deque) current_worker()->fork(child);
      while (!began && steady::now() < put + 300ms) {
      }
      both.count_down();
    });
    both.wait();
    return result;
  }

  void child_starts_elsewhere(config wanted, place where) {
    runtime rt(with(std::move(wanted)));
    auto best = std::chrono::nanoseconds::max();
    // The best of a few: other programs use this machine too.
    for (int round = 0; round < 5 && best >= 20ms; ++round) {
      const start child = start_of_child_before_a_spin(rt, where);
      EXPECT_TRUE(child.elsewhere);
      best = std::min(best, child.after);
    }
    EXPECT_LT(best, 20ms);
  }

  /// Two busy workers have so many queued: from which of them does a third steal?
  std::size_t first_victim(int queued_by_first, int queued_by_second) {
    constexpr std::size_t nobody = 99;
    runtime rt(with({.workers = 3}));
    const auto all = ids(rt);
    occupied thief(rt, all[2]);
    gate end;
    std::latch both_began(2);
    std::latch both_filled(2);
    std::latch done(2 + queued_by_first + queued_by_second);
    std::atomic<std::size_t> first_from = nobody;
    for (std::size_t victim = 0; victim < 2; ++victim) {
      rt.post_to(all[victim], [&, victim] {
        both_began.arrive_and_wait();
        for (int i = 0; i < (victim == 0 ? queued_by_first : queued_by_second); ++i) {
          this_worker::post_local([&, victim] {
            std::size_t none = nobody;
            first_from.compare_exchange_strong(none, victim);
            done.count_down();
          });
        }
        both_filled.count_down();
        end.pass();
        done.count_down();
      });
    }
    both_filled.wait();
    thief.release();
    EXPECT_TRUE(becomes_true([&] { return first_from != nobody; }));
    end.open();
    done.wait();
    return first_from;
  }
};

TEST_P(WorkerTest, AChildSpawnedBeforeALongSpinStartsElsewhere) {
  child_starts_elsewhere({.workers = 2}, place::slot);
  child_starts_elsewhere({.workers = 4}, place::slot);
}

TEST_P(WorkerTest, ALoneQueuedTaskBehindALongSpinStartsElsewhere) {
  child_starts_elsewhere({.workers = 2}, place::ring);
  child_starts_elsewhere({.workers = 2}, place::deque);
  child_starts_elsewhere({.workers = 2, .discipline = discipline::lifo}, place::slot);
}

TEST_P(WorkerTest, AChildInTheSlotIsTakenAlsoWhenItsWatcherGetsWorkOfItsOwn) {
  runtime rt(with({.workers = 4}));
  const auto all = ids(rt);
  for (std::size_t round = 0; round < scaled(100); ++round) {
    gate child_began;
    std::atomic<bool> failed = false;
    std::latch done(4);
    const auto keep_busy = [&] {
      if (!child_began.pass(5s)) failed = true;
      done.count_down();
    };
    test_item child([&] {
      child_began.open();
      done.count_down();
    });
    // Goes on in the slot until somebody watches it. Then two of the three others get something to do, most likely the watcher
    // among them; the one that is left must take the child.
    test_item endless([&] {
      if (rt.shared().io.watchers == 0) {
        current_worker()->push_next(endless);
        return;
      }
      current_worker()->push_next(child);
      for (std::size_t id = 0, busy = 0; busy < 2; ++id) {
        if (all[id] == this_worker::id()) continue;
        rt.post_to(all[id], keep_busy);
        ++busy;
      }
      keep_busy();
    });
    rt.post_to(all[round % 4], [&] { current_worker()->push_next(endless); });
    done.wait();
    ASSERT_FALSE(failed) << "in round " << round;
  }
}

TEST_P(WorkerTest, AThiefSleepsBeforeItTakesASlot) {
  // Two searches with a sleep between them, and the owner on the same tick: only then is it surely busy with something else.
  runtime rt(with({.workers = 2}));
  for (std::size_t round = 0; round < scaled(100); ++round) {
    ASSERT_TRUE(asleep(rt, 2));
    std::uint64_t searches = 0;
    on_worker(rt, 0, [&] {
      gate taken;
      test_item child([&] {
        searches += current_worker()->metrics().searches;
        taken.open();
      });
      searches = 0 - rt.metrics().workers[1].searches;
      current_worker()->push_next(child);
      EXPECT_TRUE(taken.pass());
    });
    ASSERT_GE(searches, 2U);
  }
}

TEST_P(WorkerTest, ASlotThatSomebodyWatchesIsFilledWithoutAWake) {
  const frozen_clock clock;
  gate ended;
  runtime rt(with({.workers = 2, .clock = &clock}));
  auto& io = rt.shared().io;
  test_item last([&] { ended.open(); });
  test_item child([&] {
    EXPECT_EQ(this_worker::id(), 0U);
    current_worker()->push_next(last);
    EXPECT_EQ(io.machine.sleeping(), 1U);
  });
  ASSERT_TRUE(asleep(rt, 2));
  on_worker(rt, 0, [&] {
    current_worker()->push_next(child);
    EXPECT_TRUE(becomes_true([&] { return io.watchers == 1 && io.machine.sleeping() == 1; }));
  });
  EXPECT_TRUE(ended.pass());
}

TEST_P(WorkerTest, TheSlotOfAnOwnerThatMovesOnIsLeftAlone) {
  const frozen_clock clock;
  gate ended;
  runtime rt(with({.workers = 2, .clock = &clock}));
  auto& io = rt.shared().io;
  int turns = 0;
  test_item talker([&] {
    EXPECT_EQ(this_worker::id(), 0U) << "in turn " << turns;
    if (++turns == 10) {
      ended.open();
      return;
    }
    // The same one is in the slot again, but its owner is a turn further. The watcher looks, and watches on.
    const auto parks = rt.metrics().workers[1].parks;
    current_worker()->push_next(talker);
    io.wake_all();
    EXPECT_TRUE(becomes_true([&] { return rt.metrics().workers[1].parks > parks && io.watchers == 1; }));
  });
  ASSERT_TRUE(asleep(rt, 2));
  on_worker(rt, 0, [&] {
    current_worker()->push_next(talker);
    // Asleep, and not only on its way: then its park is counted, and each wake below is one look of its own turn.
    EXPECT_TRUE(becomes_true([&] {
      return io.watchers == 1 && io.machine.sleeping() == 1 && rt.metrics().workers[1].state == worker_state::asleep;
    }));
  });
  EXPECT_TRUE(ended.pass());
  EXPECT_EQ(rt.metrics().total().slots_taken, 0U);
}

TEST_P(WorkerTest, TwoThatOnlyTalkToEachOtherKeepTheSlot) {
  // A slot whose owner moves on is left alone: taking it would send each message to another thread.
  runtime rt(with({.workers = 2}));
  const std::size_t many = scaled(2000000);
  std::size_t turns = 0;
  std::promise<void> done;
  test_item ping([&] {
    if (++turns == many) {
      done.set_value();
    } else {
      current_worker()->push_next(ping);
    }
  });
  const auto before = rt.metrics().total();
  rt.post([&] { current_worker()->push_next(ping); });
  done.get_future().get();
  const auto after = rt.metrics().total();
  // Now and then the machine takes the processor from the owner, who then stands still.
  EXPECT_LT(after.slots_taken - before.slots_taken, many / 1000);
  EXPECT_LT(after.parks - before.parks, many / 10) << "a wake for each message";
}

TEST_P(WorkerTest, NobodySearchesWhileHalfOfTheWorkersDo) {
  runtime rt(with({.workers = 4}));
  ASSERT_TRUE(asleep(rt, 4));
  auto& machine = rt.shared().io.machine;
  // The test plays two searchers of the four.
  ASSERT_TRUE(machine.set_searching());
  ASSERT_TRUE(machine.set_searching());
  const auto before = rt.metrics().total();
  for (const std::size_t id : ids(rt)) on_worker(rt, id, [] {});
  ASSERT_TRUE(asleep(rt, 4));
  EXPECT_EQ(rt.metrics().total().searches, before.searches);
  EXPECT_EQ(machine.searching(), 2U);
  machine.cancel_searching();
  machine.cancel_searching();
  for (const std::size_t id : ids(rt)) on_worker(rt, id, [] {});
  ASSERT_TRUE(asleep(rt, 4));
  EXPECT_GT(rt.metrics().total().searches, before.searches);
}

TEST_P(WorkerTest, NeverMoreThanHalfSearchUnderLoad) {
  runtime rt(with({.workers = 4}));
  std::atomic<bool> over = false;
  std::atomic<std::size_t> running = 4;
  std::function<void(std::size_t)> chain = [&](std::size_t left) {
    if (left == 0) {
      --running;
    } else {
      rt.post([&chain, left] { chain(left - 1); });
    }
  };
  for (int i = 0; i < 4; ++i) rt.post([&] { chain(scaled(5000)); });
  while (running != 0) {
    if (rt.shared().io.machine.searching() > 2) over = true;
  }
  EXPECT_FALSE(over);
}

TEST_P(WorkerTest, TheVictimIsTheLongestQueue) {
  // More than once: the first that is found is the right one half of the time.
  for (int round = 0; round < 8; ++round) {
    EXPECT_EQ(first_victim(50, 10), 0U);
    EXPECT_EQ(first_victim(10, 50), 1U);
  }
}

TEST_P(WorkerTest, EqualVictimsAreTakenFromARandomStart) {
  std::set<std::size_t> seen;
  for (int round = 0; round < 64 && seen.size() < 2; ++round) seen.insert(first_victim(1, 1));
  EXPECT_EQ(seen.size(), 2U);
}

TEST_P(WorkerTest, HalfOfAVictimsQueueIsStolenAtOnce) {
  runtime rt(with({.workers = 2}));
  const auto all = ids(rt);
  occupied thief(rt, all[1]);
  gate filled, end;
  std::latch done(101);
  std::mutex first_of_the_victims;
  std::optional<std::size_t> kept;
  rt.post_to(all[0], [&] {
    for (int i = 0; i < 100; ++i) {
      this_worker::post_local([&] {
        const std::lock_guard lock(first_of_the_victims);
        if (!kept) kept = current_worker()->queue_length();
        done.count_down();
      });
    }
    filled.open();
    end.pass();
    done.count_down();
  });
  filled.pass();
  thief.release();
  EXPECT_TRUE(becomes_true([&] { return rt.metrics().workers[1].steals_won != 0; }));
  end.open();
  done.wait();
  EXPECT_EQ(kept, 49U);
}

TEST_P(WorkerTest, OneNoticeForManyTasksWakesAsManyWorkersAsTheyNeed) {
  // Each of these runs only if all four run at once: whoever finds work wakes one more.
  struct way {
    const char* name;
    std::function<void(runtime&, std::vector<work_item*>&)> put;
  };
  const way ways[] = {
      {"fork",
       [](runtime&, auto& items) {
         current_worker()->fork(items.size(), [&](std::size_t i) -> work_item& { return *items[i]; });
       }},
      {"post",
       [](runtime& rt, auto& items) {
         for (work_item* each : items) rt.shared().post(*each);
       }},
      {"ring",
       [](runtime&, auto& items) {
         for (work_item* each : items) current_worker()->push_back(*each);
       }},
  };
  for (const auto& [name, put] : ways) {
    SCOPED_TRACE(name);
    runtime rt(with({.workers = 4}));
    for (std::size_t round = 0; round < scaled(200); ++round) {
      std::atomic<int> met = 0;
      std::atomic<bool> failed = false;
      std::latch done(4);
      const auto meet = [&] {
        ++met;
        if (!becomes_true([&] { return met == 4; }, 10s)) failed = true;
        done.count_down();
      };
      test_item a(meet), b(meet), c(meet), d(meet);
      std::vector<work_item*> items{&a, &b, &c, &d};
      rt.post([&] { put(rt, items); });
      done.wait();
      ASSERT_FALSE(failed) << "in round " << round;
    }
  }
}

TEST_P(WorkerTest, WhatIsTakenFromTheGlobalQueueIsOfferedToTheOthers) {
  // Whoever was told of these may have looked when they had left the one queue and were not in the other yet: nobody is told here.
  std::atomic<int> met = 0;
  std::latch done(2);
  const auto meet = [&] {
    ++met;
    EXPECT_TRUE(becomes_true([&] { return met == 2; })) << "the other one waits behind this";
    done.count_down();
  };
  test_item a(meet), b(meet);
  runtime rt(with({.workers = 2}));
  ASSERT_TRUE(asleep(rt, 2));
  rt.post_to(0, [&] { EXPECT_TRUE(rt.shared().io.queue.push(&a) && rt.shared().io.queue.push(&b)); });
  done.wait();
}

/// Calls what it is given, once, as soon as the worker looks at the clock while it is counted as searching: after its search, before its sleep.
class clock_between final : public ioengine::clock {
 public:
  mutable std::function<bool()> then;
  mutable std::atomic<bool> armed = false;
  [[nodiscard]] ioengine::time_point now() const noexcept override {
    if (armed && then()) armed = false;
    return steady::now();
  }
};

TEST_P(WorkerTest, WorkPublishedAsTheLastSearcherFallsAsleepIsSeen) {
  const clock_between clock;
  std::atomic<int> met = 0;
  std::latch done(2);
  const auto meet = [&] {
    ++met;
    EXPECT_TRUE(becomes_true([&] { return met == 2; })) << "one of two was left behind";
    done.count_down();
  };
  test_item a(meet), b(meet);
  runtime rt(with({.workers = 2, .clock = &clock}));
  ASSERT_TRUE(asleep(rt, 2));
  auto& io = rt.shared().io;
  clock.then = [&] {
    if (this_worker::id() != 0U || io.machine.searching() == 0) return false;
    // As another thread would: somebody searches, so nobody is woken. That one has looked already.
    EXPECT_TRUE(io.queue.push(&a) && io.queue.push(&b));
    io.notify_one();
    return true;
  };
  rt.post_to(0, [&] {
    this_worker::post_self_after(1h, [] {});  // with a timer pending, the clock is looked at
    clock.armed = true;
  });
  // A worker that came late to its engine looks at the clock before it searches only: then it is asked once more, when it sleeps.
  std::atomic<int> asked = 0, came = 0;
  ASSERT_TRUE(becomes_true([&] {
    if (clock.armed && asked == came && io.machine.sleeping() == 2) {
      ++asked;
      rt.post_to(0, [&] { ++came; });
    }
    return met != 0;
  })) << "nobody saw it";
  done.wait();
  ASSERT_TRUE(becomes_true([&] { return asked == came; }));
}

TEST_P(WorkerTest, CompletionsThatEndASleepAreSharedWithTheOthers) {
  runtime rt(with({.workers = 2}));
  for (std::size_t round = 0; round < scaled(200); ++round) {
    ASSERT_TRUE(asleep(rt, 2));
    std::atomic<int> met = 0;
    std::atomic<bool> failed = false;
    std::latch done(2);
    const auto meet = [&] {
      ++met;
      if (!becomes_true([&] { return met == 2; }, 10s)) failed = true;
      done.count_down();
    };
    test_item a(meet), b(meet);
    test_timer first([&] { current_worker()->push_quietly(a); });
    test_timer second([&] { current_worker()->push_quietly(b); });
    rt.post([&] {
      const auto when = steady::now() + 2ms;
      current_worker()->arm(first, when);
      current_worker()->arm(second, when);
    });
    done.wait();
    ASSERT_FALSE(failed) << "in round " << round;
  }
}

TEST_P(WorkerTest, ATaskFromOutsideWakesOneWorkerOnly) {
  runtime rt(with({.workers = 4}));
  const std::size_t rounds = scaled(200);
  ASSERT_TRUE(at_rest(rt));
  const auto before = rt.metrics().total().wakes;
  for (std::size_t round = 0; round < rounds; ++round) {
    on_a_worker(rt, [] {});
    ASSERT_TRUE(asleep(rt, 4));
  }
  // It would be two a task. None when a worker sees it on its way to bed; two when another one got up by itself at that moment.
  EXPECT_LT(rt.metrics().total().wakes - before, rounds + rounds / 2);
}

TEST_P(WorkerTest, ALoneCompletionWakesNobodyElse) {
  frozen_clock clock;
  runtime rt(with({.workers = 2, .clock = &clock}));
  gate ran;
  test_item item([&] { ran.open(); });
  test_timer timer([&] { current_worker()->push_quietly(item); });
  ASSERT_TRUE(asleep(rt, 2));
  const auto before = rt.metrics().workers[1];
  on_worker(rt, 0, [&] { current_worker()->arm(timer, clock.now() + 2ms); });
  ASSERT_TRUE(asleep(rt, 2));
  clock.move_by(1s);  // only now: a worker that still searches would wake another one for what it finds
  rt.shared().io.wake(0);
  ASSERT_TRUE(ran.pass());
  ASSERT_TRUE(asleep(rt, 2));
  EXPECT_EQ(rt.metrics().workers[1].searches, before.searches);
}

TEST_P(WorkerTest, ACompletionBehindALongPrivateTaskIsTakenByAnother) {
  runtime rt(with({.workers = 2, .io_interval = 1}));
  std::atomic<bool> ran = false;
  std::atomic<bool> failed = false;
  std::latch done(2);
  test_item completed([&] {
    ran = true;
    done.count_down();
  });
  test_timer timer([&] { current_worker()->push_quietly(completed); });
  test_item endless([&] {
    // Goes on until the timer's turn, then computes.
    if (current_worker()->queue_length() == 0 && !ran) {
      current_worker()->push_private(endless);
      return;
    }
    if (!becomes_true([&] { return ran.load(); }, 10s)) failed = true;
    done.count_down();
  });
  rt.post([&] {
    current_worker()->arm(timer, steady::now() + 5ms);
    current_worker()->push_private(endless);
  });
  done.wait();
  EXPECT_FALSE(failed);
}

TEST_P(WorkerTest, AFullQueueSpillsToTheGlobalOne) {
  for (const std::size_t capacity : {2UZ, 8UZ, 256UZ}) {
    runtime rt(with({.workers = 1, .local_queue_capacity = capacity}));
    const std::size_t many = 2 * capacity;
    std::latch done(static_cast<std::ptrdiff_t>(many));
    std::size_t kept = 0, spilled = 0;
    on_a_worker(rt, [&] {
      for (std::size_t i = 0; i < many; ++i) this_worker::post_local([&] { done.count_down(); });
      kept = current_worker()->queue_length();
      spilled = rt.shared().io.queue.size();
    });
    done.wait();
    EXPECT_LE(kept, capacity);
    EXPECT_EQ(kept + spilled, many);
    EXPECT_GE(rt.metrics().total().overflows, many - capacity);
  }
}

TEST_P(WorkerTest, IdleWorkersStayAsleep) {
  runtime rt(with({.workers = 4}));
  ASSERT_TRUE(at_rest(rt));
  const auto before = rt.metrics().total();
  // The time is not a synchronisation: nothing is to happen in it.
  std::this_thread::sleep_for(50ms);
  const auto after = rt.metrics().total();
  EXPECT_EQ(after.parks, before.parks);
  EXPECT_EQ(after.searches, before.searches);
  EXPECT_EQ(after.polls, before.polls);
}

FAIO_FOR_IO_KINDS(WorkerTest);

}  // namespace
}  // namespace faio::scheduler::testing
