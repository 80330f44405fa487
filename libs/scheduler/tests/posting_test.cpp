// posting -- the posting table: where each post runs, who may take it, what it promises.
#include <array>
#include <cstring>
#include <memory>
#include <set>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class PostingTest : public scheduler_fixture {};

TEST_P(PostingTest, PostWakesAnIdleWorker) {
  runtime rt(with({.workers = 2}));
  for (std::size_t i = 0; i < scaled(1000); ++i) {
    const bool settled = i % 50 != 0 || asleep(rt, 2);
    ASSERT_TRUE(settled);
    on_a_worker(rt, [] {});
  }
}

TEST_P(PostingTest, PostsFromManyThreadsRunOnceEach) {
  runtime rt(with({.workers = 4}));
  const std::size_t each = scaled(10000);
  std::atomic<std::size_t> ran = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < each; ++i) rt.post([&] { ++ran; });
      });
    }
  }
  EXPECT_TRUE(rt.stop());
  EXPECT_EQ(ran, 8 * each);
}

TEST_P(PostingTest, PostToRunsOnThatWorkerAndIsNeverStolen) {
  runtime rt(with({.workers = 4}));
  for (const std::size_t target : ids(rt)) {
    std::atomic<int> elsewhere = 0;
    std::latch done(100);
    {
      const occupied busy(rt, target);
      for (int i = 0; i < 100; ++i) {
        rt.post_to(target, [&, i] {
          if (this_worker::id() != target) ++elsewhere;
          // The others look for work once more while the rest waits here, find none that is theirs, and sleep.
          if (i == 0) {
            for (int j = 0; j < 10; ++j) this_worker::post_local([] {});
            EXPECT_TRUE(asleep(rt, 3));
          }
          done.count_down();
        });
      }
      ASSERT_TRUE(asleep(rt, 3));
    }
    done.wait();
    EXPECT_EQ(elsewhere, 0);
  }
}

TEST_P(PostingTest, PostToWakesItsWorkerAndNoOther) {
  runtime rt(with({.workers = 4}));
  const auto all = ids(rt);
  ASSERT_TRUE(at_rest(rt));
  const auto before = rt.metrics();
  on_worker(rt, all[2], [] {});
  ASSERT_TRUE(at_rest(rt));
  const auto after = rt.metrics();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(after.workers[i].tasks_run - before.workers[i].tasks_run, i == 2 ? 1U : 0U);
    EXPECT_EQ(after.workers[i].wakes - before.workers[i].wakes, i == 2 ? 1U : 0U);
  }
}

TEST_P(PostingTest, PostToAWorkerThatIsNotThereIsRefused) {
  runtime rt(with({.workers = 1}));
  try {
    rt.post_to(77, [] {});
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), errc::no_such_worker);
    EXPECT_NE(std::string(error.what()).find("metrics() lists the ids"), std::string::npos) << error.what();
  }
}

TEST_P(PostingTest, PostSelfIsNeverStolen) {
  runtime rt(with({.workers = 4}));
  std::atomic<int> elsewhere = 0;
  std::latch done(200);
  on_a_worker(rt, [&] {
    const auto here = this_worker::id();
    for (int i = 0; i < 200; ++i) {
      this_worker::post_self([&, here] {
        if (this_worker::id() != here) ++elsewhere;
        done.count_down();
      });
    }
    for (int i = 0; i < 10; ++i) this_worker::post_local([] {});  // wakes the others
    EXPECT_TRUE(becomes_true([&] { return rt.shared().io.machine.sleeping() == 3; }));
  });
  done.wait();
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(PostingTest, PostLocalCanBeStolen) {
  runtime rt(with({.workers = 2}));
  on_a_worker(rt, [&] {
    gate ran;
    std::atomic<bool> same = true;
    const auto here = this_worker::id();
    this_worker::post_local([&, here] {
      same = this_worker::id() == here;
      ran.open();
    });
    EXPECT_TRUE(ran.pass());
    EXPECT_FALSE(same);
  });
}

TEST_P(PostingTest, PostSelfAfterStaysOnItsWorkerAndIsNotEarly) {
  runtime rt(with({.workers = 4}));
  for (const std::size_t id : ids(rt)) {
    std::promise<std::pair<std::size_t, steady::duration>> ran;
    on_worker(rt, id, [&] {
      const auto posted = steady::now();
      this_worker::post_self_after(
          5ms, [&ran, posted] { ran.set_value({this_worker::id().value(), steady::now() - posted}); });
    });
    const auto [where, after] = ran.get_future().get();
    EXPECT_EQ(where, id);
    EXPECT_GE(after, 5ms);
  }
}

TEST_P(PostingTest, PostSelfAfterIsNotStolenWhenItIsDue) {
  runtime rt(with({.workers = 4}));
  constexpr int many = 20;
  std::atomic<int> elsewhere = 0;
  std::atomic<bool> first = true;
  std::latch done(many);
  ASSERT_TRUE(asleep(rt, 4));
  on_worker(rt, 0, [&] {
    for (int i = 0; i < many; ++i) {
      this_worker::post_self_after(1ms, [&] {
        if (this_worker::id() != 0U) ++elsewhere;
        // The others have all the time that they need to take the rest.
        if (first.exchange(false)) {
          EXPECT_TRUE(asleep(rt, 3));
        }
        done.count_down();
      });
    }
    const auto due = steady::now() + 5ms;
    EXPECT_TRUE(becomes_true([&] { return steady::now() >= due; }));  // so all of them go off together
  });
  done.wait();
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(PostingTest, PostsAreHandedOverAtTheEndOfTheirTurn) {
  runtime rt(with({.workers = 2}));
  ASSERT_TRUE(asleep(rt, 2));
  gate ran;
  on_worker(rt, 0, [&] {
    // Its worker has more to do, for long: somebody else is told.
    this_worker::post_self([&] { EXPECT_TRUE(ran.pass()) << "kept back"; });
    rt.post([&] { ran.open(); });
  });
  EXPECT_TRUE(ran.pass());
  on_worker(rt, 0, [] {});
}

TEST_P(PostingTest, PostsOfOneTurnAreHandedOverTogether) {
  runtime rt(with({.workers = 1}));
  std::latch done(10);
  std::size_t inside = 99;
  on_a_worker(rt, [&] {
    for (int i = 0; i < 10; ++i) rt.post([&] { done.count_down(); });
    inside = rt.metrics().global_queue_length;
  });
  done.wait();
  EXPECT_EQ(inside, 0U);
}

TEST_P(PostingTest, WithoutBatchingEachPostIsHandedOverAtOnce) {
  runtime rt(with({.workers = 1, .batch_posts = false}));
  std::latch done(10);
  std::size_t inside = 99;
  on_a_worker(rt, [&] {
    for (int i = 0; i < 10; ++i) rt.post([&] { done.count_down(); });
    inside = rt.metrics().global_queue_length;
  });
  done.wait();
  EXPECT_EQ(inside, 10U);
}

TEST_P(PostingTest, APostFromACompletionIsHandedOverWithoutATask) {
  runtime rt(with({.workers = 1}));
  gate ran;
  test_item item([&] { ran.open(); });
  test_timer timer([&] { rt.shared().post(item); });
  on_a_worker(rt, [&] { current_worker()->arm(timer, steady::now() + 2ms); });
  EXPECT_TRUE(ran.pass());
}

TEST_P(PostingTest, TheIdIsEmptyOutside) {
  runtime rt(with({.workers = 2}));
  EXPECT_EQ(this_worker::id(), std::nullopt);
  std::set<std::size_t> seen;
  for (const std::size_t id : ids(rt)) on_worker(rt, id, [&] { seen.insert(this_worker::id().value()); });
  EXPECT_EQ(seen.size(), 2U);
}

TEST_P(PostingTest, CallsForWorkersSayWhatToUseElsewhere) {
  const auto says = [](auto&& call, const std::string& what) {
    try {
      call();
      ADD_FAILURE() << what << " did not throw";
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  says([] { this_worker::post_local([] {}); }, "this_worker::post_local");
  says([] { this_worker::post_self([] {}); }, "this_worker::post_self");
  says([] { this_worker::post_self_after(1ms, [] {}); }, "this_worker::post_self_after");
  runtime rt(with({.workers = 1, .compute_workers = 1}));
  std::promise<void> done;
  rt.post_compute([&] {
    says([] { this_worker::post_local([] {}); }, "not for compute workers");
    says([] { this_worker::post_self_after(1ms, [] {}); }, "not for compute workers");
    done.set_value();
  });
  done.get_future().get();
}

template <class Runtime>
concept has_delayed_compute = requires(Runtime& rt) { rt.post_compute_after(1ms, [] {}); };
static_assert(!has_delayed_compute<runtime>, "delayed compute work does not exist");

TEST_P(PostingTest, CallablesMayBeMoveOnlyReturnSomethingAndBeOverAligned) {
  runtime rt(with({.workers = 1}));
  std::promise<int> moved;
  rt.post([&, value = std::make_unique<int>(7)] {
    moved.set_value(*value);
    return 3;
  });
  EXPECT_EQ(moved.get_future().get(), 7);

  struct alignas(256) wide {
    std::array<std::byte, 256> bytes{};
  };
  for (int i = 0; i < 20; ++i) {
    std::promise<std::uintptr_t> address;
    rt.post([&, value = wide{}] { address.set_value(reinterpret_cast<std::uintptr_t>(&value)); });
    EXPECT_EQ(address.get_future().get() % 256, 0U);
    std::promise<std::uintptr_t> later;
    rt.post_after(0ms, [&, value = wide{}] { later.set_value(reinterpret_cast<std::uintptr_t>(&value)); });
    EXPECT_EQ(later.get_future().get() % 256, 0U);
  }
}

TEST_P(PostingTest, ACallableThatCannotBeCopiedInLeavesNothingBehind) {
  struct refuses {
    refuses() = default;
    refuses(const refuses& /*other*/) { throw std::runtime_error("no copy"); }
    void operator()() const {}
  };
  runtime rt(with({.workers = 1}));
  const refuses f;
  EXPECT_THROW(rt.post(f), std::runtime_error);
  on_a_worker(rt, [] {});
}

class counting_scope final : public ambient_scope {
 public:
  std::atomic<int> held = 0;
  std::atomic<int> ever = 0;
  void retain() noexcept override {
    ++held;
    ++ever;
  }
  void release() noexcept override { --held; }
};

TEST_P(PostingTest, WhatIsPostedBelongsToTheScopeThatPostedIt) {
  counting_scope scope;
  {
    runtime rt(with({.workers = 2}));
    std::latch done(2);
    this_thread() = {.scope = &scope, .runtime = &rt.shared()};  // as if it ran a task of this runtime
    rt.post([&] {
      EXPECT_EQ(this_thread().scope, &scope);
      this_worker::post_local([&] {
        EXPECT_EQ(this_thread().scope, &scope);
        done.count_down();
      });
      done.count_down();
    });
    rt.post_after(1h, [] {});  // is dropped, and lets go of it
    this_thread() = {};
    done.wait();
    on_a_worker(rt, [] { EXPECT_EQ(this_thread().scope, nullptr); });
  }
  EXPECT_EQ(scope.ever, 3);
  EXPECT_EQ(scope.held, 0);
}

TEST_P(PostingTest, SeveralRuntimesPostToEachOther) {
  runtime one(with({.workers = 2, .thread_name = "one"}));
  runtime two(with({.workers = 2, .thread_name = "two"}));
  const std::size_t many = scaled(2000);
  std::latch done(static_cast<std::ptrdiff_t>(many));
  for (std::size_t i = 0; i < many; ++i) {
    one.post([&] {
      EXPECT_EQ(&current_worker()->runtime(), &one.shared());
      two.post([&] {
        EXPECT_EQ(&current_worker()->runtime(), &two.shared());
        done.count_down();
      });
    });
  }
  done.wait();
  EXPECT_TRUE(one.stop());  // before the other goes, to which it posts
}

TEST_P(PostingTest, AStoppedRuntimeRefusesEveryPost) {
  runtime rt(with({.workers = 1}));
  const std::size_t id = ids(rt)[0];
  EXPECT_TRUE(rt.stop());
  const auto refused = [](auto&& post) {
    try {
      post();
      ADD_FAILURE() << "it was taken";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), errc::stopped);
      EXPECT_NE(std::string(error.what()).find("make a new runtime_context"), std::string::npos) << error.what();
    }
  };
  refused([&] { rt.post([] {}); });
  refused([&] { rt.post_compute([] {}); });
  refused([&] { rt.post_after(1ms, [] {}); });
  refused([&] { rt.post_to(id, [] {}); });
}

TEST_P(PostingTest, PostsRefusedWhileTheRuntimeStopsAreRefusedToOutsidersOnly) {
  runtime rt(with({.workers = 2}));
  const auto all = ids(rt);
  auto busy = std::make_unique<occupied>(rt, all[0]);
  std::jthread stopper([&] { EXPECT_TRUE(rt.stop(1min)); });
  ASSERT_TRUE(becomes_true([&] { return rt.shared().stopping(); }));
  EXPECT_THROW(rt.post([] {}), std::system_error);
  EXPECT_THROW(rt.post_to(all[0], [] {}), std::system_error);
  EXPECT_THROW(rt.post_compute([] {}), std::system_error);
  EXPECT_THROW(rt.post_after(1ms, [] {}), std::system_error);
  busy.reset();
}

FAIO_FOR_IO_KINDS(PostingTest);

}  // namespace
}  // namespace faio::scheduler::testing
