// watcher -- a callback for each time that a descriptor is ready, until the watcher goes.
#include "faio/scheduler/watcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

struct event_fd {
  int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  event_fd() = default;
  event_fd(const event_fd&) = delete;
  event_fd& operator=(const event_fd&) = delete;
  ~event_fd() { ::close(fd); }
  void signal() const { ::eventfd_write(fd, 1); }
  bool take() const {
    eventfd_t count = 0;
    return ::eventfd_read(fd, &count) == 0;
  }
};

class WatcherTest : public scheduler_fixture {};

TEST_P(WatcherTest, CallsBackOnAWorkerEachTimeThatTheDescriptorIsReady) {
  runtime rt(with({.workers = 2}));
  const event_fd event;
  std::atomic<int> called = 0;
  auto watched = rt.watch(event.fd, POLLIN, [&](int events) {
    EXPECT_EQ(events, POLLIN);
    EXPECT_TRUE(this_worker::id().has_value());
    if (event.take()) ++called;
  });
  ASSERT_TRUE(watched.has_value());
  EXPECT_TRUE(watched->active());
  for (int i = 1; i <= 100; ++i) {
    event.signal();
    ASSERT_TRUE(becomes_true([&] { return called == i; })) << i;
  }
}

TEST_P(WatcherTest, ResetOnAnotherThreadWaitsForTheCallbackAndEndsIt) {
  runtime rt(with({.workers = 2}));
  for (std::size_t round = 0; round < scaled(200); ++round) {
    const event_fd event;
    std::atomic<bool> alive = true;
    std::atomic<int> called = 0;
    auto watched = rt.watch(event.fd, POLLIN, [&](int) {  // never taken: ready for ever
      ++called;
      EXPECT_TRUE(alive);
    });
    ASSERT_TRUE(watched.has_value());
    event.signal();
    ASSERT_TRUE(round % 2 == 0 || becomes_true([&] { return called > 0; }));
    watched->reset();
    alive = false;
    EXPECT_FALSE(watched->active());
  }
  // Nothing of them is left on the workers.
  for (const std::size_t id : ids(rt)) {
    EXPECT_TRUE(becomes_true([&] {
      std::size_t in_flight = 1;
      on_worker(rt, id, [&] { in_flight = current_worker()->io().in_flight(); });
      return in_flight == 0;
    }));
  }
}

TEST_P(WatcherTest, ResetInsideTheCallbackEndsIt) {
  runtime rt(with({.workers = 2}));
  const event_fd event;
  std::atomic<int> called = 0;
  gate made;
  watcher mine;
  auto watched = rt.watch(event.fd, POLLIN, [&](int) {
    made.pass();
    ++called;
    mine.reset();
    EXPECT_FALSE(mine.active());
  });
  ASSERT_TRUE(watched.has_value());
  mine = std::move(*watched);
  event.signal();
  made.open();
  ASSERT_TRUE(becomes_true([&] { return called == 1; }));
  for (const std::size_t id : ids(rt)) on_worker(rt, id, [] {});
  for (const std::size_t id : ids(rt)) on_worker(rt, id, [] {});
  EXPECT_EQ(called, 1);
}

TEST_P(WatcherTest, TheDestructorAndAssignmentResetToo) {
  runtime rt(with({.workers = 1}));
  const event_fd one, two;
  std::atomic<int> first = 0, second = 0;
  auto a = rt.watch(one.fd, POLLIN, [&](int) { first += one.take() ? 1 : 0; });
  auto b = rt.watch(two.fd, POLLIN, [&](int) { second += two.take() ? 1 : 0; });
  ASSERT_TRUE(a.has_value() && b.has_value());
  *a = std::move(*b);
  one.signal();
  two.signal();
  ASSERT_TRUE(becomes_true([&] { return second == 1; }));
  EXPECT_EQ(first, 0);
  {
    const watcher gone = std::move(*a);
  }
  two.signal();
  on_worker(rt, 0, [] {});
  EXPECT_EQ(second, 1);
}

TEST_P(WatcherTest, WhatIsAlwaysReadyIsRefused) {
  runtime rt(with({.workers = 1}));
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int directory = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (const int fd : {file, directory}) {
    const auto refused = rt.watch(fd, POLLIN, [](int) {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error(), errc::not_watchable);
    EXPECT_NE(refused.error().message().find("regular files and directories are always ready"), std::string::npos);
    ::close(fd);
  }
  const auto bad = rt.watch(-1, POLLIN, [](int) {});
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error(), std::errc::bad_file_descriptor);
}

TEST_P(WatcherTest, AStoppedRuntimeRefusesAndEndsWhatItWatched) {
  const event_fd event;
  watcher outlives;
  {
    runtime rt(with({.workers = 1}));
    auto watched = rt.watch(event.fd, POLLIN, [](int) {});
    ASSERT_TRUE(watched.has_value());
    outlives = std::move(*watched);
    EXPECT_TRUE(rt.stop());
    EXPECT_FALSE(outlives.active());
    const auto refused = rt.watch(event.fd, POLLIN, [](int) {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error(), errc::stopped);
  }
  EXPECT_FALSE(outlives.active());
}

TEST_P(WatcherTest, MovesToAnotherWorkerWhenItsOwnLeaves) {
  runtime rt(with({.workers = 1}));
  const event_fd event;
  std::atomic<int> called = 0;
  auto watched = rt.watch(event.fd, POLLIN, [&](int) { called += event.take() ? 1 : 0; });
  ASSERT_TRUE(watched.has_value());
  std::size_t old = 0;
  for (int i = 1; i <= 20; ++i) {
    const auto fresh = rt.attach_worker();
    ASSERT_TRUE(fresh.has_value());
    ASSERT_TRUE(rt.detach_worker(old).has_value());
    old = *fresh;
    event.signal();
    ASSERT_TRUE(becomes_true([&] { return called == i; })) << i;
  }
}

TEST_P(WatcherTest, ResetAndDetachAtOnceEndBoth) {
  for (std::size_t round = 0; round < scaled(200); ++round) {
    runtime rt(with({.workers = 2}));
    const event_fd event;
    auto watched = rt.watch(event.fd, POLLIN, [&](int) {});
    ASSERT_TRUE(watched.has_value());
    event.signal();
    std::jthread detacher([&] { EXPECT_TRUE(rt.detach_worker(round % 2).has_value()); });
    watched->reset();
  }
}

TEST_P(WatcherTest, AnExceptionInTheCallbackIsReportedAndTheWatchGoesOn) {
  std::atomic<int> reported = 0;
  runtime rt(with({.workers = 1, .on_unhandled = [&](const std::exception_ptr&) { ++reported; }}));
  const event_fd event;
  auto watched = rt.watch(event.fd, POLLIN, [&](int) {
    event.take();
    throw std::runtime_error("from a callback");
  });
  ASSERT_TRUE(watched.has_value());
  for (int i = 1; i <= 3; ++i) {
    event.signal();
    ASSERT_TRUE(becomes_true([&] { return reported == i; }));
  }
}

FAIO_FOR_IO_KINDS(WatcherTest);

}  // namespace
}  // namespace faio::scheduler::testing
