// signal_test -- who gets an arrival, what is kept, what is put back.
#include "faio/process/signal.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "process_fixture.hpp"

namespace faio::process {
namespace {

class SignalTest : public ProcessTest {
 protected:
  ~SignalTest() override { forget({SIGUSR1, SIGUSR2, SIGRTMIN}); }
};
FAIO_ON_BOTH_ENGINES(SignalTest);

TEST_P(SignalTest, GivesTheNumberOfTheOneThatCame) {
  auto set = signal_set::listen({SIGUSR1, SIGUSR2});
  ASSERT_TRUE(set.has_value());
  ::kill(::getpid(), SIGUSR2);
  EXPECT_EQ(ctx().block_on(set->next()), SIGUSR2);
}

TEST_P(SignalTest, ReachesATaskThatWaitsForIt) {
  std::atomic<bool> waits{false};
  std::thread sender([&] {
    waits.wait(false);
    // While it waits, or before: it is kept. To this very thread: one that waits in the kernel is not told of a signal by the thread
    // sanitizer until it calls something that the sanitizer knows.
    ::raise(SIGUSR1);
  });
  ctx().block_on([&]() -> task<void> {
    const auto none = co_await timeout(1ms, signal({SIGUSR1}));  // from here on the process notes it
    EXPECT_EQ(none.error(), std::errc::timed_out);
    waits.store(true);
    waits.notify_all();
    const auto got = co_await signal({SIGUSR1, SIGUSR2});
    EXPECT_EQ(got, SIGUSR1);
  });
  sender.join();
}

TEST_P(SignalTest, ReachesAllWhoWait) {
  // One worker: who has counted itself has come to its wait before anybody else runs.
  runtime_context one({.workers = 1, .engine = GetParam()});
  int waiting = 0;
  int woken = 0;
  one.block_on([&]() -> task<void> {
    task_group group;
    for (int i = 0; i < 5; ++i) {
      group.spawn([&]() -> task<void> {
        ++waiting;
        const auto got = co_await signal({SIGUSR1});
        EXPECT_EQ(got, SIGUSR1);
        ++woken;
      });
    }
    while (waiting < 5) co_await yield();
    ::raise(SIGUSR1);
    co_await group.join();
    const auto kept = co_await timeout(1ms, signal({SIGUSR1}));
    EXPECT_FALSE(kept.has_value()) << "one arrival, and it was given";
  });
  EXPECT_EQ(woken, 5);
}

TEST_P(SignalTest, KeepsWhatArrivesBetweenTwoWaits) {
  ctx().block_on([&]() -> task<void> {
    auto got = co_await timeout(1ms, signal({SIGUSR1}));
    EXPECT_EQ(got.error(), std::errc::timed_out);
    for (int i = 0; i < 3; ++i) ::raise(SIGUSR1);
    for (int i = 0; i < 3; ++i) {
      got = co_await signal({SIGUSR1, SIGUSR2});
      EXPECT_EQ(got, SIGUSR1);
    }
    got = co_await timeout(1ms, signal({SIGUSR1}));
    EXPECT_EQ(got.error(), std::errc::timed_out);
  });
}

TEST_P(SignalTest, GivesEachSetEachArrival) {
  auto first = signal_set::listen({SIGUSR1});
  auto second = signal_set::listen({SIGUSR1, SIGUSR2});
  ASSERT_TRUE(first && second);
  ctx().block_on([&]() -> task<void> {
    ::raise(SIGUSR1);
    ::raise(SIGUSR1);
    ::raise(SIGUSR2);
    auto got = co_await signal({SIGUSR1});  // takes nothing from the sets
    EXPECT_EQ(got, SIGUSR1);
    for (int i = 0; i < 2; ++i) {
      got = co_await first->next();
      EXPECT_EQ(got, SIGUSR1);
      got = co_await second->next();
      EXPECT_EQ(got, SIGUSR1);
    }
    got = co_await second->next();
    EXPECT_EQ(got, SIGUSR2);
    got = co_await timeout(1ms, first->next());
    EXPECT_EQ(got.error(), std::errc::timed_out);
    ::raise(SIGUSR1);
    got = co_await first->next();  // the one that timed out took nothing
    EXPECT_EQ(got, SIGUSR1);
  });
}

TEST_P(SignalTest, IsHeardInSeveralRuntimes) {
  runtime_context other({.workers = 1, .engine = GetParam()});
  auto here = signal_set::listen({SIGRTMIN});
  auto there = signal_set::listen({SIGRTMIN});
  ASSERT_TRUE(here && there);
  auto elsewhere = other.spawn(there->next());
  ::kill(::getpid(), SIGRTMIN);
  EXPECT_EQ(ctx().block_on(here->next()), SIGRTMIN);
  EXPECT_EQ(elsewhere.get(), SIGRTMIN);
}

TEST_P(SignalTest, EndsItsWaitWhenStopIsRequested) {
  auto set = signal_set::listen({SIGUSR1});
  ASSERT_TRUE(set.has_value());
  auto waits = ctx().spawn(set->next());
  auto waits_too = ctx().spawn(signal({SIGUSR1}));
  waits.request_stop();
  waits_too.request_stop();
  EXPECT_EQ(waits.get().error(), std::errc::operation_canceled);
  EXPECT_EQ(waits_too.get().error(), std::errc::operation_canceled);
}

TEST_P(SignalTest, RefusesWhatCannotBeWaitedFor) {
  for (const int number : {SIGKILL, SIGSTOP, SIGSEGV, SIGFPE, 0, -1, 65}) {
    EXPECT_EQ(ctx().block_on(signal(number)).error(), std::errc::invalid_argument) << number;
    EXPECT_EQ(signal_set::listen(number).error(), std::errc::invalid_argument) << number;
  }
}

std::atomic<int> seen_by_the_old_handler{0};

TEST_P(SignalTest, PutsBackWhatWasBefore) {
  const auto before = ::signal(SIGUSR2, [](int) { ++seen_by_the_old_handler; });
  seen_by_the_old_handler = 0;
  ctx().block_on([&]() -> task<void> {
    (void)co_await timeout(1ms, signal({SIGUSR2}));
    ::raise(SIGUSR2);
    EXPECT_EQ(seen_by_the_old_handler, 0);
    forget({SIGUSR2});
    ::raise(SIGUSR2);
    EXPECT_EQ(seen_by_the_old_handler, 1);
    const auto got = co_await timeout(1ms, signal({SIGUSR2}));
    EXPECT_EQ(got.error(), std::errc::timed_out) << "what was kept has been dropped";
  });
  forget({SIGUSR2});
  ::signal(SIGUSR2, before);
}

TEST_P(SignalTest, ManyArriveWhileTasksComeAndGo) {
  constexpr int arrivals = 2000;
  auto set = signal_set::listen({SIGUSR1});
  ASSERT_TRUE(set.has_value());
  std::atomic<bool> over{false};
  // raise() returns when the handler has run: each is an arrival of its own.
  std::thread sender([] {
    for (int i = 0; i < arrivals; ++i) ::raise(SIGUSR1);
  });
  ctx().block_on([&]() -> task<void> {
    task_group group;
    for (int i = 0; i < 4; ++i) {
      group.spawn([&]() -> task<void> {
        while (!over) {
          (void)co_await timeout(100us, signal({SIGUSR1}));
        }
      });
    }
    for (int i = 0; i < arrivals; ++i) {
      const auto got = co_await set->next();
      EXPECT_EQ(got, SIGUSR1);
    }
    over = true;
    co_await group.join();
    const auto more = co_await timeout(1ms, set->next());
    EXPECT_FALSE(more.has_value());
  });
  sender.join();
}

}  // namespace
}  // namespace faio::process
