// blocking_threads -- as many threads as there is work that blocks; nobody waits behind another one.
#include "faio/scheduler/blocking_threads.hpp"

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class BlockingThreadsTest : public scheduler_fixture {};

TEST_P(BlockingThreadsTest, NobodyWaitsBehindAnotherOne) {
  runtime rt(with({.workers = 1}));
  for (int round = 0; round < 20; ++round) {
    std::latch all(8);
    std::latch done(8);
    std::vector<std::unique_ptr<test_item>> items;
    for (int i = 0; i < 8; ++i) {
      items.push_back(std::make_unique<test_item>([&] {
        EXPECT_EQ(current_worker(), nullptr);
        EXPECT_EQ(this_thread().runtime, &rt.shared());
        all.arrive_and_wait();
        done.count_down();
      }));
      ASSERT_TRUE(rt.shared().post_blocking(*items.back()));
    }
    done.wait();
  }
  rt.stop();
}

TEST_P(BlockingThreadsTest, TheyPostBackAlsoWhileTheRuntimeStops) {
  std::atomic<bool> back = false;
  runtime rt(with({.workers = 1}));
  gate began;
  test_item on_worker_again([&] { back = true; });
  test_item item([&] {
    began.open();
    EXPECT_TRUE(becomes_true([&] { return rt.shared().stopping(); }));
    EXPECT_TRUE(rt.shared().post(on_worker_again));
  });
  ASSERT_TRUE(rt.shared().post_blocking(item));
  began.pass();
  EXPECT_TRUE(rt.stop(1min));
  EXPECT_TRUE(back);
}

TEST_P(BlockingThreadsTest, AStoppedRuntimeRefuses) {
  runtime rt(with({.workers = 1}));
  rt.stop();
  test_item item([] { FAIL(); });
  EXPECT_FALSE(rt.shared().post_blocking(item));
  EXPECT_EQ(item.dropped, 0) << "it stays with the caller";
}

FAIO_FOR_IO_KINDS(BlockingThreadsTest);

}  // namespace
}  // namespace faio::scheduler::testing
