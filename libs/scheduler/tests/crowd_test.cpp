// crowd -- with more workers than processors: nobody is woken, and nothing taken, where that would only take a processor from those who work.
#include <memory>
#include <vector>

#include "faio/scheduler/worker.hpp"
#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class CrowdTest : public scheduler_fixture {
 protected:
  /// More than are worth a wake whatever their owner does.
  static constexpr int many = 100;

  /// Counts where its items run.
  class queued {
   public:
    explicit queued(int count, std::function<void()> body = [] {}) : _body(std::move(body)), _left(count) {
      for (int i = 0; i < count; ++i) {
        _items.push_back(std::make_unique<test_item>([this] {
          _body();
          if (this_worker::id() != 0U) _elsewhere = true;
          _left.count_down();
        }));
      }
    }
    /// On worker 0.
    void push(int from, int count) {
      for (int i = from; i < from + count; ++i) current_worker()->push_back(*_items[static_cast<std::size_t>(i)]);
    }
    void wait() { _left.wait(); }
    [[nodiscard]] bool any_elsewhere() const { return _elsewhere; }

   private:
    const std::function<void()> _body;
    std::vector<std::unique_ptr<test_item>> _items;
    std::latch _left;
    std::atomic<bool> _elsewhere = false;
  };

  /// Worker 0 of three puts many into its queue, another one comes, leaves them alone and watches. Calls then(rt, all) on worker 0, with `more` still to be pushed. False: it
  /// took some. A thief that loses its processor between two looks finds that the owner has stood still, so one of some rounds will do.
  template <class Then>
  bool is_left_alone(int more, Then then) {
    for (int round = 0; round < 20; ++round) {
      const frozen_clock clock;
      runtime rt(with({.workers = 3, .clock = &clock}));
      auto& io = rt.shared().io;
      io.processors = 1;
      EXPECT_TRUE(asleep(rt, 3));
      queued all(many + more);
      bool watches = false;
      on_worker(rt, 0, [&] {
        all.push(0, many);
        EXPECT_TRUE(becomes_true([&] {
          watches = io.watchers == 1 && io.machine.sleeping() == 2;
          return watches || all.any_elsewhere();
        }));
        if (watches) {
          then(rt, all);
        } else {
          all.push(many, more);
        }
      });
      all.wait();
      if (watches && !all.any_elsewhere()) return true;
    }
    return false;
  }
};

TEST_P(CrowdTest, ALongQueueWhoseOwnerGetsOnIsLeftAlone) {
  EXPECT_TRUE(is_left_alone(0, [](runtime& /*rt*/, queued& /*all*/) {}));
}

TEST_P(CrowdTest, NobodyIsWokenWhileSomebodyComesBy) {
  EXPECT_TRUE(is_left_alone(many, [](runtime& rt, queued& all) {
    all.push(many, many);
    EXPECT_EQ(rt.shared().io.machine.sleeping(), 2U);
  }));
}

TEST_P(CrowdTest, WhatStandsStillIsTaken) {
  runtime rt(with({.workers = 3}));
  rt.shared().io.processors = 1;
  for (std::size_t round = 0; round < scaled(20); ++round) {
    ASSERT_TRUE(asleep(rt, 3));
    queued all(many);
    on_worker(rt, 0, [&] {
      all.push(0, many);
      EXPECT_TRUE(becomes_true([&] { return all.any_elsewhere(); })) << "in round " << round;
    });
    all.wait();
  }
}

TEST_P(CrowdTest, WhereAProcessorIsFreeItIsTakenAtOnce) {
  const frozen_clock clock;
  runtime rt(with({.workers = 3, .clock = &clock}));
  rt.shared().io.processors = 2;
  ASSERT_TRUE(asleep(rt, 3));
  queued all(many);
  on_worker(rt, 0, [&] {
    all.push(0, many);
    EXPECT_TRUE(becomes_true([&] { return all.any_elsewhere(); }));
  });
  all.wait();
}

TEST_P(CrowdTest, WhereThoseWhoGetOnWaitInSystemCallsTheOthersHelp) {
  runtime rt(with({.workers = 3}));
  rt.shared().io.processors = 1;
  ASSERT_TRUE(asleep(rt, 3));
  // Each is a turn of its owner's, and none of them needs the processor.
  queued all(many, [] { std::this_thread::sleep_for(300us); });
  on_worker(rt, 0, [&] { all.push(0, many); });
  all.wait();
  EXPECT_TRUE(all.any_elsewhere());
}

TEST_P(CrowdTest, APostIsTakenByWhoIsWokenForIt) {
  const frozen_clock clock;
  runtime rt(with({.workers = 3, .clock = &clock}));
  rt.shared().io.processors = 1;
  ASSERT_TRUE(asleep(rt, 3));
  on_worker(rt, 0, [&] {
    gate ran;
    std::thread([&] { rt.post([&] { ran.open(); }); }).join();
    EXPECT_TRUE(ran.pass());
  });
}

FAIO_FOR_IO_KINDS(CrowdTest);

}  // namespace
}  // namespace faio::scheduler::testing
