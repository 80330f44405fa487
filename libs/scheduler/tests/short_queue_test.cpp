// short_queue -- a queue that a thief left alone, because its owner got on well, is taken when the owner stands still.
#include <array>
#include <memory>

#include "faio/scheduler/worker.hpp"
#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class ShortQueueTest : public scheduler_fixture {};

TEST_P(ShortQueueTest, IsTakenAfterAllWhenItsOwnerStandsStill) {
  runtime rt(with({.workers = 2}));
  for (std::size_t round = 0; round < scaled(10); ++round) {
    gate taken;
    bool failed = false;
    std::atomic<bool> is_over = false;
    std::atomic<int> turns = 0;
    constexpr int talkers = 3;
    constexpr int most_turns = 100'000;
    std::latch done(talkers);
    const auto sleeps_unwatching = [&] {
      return rt.shared().io.machine.sleeping() != 0 && rt.shared().io.watchers == 0;
    };
    // They give way to each other while the other worker looks, leaves them alone and watches; should it sleep without watching, then not longer
    // than that. Then one of them stands still; those behind it have been in the queue all the time, and nobody is told of them again.
    std::array<std::unique_ptr<test_item>, talkers> all;
    for (auto& each : all) {
      each = std::make_unique<test_item>([&] {
        if (!is_over && !sleeps_unwatching() && ++turns < most_turns) {
          current_worker()->push_back(*each);
          return;
        }
        if (is_over.exchange(true)) {
          taken.open();
        } else {
          failed = !taken.pass(5s);
        }
        done.count_down();
      });
    }
    rt.post_to(0, [&] {
      for (auto& each : all) current_worker()->push_back(*each);
    });
    done.wait();
    ASSERT_FALSE(failed) << "in round " << round;
  }
}

FAIO_FOR_IO_KINDS(ShortQueueTest);

}  // namespace
}  // namespace faio::scheduler::testing
