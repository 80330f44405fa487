// completion_signal_test -- threads that wait, and a waiter that destroys the signal as soon as it may.
#include "faio/context/completion_signal.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace faio::context {
namespace {

TEST(CompletionSignal, IsNotReadyAtFirst) {
  completion_signal signal;
  EXPECT_FALSE(signal.is_ready());
}

TEST(CompletionSignal, DoesNotBlockOnceReady) {
  completion_signal signal;
  signal.mark_ready();
  EXPECT_TRUE(signal.is_ready());
  signal.wait();
}

TEST(CompletionSignal, WakesAllWaitersAndShowsThemWhatWasDone) {
  completion_signal signal;
  int done = 0;
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      signal.wait();
      EXPECT_EQ(done, 1);
    });
  }
  done = 1;
  signal.mark_ready();
}

/// The memory is freed at once: ASan would see a late touch.
TEST(CompletionSignal, OutlivesItsNotifierWhenTheWaiterDestroysItAtOnce) {
  for (int round = 0; round < 2'000; ++round) {
    auto signal = std::make_unique<completion_signal>();
    std::jthread notifier([raw = signal.get()] { raw->mark_ready(); });
    signal->wait();
    signal.reset();
  }
}

}  // namespace
}  // namespace faio::context
