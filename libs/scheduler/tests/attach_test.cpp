// attach -- workers come and go while the runtime runs; what a leaving one has goes to the others.
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class AttachTest : public scheduler_fixture {};

TEST_P(AttachTest, AnAttachedWorkerHasANewIdAndRunsWhatIsPostedToIt) {
  runtime rt(with({.workers = 1}));
  const auto id = rt.attach_worker();
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(ids(rt), (std::vector<std::size_t>{0, *id}));
  on_worker(rt, *id, [&] { EXPECT_EQ(this_worker::id(), *id); });
  ASSERT_TRUE(rt.detach_worker(*id).has_value());
  EXPECT_EQ(ids(rt), std::vector<std::size_t>{0});
  EXPECT_THROW(rt.post_to(*id, [] {}), std::system_error);
  const auto another = rt.attach_worker();
  ASSERT_TRUE(another.has_value());
  EXPECT_NE(*another, *id);
}

TEST_P(AttachTest, AThousandQueuedTasksOfALeavingWorkerRunElsewhere) {
  for (const auto how : {discipline::fifo, discipline::lifo}) {
    runtime rt(with({.workers = 1, .discipline = how}));
    const auto id = rt.attach_worker();
    ASSERT_TRUE(id.has_value());
    std::atomic<int> ran = 0;
    std::atomic<int> on_leaver = 0;
    std::latch done(1000);
    const auto count = [&] {
      if (this_worker::id() == *id) ++on_leaver;
      ++ran;
      done.count_down();
    };
    test_item in_slot(count);
    test_item in_deque(count);
    occupied other(rt, 0);  // nobody steals meanwhile
    gate filled, go;
    rt.post_to(*id, [&] {
      current_worker()->push_next(in_slot);
      current_worker()->fork(in_deque);
      for (int i = 0; i < 498; ++i) this_worker::post_local(count);
      for (int i = 0; i < 250; ++i) this_worker::post_self(count);
      filled.open();
      go.pass();
    });
    filled.pass();
    for (int i = 0; i < 250; ++i) rt.post_to(*id, count);
    std::jthread detacher([&] { EXPECT_TRUE(rt.detach_worker(*id).has_value()); });
    std::size_t probes = 0;
    ASSERT_TRUE(becomes_true([&] {
      try {
        rt.post_to(*id, [] {});
        ++probes;
        return false;
      } catch (const std::system_error&) {
        return true;
      }
    }));
    go.open();
    detacher.join();
    EXPECT_EQ(rt.metrics().global_queue_length, 1000 + probes);
    other.release();
    done.wait();
    EXPECT_EQ(ran, 1000);
    EXPECT_EQ(on_leaver, 0);
  }
}

TEST_P(AttachTest, PendingTimersOfALeavingWorkerGoOffElsewhereAndNotEarly) {
  runtime rt(with({.workers = 1}));
  const auto id = rt.attach_worker();
  ASSERT_TRUE(id.has_value());
  std::latch done(100);
  std::atomic<int> early = 0;
  on_worker(rt, *id, [&] {
    for (int i = 0; i < 100; ++i) {
      const auto posted = steady::now();
      this_worker::post_self_after(30ms, [&, posted] {
        if (steady::now() - posted < 30ms) ++early;
        done.count_down();
      });
    }
  });
  ASSERT_TRUE(rt.detach_worker(*id).has_value());
  done.wait();
  EXPECT_EQ(early, 0);
}

TEST_P(AttachTest, ALeavingWorkerWithAThousandQueuedTasksAndAHundredOperationsInFlightLosesNone) {
  constexpr std::size_t tasks = 1000;
  constexpr std::size_t operations = 100;
  runtime rt(with({.workers = 1}));
  std::vector<std::pair<int, int>> sockets(operations);
  for (auto& [ours, theirs] : sockets) {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    ours = fds[0];
    theirs = fds[1];
  }
  std::latch done(tasks + operations);
  std::atomic<int> on_leaver = 0;
  const auto count = [&] {
    if (this_worker::id() == 0U) ++on_leaver;
    done.count_down();
  };
  std::vector<watcher> watchers;
  for (auto& [ours, theirs] : sockets) {
    auto watched = rt.watch(ours, POLLIN, [&, fd = ours](int) {
      char byte = 0;
      if (::read(fd, &byte, 1) == 1) count();
    });
    ASSERT_TRUE(watched.has_value());
    watchers.push_back(std::move(*watched));
  }
  on_worker(rt, 0, [] {});  // it was the only one, and has gone through its inbox: all are in flight there
  const auto heir = rt.attach_worker();
  ASSERT_TRUE(heir.has_value());
  occupied other(rt, *heir);  // nobody steals meanwhile
  gate began;
  rt.post_to(0, [&] {
    for (std::size_t i = 0; i < tasks / 2; ++i) {
      this_worker::post_local(count);
      this_worker::post_self(count);
    }
    began.open();
    EXPECT_TRUE(rt.detach_worker(0).has_value());
  });
  ASSERT_TRUE(began.pass());
  ASSERT_TRUE(becomes_true([&] { return rt.shared().io.machine.workers() == 1; }));
  EXPECT_EQ(rt.metrics().global_queue_length, tasks + operations) << "each of them is on its way to another worker";
  for (auto& [ours, theirs] : sockets) ASSERT_EQ(::write(theirs, "x", 1), 1);
  other.release();
  done.wait();
  EXPECT_EQ(on_leaver, 0);
  watchers.clear();
  rt.stop();
  for (auto& [ours, theirs] : sockets) {
    ::close(ours);
    ::close(theirs);
  }
}

TEST_P(AttachTest, WhatALeavingWorkerHandsOverWakesASleeper) {
  runtime rt(with({.workers = 1}));
  const auto id = rt.attach_worker();
  ASSERT_TRUE(id.has_value());
  gate ran;
  rt.post_to(*id, [&] {
    EXPECT_TRUE(asleep(rt, 1));
    this_worker::post_self([&] { ran.open(); });
    EXPECT_TRUE(rt.detach_worker(*id).has_value());
  });
  EXPECT_TRUE(ran.pass());
}

TEST_P(AttachTest, AWorkerMayDetachItselfAndOthersFromATask) {
  runtime rt(with({.workers = 3}));
  on_worker(rt, 1, [&] {
    EXPECT_TRUE(rt.detach_worker(1).has_value());
    EXPECT_TRUE(rt.detach_worker(2).has_value());
    const auto again = rt.detach_worker(2);
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error(), errc::no_such_worker);
  });
  ASSERT_TRUE(becomes_true([&] { return rt.shared().io.machine.workers() == 1; }));
  on_a_worker(rt, [] { EXPECT_EQ(this_worker::id(), 0U); });
}

TEST_P(AttachTest, DetachSaysWhyNot) {
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  const auto refused = [&](std::size_t id, errc why, const std::string& sentence) {
    const auto outcome = rt.detach_worker(id);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error(), why);
    EXPECT_NE(outcome.error().message().find(sentence), std::string::npos) << outcome.error().message();
  };
  refused(12345, errc::no_such_worker, "there is no worker with this id");
  refused(0, errc::last_worker, "the last worker of its kind cannot be detached");
  refused(1, errc::last_worker, "attach another one first, or stop()");
  rt.run_once();
  refused(this_worker::id().value(), errc::hosted_worker, "lives on a thread of the caller's");
  // A host does not count as somebody who would be left.
  refused(0, errc::last_worker, "nobody would run its tasks");
}

TEST_P(AttachTest, AttachingToAStoppedRuntimeIsRefused) {
  runtime rt(with({.workers = 1}));
  rt.stop();
  for (const auto kind : {worker_kind::io, worker_kind::compute}) {
    const auto id = rt.attach_worker(kind);
    ASSERT_FALSE(id.has_value());
    EXPECT_EQ(id.error(), errc::stopped);
  }
}

TEST_P(AttachTest, AttachingToARuntimeThatStopsIsRefused) {
  runtime rt(with({.workers = 1}));
  auto busy = std::make_unique<occupied>(rt, 0);
  std::jthread stopper([&] { EXPECT_TRUE(rt.stop(1min)); });
  ASSERT_TRUE(becomes_true([&] { return rt.shared().stopping(); }));
  for (const auto kind : {worker_kind::io, worker_kind::compute}) {
    const auto id = rt.attach_worker(kind);
    EXPECT_TRUE(!id.has_value() && id.error() == errc::stopped);
  }
  busy.reset();
}

TEST_P(AttachTest, NothingIsLostWhileWorkersComeAndGoUnderLoad) {
  runtime rt(with({.workers = 2}));
  const std::size_t many = scaled(40000);
  std::atomic<std::size_t> ran = 0;
  std::function<void(std::size_t)> tree = [&](std::size_t left) {
    ++ran;
    if (left == 0) return;
    const auto child = [&tree, left] { tree(left - 1); };
    switch (left % 4) {
      case 0:
        rt.post(child);
        break;
      case 1:
        this_worker::post_local(child);
        break;
      case 2:
        this_worker::post_self(child);
        break;
      default:
        this_worker::post_self_after(100us, child);
        break;
    }
  };
  for (std::size_t i = 0; i < many / 40; ++i) rt.post([&] { tree(39); });
  std::size_t churns = 0;
  while (ran < many) {
    const auto id = rt.attach_worker();
    ASSERT_TRUE(id.has_value());
    ASSERT_TRUE(rt.detach_worker(*id).has_value());
    ++churns;
  }
  EXPECT_EQ(ran, many);
  EXPECT_GT(churns, 0U);
  EXPECT_LE(rt.shared().io.stations(), 3U) << "a place that was left is used again";
}

TEST_P(AttachTest, ConcurrentAttachDetachAndStopEnd) {
  for (std::size_t round = 0; round < scaled(100); ++round) {
    runtime rt(with({.workers = 1}));
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        const auto id = rt.attach_worker(t == 0 ? worker_kind::compute : worker_kind::io);
        if (id) (void)rt.detach_worker(*id);
        try {
          rt.post_compute([] {});
        } catch (const std::system_error& error) {
          EXPECT_EQ(error.code(), errc::stopped);
        }
      });
    }
    if (round % 2 == 0) rt.stop();
    threads.clear();
  }
}

TEST_P(AttachTest, AThreadThatIsRefusedIsAnErrorAndNothingHangs) {
  if (sanitized) GTEST_SKIP() << "sanitizers reserve all of the address space";
  // In a child: the limit stays with the process.
  const auto attach_without_memory = [&] {
    runtime rt(with({.workers = 1}));
    on_a_worker(rt, [] {});
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t used = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    const rlimit tight{.rlim_cur = used + (1U << 20), .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &tight) != 0) std::_Exit(3);
    const auto id = rt.attach_worker();
    if (id.has_value()) std::_Exit(4);
    const rlimit wide{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_AS, &wide) != 0) std::_Exit(5);
    if (!rt.attach_worker().has_value()) std::_Exit(6);
    if (!rt.stop(5s)) std::_Exit(7);
    std::_Exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(attach_without_memory(), ::testing::ExitedWithCode(0), "");
}

FAIO_FOR_IO_KINDS(AttachTest);

}  // namespace
}  // namespace faio::scheduler::testing
