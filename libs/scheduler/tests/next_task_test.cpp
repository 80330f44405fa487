// next_task -- what a worker runs next: nothing that waits is kept away for ever by work that never ends.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class NextTaskTest : public scheduler_fixture {
 protected:
  /// How a task that never ends keeps itself going.
  using again = void (*)(worker&, work_item&);
  struct way {
    const char* name;
    again put;
  };
  static constexpr way ways[] = {
      {"ring", [](worker& here, work_item& item) { here.push_back(item); }},
      {"slot", [](worker& here, work_item& item) { here.push_next(item); }},
      {"private", [](worker& here, work_item& item) { here.push_private(item); }},
      {"deque", [](worker& here, work_item& item) { here.fork(item); }},
      {"bounce", [](worker& here, work_item& item) { here.bounce(item); }},
  };

  /// Runs an item that goes on and on by `put`. In its tenth turn it calls `start`; gives the number of further turns until
  /// `*over` is true.
  static int turns_until(runtime& rt, again put, std::function<void()> start, const bool& over) {
    std::promise<void> done;
    int turns = 0;
    test_item endless([&] {
      ++turns;
      if (turns == 10) start();
      if ((turns > 10 && over) || turns == limit) {
        done.set_value();
      } else {
        put(*current_worker(), endless);
      }
    });
    rt.post([&] { current_worker()->push_back(endless); });
    done.get_future().get();
    return turns - 10;
  }
  static constexpr int limit = 10000;
};

TEST_P(NextTaskTest, TheGlobalQueueHasItsTurnWithinTheIntervalWhateverTheWorkerHasToDo) {
  for (const std::uint32_t interval : {1U, 6U, 61U}) {
    for (const auto& [name, put] : ways) {
      SCOPED_TRACE(::testing::Message() << name << ", interval " << interval);
      runtime rt(with({.workers = 1, .global_queue_interval = interval}));
      bool ran = false;
      test_item waiting([&] { ran = true; });
      const int turns = turns_until(rt, put, [&] { rt.shared().io.queue.push(&waiting); }, ran);
      // A bounce goes on for 17 turns before it is the loop's turn.
      EXPECT_LE(turns, static_cast<int>(interval) + (put == ways[4].put ? 18 : 1));
      rt.stop();
    }
  }
}

TEST_P(NextTaskTest, BouncingTasksDoNotHideTheGlobalQueue) {
  // 18 ticks for each turn of the loop: with these intervals a remainder of the tick could be missed for ever.
  for (const std::uint32_t interval : {2U, 3U, 6U, 9U, 18U}) {
    for (int shift = 0; shift < 18; ++shift) {
      runtime rt(with({.workers = 1, .global_queue_interval = interval}));
      for (int i = 0; i < shift; ++i) on_a_worker(rt, [] {});
      bool ran = false;
      test_item waiting([&] { ran = true; });
      EXPECT_LE(turns_until(rt, ways[4].put, [&] { rt.shared().io.queue.push(&waiting); }, ran), 2 * 18 + 1);
      rt.stop();
    }
  }
}

TEST_P(NextTaskTest, CompletionsAreLookedForWithinTheIntervalWhateverTheWorkerHasToDo) {
  for (const std::uint32_t interval : {1U, 10U, 61U}) {
    for (const auto& [name, put] : ways) {
      SCOPED_TRACE(::testing::Message() << name << ", interval " << interval);
      runtime rt(with({.workers = 1, .io_interval = interval}));
      bool fired = false;
      test_timer timer([&] { fired = true; });
      const auto start = [&] { current_worker()->arm(timer, steady::now() - 1ms); };
      // The wheel counts in milliseconds and is never early: the turns of one millisecond do not count.
      std::optional<int> due;
      std::promise<void> done;
      int turns = 0;
      test_item endless([&] {
        ++turns;
        if (turns == 10) start();
        if (turns > 10 && !due && current_worker()->io().next_deadline() <= steady::now()) due = turns;
        if (fired || turns == 100 * limit) {
          done.set_value();
        } else {
          put(*current_worker(), endless);
        }
      });
      rt.post([&] { current_worker()->push_back(endless); });
      done.get_future().get();
      EXPECT_TRUE(fired);
      EXPECT_LE(turns - due.value_or(turns), static_cast<int>(interval) + 1);
      rt.stop();
    }
  }
}

TEST_P(NextTaskTest, CompletionsAreLookedForBeforeASleep) {
  runtime rt(with({.workers = 1}));
  const int event =
      ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);  // readable: what waits for it has ended as soon as somebody looks
  struct poll_operation : ioengine::operation {
    poll_operation()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<poll_operation&>(op);
            self.parks_after = current_worker()->metrics().parks;
            self.completed.open();
          }) {}
    std::uint64_t parks_before = 0, parks_after = 0;
    gate completed;
  } op;
  ASSERT_TRUE(asleep(rt, 1));  // a new ring has a message of its own, which is a reason to drive
  rt.post([&] {
    op.parks_before = current_worker()->metrics().parks;
    op.prepare_poll(event, POLLIN);
    current_worker()->io().submit(op);
  });
  ASSERT_TRUE(op.completed.pass());
  EXPECT_EQ(op.parks_after, op.parks_before);
  rt.stop();
  ::close(event);
}

TEST_P(NextTaskTest, LocalWorkGoesBeforeTheGlobalQueue) {
  runtime rt(with({.workers = 1}));
  std::vector<int> order;
  std::latch done(2);
  test_item global([&] {
    order.push_back(2);
    done.count_down();
  });
  test_item local([&] {
    order.push_back(1);
    done.count_down();
  });
  on_a_worker(rt, [&] {
    rt.shared().io.queue.push(&global);
    current_worker()->push_back(local);
  });
  done.wait();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_P(NextTaskTest, OtherLocalWorkHasItsTurnBesideATaskThatNeverEnds) {
  for (const auto& [name, put] : ways) {
    for (const auto& [other, put_other] : ways) {
      if (put == put_other || put_other == ways[4].put) continue;
      SCOPED_TRACE(::testing::Message() << other << " waits beside " << name);
      runtime rt(with({.workers = 1}));
      bool ran = false;
      test_item waiting([&] { ran = true; });
      EXPECT_LE(turns_until(rt, put, [&] { put_other(*current_worker(), waiting); }, ran), 40);
      rt.stop();
    }
  }
}

TEST_P(NextTaskTest, TheSlotGoesFirstButAtMostThreeTimesInARow) {
  runtime rt(with({.workers = 1}));
  int turns = 0;
  std::promise<int> before;
  std::promise<void> ended;
  bool ran = false;
  test_item other([&] {
    before.set_value(turns);
    ran = true;
  });
  test_item chained([&] {
    ++turns;
    if (ran) {
      ended.set_value();
    } else {
      current_worker()->push_next(chained);
    }
  });
  rt.post([&] {
    current_worker()->push_back(other);
    current_worker()->push_next(chained);
  });
  EXPECT_EQ(before.get_future().get(), 3);
  ended.get_future().get();
}

TEST_P(NextTaskTest, WhatWasInTheSlotGoesToTheBackOfTheRingWhenANewerOneComes) {
  runtime rt(with({.workers = 1}));
  std::vector<int> order;
  std::promise<void> done;
  test_item first([&] {
    order.push_back(1);
    done.set_value();
  });
  test_item second([&] { order.push_back(2); });
  test_item third([&] { order.push_back(3); });
  rt.post([&] {
    current_worker()->push_back(third);
    current_worker()->push_next(first);
    current_worker()->push_next(second);
  });
  done.get_future().get();
  EXPECT_EQ(order, (std::vector{2, 3, 1}));
}

TEST_P(NextTaskTest, AnEmptyWorkerTakesABatchOfTheGlobalQueueAtMostHalfItsCapacity) {
  struct expected {
    std::size_t workers, capacity, queued, kept;
  };
  // One of the batch runs, the rest is kept. A share of the queue: the others come for theirs.
  for (const auto& each : {expected{1, 256, 400, 127}, expected{1, 8, 400, 3}, expected{4, 256, 400, 100}}) {
    runtime rt(with({.workers = each.workers, .local_queue_capacity = each.capacity}));
    std::vector<std::unique_ptr<occupied>> busy;
    for (const std::size_t id : ids(rt)) busy.push_back(std::make_unique<occupied>(rt, id));
    std::optional<std::size_t> kept;
    std::latch done(static_cast<std::ptrdiff_t>(each.queued));
    for (std::size_t i = 0; i < each.queued; ++i) {
      rt.post([&] {
        if (!kept) kept = current_worker()->queue_length();
        done.count_down();
      });
    }
    busy[0]->release();
    done.wait();
    EXPECT_EQ(kept, each.kept);
  }
}

TEST_P(NextTaskTest, FifoRunsTheOldestFirstAndLifoTheNewest) {
  for (const auto wanted : {discipline::fifo, discipline::lifo}) {
    runtime rt(with({.workers = 1, .discipline = wanted}));
    std::vector<int> order;
    std::promise<void> done;
    const auto ran = [&](int which) {
      order.push_back(which);
      if (order.size() == 3) done.set_value();
    };
    test_item a([&] { ran(1); });
    test_item b([&] { ran(2); });
    test_item c([&] { ran(3); });
    rt.post([&] {
      for (test_item* each : {&a, &b, &c}) {
        if (wanted == discipline::lifo) {
          current_worker()->push_next(*each);
        } else {
          current_worker()->push_back(*each);
        }
      }
    });
    done.get_future().get();
    EXPECT_EQ(order, wanted == discipline::fifo ? (std::vector{1, 2, 3}) : (std::vector{3, 2, 1}));
  }
}

TEST_P(NextTaskTest, ATransferIsRefusedAfterSixtyFourWithoutTheLoop) {
  runtime rt(with({.workers = 1}));
  std::vector<int> streaks;
  std::promise<void> done;
  test_item item([&] {
    int streak = 1;
    while (current_worker()->may_transfer()) ++streak;
    streaks.push_back(streak);
    if (streaks.size() == 40) {
      done.set_value();
    } else {
      current_worker()->bounce(item);
    }
  });
  rt.post([&] { current_worker()->push_back(item); });
  done.get_future().get();
  for (const int each : streaks) EXPECT_EQ(each, 64);
}

TEST_P(NextTaskTest, OneThatGaveWayToALongPrivateTaskGoesOnElsewhere) {
  runtime rt(with({.workers = 2}));
  ASSERT_TRUE(asleep(rt, 2));
  gate went_on;
  bool failed = false;
  std::latch done(2);
  test_item gives_way([&] {
    EXPECT_EQ(this_worker::id(), 1U);
    went_on.open();
    done.count_down();
  });
  rt.post_to(0, [&] {
    this_worker::post_self([&] {
      failed = !went_on.pass();
      done.count_down();
    });
    current_worker()->push_behind(gives_way);
  });
  done.wait();
  EXPECT_FALSE(failed);
}

FAIO_FOR_IO_KINDS(NextTaskTest);

}  // namespace
}  // namespace faio::scheduler::testing
