// hosting -- a thread of the user's as a worker: run(), run_once(), and a foreign event loop that waits for native_handle().
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class HostingTest : public scheduler_fixture {
 protected:
  static bool readable(int fd, std::chrono::milliseconds within = 0ms) {
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    int came = -1;
    // The kernel may interrupt the wait to do work for the ring; loops go on then.
    do came = ::poll(&one, 1, static_cast<int>(within.count()));
    while (came < 0 && errno == EINTR);
    return came == 1;
  }
  static bool soon_readable(int fd) {
    return readable(fd, std::chrono::duration_cast<std::chrono::milliseconds>(long_enough));
  }
  /// Runs what there is, also what the handle still tells of, until it is quiet.
  static void settle(runtime& rt, int handle) {
    while (readable(handle)) rt.run_once();
  }
  static std::size_t host_id(runtime& rt) {
    rt.run_once();
    return this_worker::id().value();
  }
};

TEST_P(HostingTest, RunMakesTheCallerAWorkerUntilATaskStopsIt) {
  runtime rt(with({.workers = 1}));
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> ran_here = false;
  const std::size_t me = host_id(rt);
  rt.post_to(me, [&] {
    ran_here = std::this_thread::get_id() == caller;
    EXPECT_FALSE(rt.stop()) << "on a worker it only begins the end";
  });
  rt.run();
  EXPECT_TRUE(ran_here);
  EXPECT_EQ(this_worker::id(), std::nullopt);
  EXPECT_TRUE(rt.stop());
}

TEST_P(HostingTest, StopFromAnyWorkerOrThreadEndsRun) {
  for (std::size_t round = 0; round < scaled(100); ++round) {
    runtime rt(with({.workers = 2}));
    std::jthread other;
    switch (round % 4) {
      case 0:
        rt.post([&] { rt.stop(); });
        break;
      case 1:
        rt.post_to(0, [&] { rt.stop(); });
        break;
      case 2:
        rt.post_after(1ms, [&] { rt.stop(); });
        break;
      default:
        other = std::jthread([&] { rt.stop(); });
        break;
    }
    rt.run();
  }
}

TEST_P(HostingTest, RunTakesItsShareOfTheWork) {
  runtime rt(with({.workers = 1}));
  occupied busy(rt, 0);
  // The only other worker is busy: the caller does it.
  for (int i = 0; i < 100; ++i) rt.post([] {});
  rt.post([&] { EXPECT_EQ(rt.metrics().workers.size(), 2U); });
  rt.post([&] { rt.shared().begin_stop(); });
  std::jthread stopper([&] {
    EXPECT_TRUE(becomes_true([&] { return rt.shared().stopping(); }));
    busy.release();
    rt.stop();
  });
  rt.run();
}

TEST_P(HostingTest, RunOnAStoppedRuntimeReturns) {
  runtime rt(with({.workers = 1}));
  rt.stop();
  rt.run();
  EXPECT_EQ(rt.run_once(1h), 0U);
  EXPECT_THROW(rt.native_handle(), std::system_error);
}

TEST_P(HostingTest, RunOnceWaitsForItsTimeoutAndNoLonger) {
  runtime rt(with({.workers = 1}));
  EXPECT_EQ(rt.run_once(), 0U);
  const auto began = steady::now();
  EXPECT_EQ(rt.run_once(20ms), 0U);
  EXPECT_GE(steady::now() - began, 20ms);
}

TEST_P(HostingTest, RunOnceRunsWhatThereIsAndTellsHowMuch) {
  runtime rt(with({.workers = 1}));
  const std::size_t me = host_id(rt);
  int ran = 0;
  for (int i = 0; i < 10; ++i) rt.post_to(me, [&] { ++ran; });
  EXPECT_EQ(rt.run_once(1h), 10U);
  EXPECT_EQ(ran, 10);
  // What comes while it waits ends the wait.
  std::jthread other([&] { rt.post_to(me, [&] { ++ran; }); });
  EXPECT_EQ(rt.run_once(1h), 1U);
  EXPECT_EQ(ran, 11);
}

TEST_P(HostingTest, RunOnceHelpsABusyWorker) {
  std::atomic<int> ran = 0;
  gate filled, end;
  runtime rt(with({.workers = 1}));
  host_id(rt);
  rt.post_to(0, [&] {
    for (int i = 0; i < 8; ++i) this_worker::post_local([&] { ++ran; });
    filled.open();
    end.pass();
  });
  filled.pass();
  // Not each call finds something: when this thread is interrupted between its two looks at the short queue, it has to look anew.
  std::size_t helped = 0;
  while (ran != 8) helped += rt.run_once();
  EXPECT_EQ(helped, 8U);
  end.open();
}

TEST_P(HostingTest, RunMayFollowRunOnce) {
  runtime rt(with({.workers = 2}));
  rt.native_handle();
  rt.run_once(1ms);
  rt.run_once();
  rt.post_after(2ms, [&] { rt.stop(); });
  rt.run();
}

TEST_P(HostingTest, AnEpollLoopDrivesAWorkerThroughItsHandle) {
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  const int own_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const int fd : {handle, own_event}) {
    epoll_event interest{.events = EPOLLIN, .data = {.fd = fd}};
    ASSERT_EQ(::epoll_ctl(loop, EPOLL_CTL_ADD, fd, &interest), 0);
  }
  const std::size_t me = this_worker::id().value();
  const auto host = std::this_thread::get_id();
  const int many = static_cast<int>(scaled(1000));
  std::atomic<int> ran = 0, elsewhere = 0;
  int own_events = 0;
  std::jthread poster([&] {
    for (int i = 0; i < many; ++i) {
      rt.post_to(me, [&] {
        if (std::this_thread::get_id() != host) ++elsewhere;
        ++ran;
        // From there, timers, and work for itself.
        this_worker::post_self_after(1ms, [&] { ++ran; });
        this_worker::post_self([&] { ++ran; });
      });
      if (i % 100 == 0) ::eventfd_write(own_event, 1);
    }
  });
  while (ran < 3 * many || own_events == 0) {
    epoll_event event{};
    int came = -1;
    // The kernel may interrupt the wait to do work for the ring; loops go on then.
    do came = ::epoll_wait(loop, &event, 1, 20000);
    while (came < 0 && errno == EINTR);
    ASSERT_EQ(came, 1) << "the handle told of nothing; " << ran << " have run";
    if (event.data.fd == handle) {
      rt.run_once();
    } else {
      eventfd_t count = 0;
      ::eventfd_read(own_event, &count);
      ++own_events;
    }
  }
  EXPECT_EQ(elsewhere, 0);
  ::close(own_event);
  ::close(loop);
}

TEST_P(HostingTest, TheHandleIsQuietWhenThereIsNothingToDo) {
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  settle(rt, handle);
  for (int i = 0; i < 100; ++i) on_worker(rt, 0, [] {});
  EXPECT_FALSE(readable(handle));
}

TEST_P(HostingTest, TheHandleDoesNotTellOfAnothersSlot) {
  // A host does not look after slots: it would come for nothing.
  gate filled, end, ran;
  test_item child([&] { ran.open(); });
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  settle(rt, handle);
  rt.post_to(0, [&] {
    current_worker()->push_next(child);
    filled.open();
    end.pass();
  });
  ASSERT_TRUE(filled.pass());
  // The time is not a synchronisation: nothing is to happen in it.
  EXPECT_FALSE(readable(handle, 50ms));
  end.open();
  EXPECT_TRUE(ran.pass());
}

TEST_P(HostingTest, TheHandleTellsOfAnOperationThatATaskStarted) {
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  const std::size_t me = this_worker::id().value();
  settle(rt, handle);
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct poll_operation : ioengine::operation {
    poll_operation() : operation([](operation& op) noexcept { static_cast<poll_operation&>(op).came = op.result(); }) {}
    int came = 0;
  } op;
  rt.post_to(me, [&] {
    op.prepare_poll(event, POLLIN);
    current_worker()->io().submit(op);
  });
  ASSERT_TRUE(soon_readable(handle));
  settle(rt, handle);
  ASSERT_EQ(op.came, 0);
  ::eventfd_write(event, 1);
  ASSERT_TRUE(soon_readable(handle)) << "the operation was never handed to the kernel";
  settle(rt, handle);
  EXPECT_EQ(op.came, POLLIN);
  ::close(event);
}

TEST_P(HostingTest, TheHandleTellsOfWorkThatNobodyElseIsFreeFor) {
  std::atomic<int> ran = 0;
  gate end;
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  settle(rt, handle);
  {
    const occupied busy(rt, 0);
    settle(rt, handle);
    rt.post([&] { ++ran; });  // from outside
    ASSERT_TRUE(soon_readable(handle));
    while (ran != 1) rt.run_once(1ms);
  }
  ASSERT_TRUE(asleep(rt, 1));
  settle(rt, handle);
  rt.post_to(0, [&] {  // from the busy worker
    this_worker::post_local([&] { ++ran; });
    end.pass();
  });
  ASSERT_TRUE(soon_readable(handle));
  while (ran != 2) rt.run_once(1ms);
  end.open();
}

TEST_P(HostingTest, WorkPublishedAsTheHostGoesToRestIsNotMissed) {
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  const occupied busy(rt, 0);
  std::atomic<int> ran = 0;
  const int many = static_cast<int>(scaled(5000));
  std::jthread poster([&] {
    for (int i = 0; i < many; ++i) {
      rt.post([&] { ++ran; });
      while (ran <= i) std::this_thread::yield();
    }
  });
  while (ran < many) {
    ASSERT_TRUE(soon_readable(handle)) << ran;
    rt.run_once();
  }
}

TEST_P(HostingTest, AHostThatDoesNotComeBackHoldsNobodyUp) {
  for (const bool with_handle : {false, true}) {
    runtime rt(with({.workers = 2}));
    if (with_handle) rt.native_handle();
    rt.run_once(1ms);
    // Whatever is published now, the two others do. Run with the host as the latest sleeper, and without.
    for (std::size_t i = 0; i < scaled(500); ++i) on_a_worker(rt, [] {});
    gate ran;
    on_worker(rt, 0, [&] {
      this_worker::post_local([&] { ran.open(); });
      EXPECT_TRUE(ran.pass());
    });
  }
}

TEST_P(HostingTest, WhatTheHostsThreadPostsBetweenTwoCallsIsNotKeptBack) {
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  settle(rt, handle);
  gate ran;
  rt.post([&] { ran.open(); });
  EXPECT_TRUE(ran.pass()) << "it waits for a turn that nobody takes";
  bool own = false;
  settle(rt, handle);
  this_worker::post_self([&] { own = true; });
  EXPECT_TRUE(soon_readable(handle));
  settle(rt, handle);
  EXPECT_TRUE(own);
  own = false;
  this_worker::post_self_after(2ms, [&] { own = true; });
  EXPECT_TRUE(soon_readable(handle));
  while (!own) rt.run_once(1ms);
}

TEST_P(HostingTest, MoreThanOneCallCanDoMakesTheHandleReadableAgain) {
  runtime rt(with({.workers = 1}));
  const int handle = rt.native_handle();
  const std::size_t me = this_worker::id().value();
  std::size_t ran = 0;
  for (int i = 0; i < 1000; ++i) rt.post_to(me, [&] { ++ran; });
  std::size_t calls = 0;
  while (ran < 1000) {
    ASSERT_TRUE(soon_readable(handle));
    EXPECT_LE(rt.run_once(), 256U);
    ++calls;
  }
  EXPECT_GE(calls, 4U);
}

TEST_P(HostingTest, AHostsTimersFireInItsCalls) {
  runtime rt(with({.workers = 1}));
  bool fired = false;
  rt.run_once();
  this_worker::post_self_after(5ms, [&] { fired = true; });
  EXPECT_EQ(rt.run_once(1h), 1U);
  EXPECT_TRUE(fired);
}

TEST_P(HostingTest, OnlyOneThreadHosts) {
  runtime rt(with({.workers = 1}));
  rt.run_once();
  std::thread([&] {
    EXPECT_THROW(rt.run(), std::logic_error);
    EXPECT_THROW(rt.run_once(), std::logic_error);
    EXPECT_THROW(rt.native_handle(), std::logic_error);
  }).join();
}

TEST_P(HostingTest, AThreadThatIsAWorkerAlreadyCannotHost) {
  runtime rt(with({.workers = 1}));
  runtime other(with({.workers = 1}));
  on_a_worker(rt, [&] {
    EXPECT_THROW(rt.run(), std::logic_error);
    EXPECT_THROW(other.run_once(), std::logic_error);
  });
  runtime mine(with({.workers = 1}));
  const std::size_t me = host_id(mine);
  mine.post_to(me, [&] { EXPECT_THROW(mine.run_once(), std::logic_error); });
  EXPECT_EQ(mine.run_once(1h), 1U);
  runtime second(with({.workers = 1}));
  try {
    second.run_once();
    FAIL();
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("a worker of another runtime"), std::string::npos) << error.what();
  }
}

TEST_P(HostingTest, StopByAnotherThreadIsDoneWhenTheHostComesBack) {
  runtime rt(with({.workers = 1}));
  rt.run_once();
  std::atomic<bool> stopped = false;
  std::jthread stopper([&] { stopped = rt.stop(1min); });
  while (!stopped) rt.run_once(1ms);
  EXPECT_EQ(this_worker::id(), std::nullopt);
}

TEST_P(HostingTest, TheHostsQueuedWorkRunsBeforeTheEnd) {
  std::atomic<int> ran = 0;
  {
    runtime rt(with({.workers = 1}));
    const std::size_t me = host_id(rt);
    for (int i = 0; i < 1000; ++i) rt.post_to(me, [&] { ++ran; });
    EXPECT_TRUE(rt.stop());
  }
  EXPECT_EQ(ran, 1000);
}

FAIO_FOR_IO_KINDS(HostingTest);

}  // namespace
}  // namespace faio::scheduler::testing
