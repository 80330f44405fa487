// lifetime -- leaks, double frees, and every way to touch what is gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "litmus.hpp"

namespace faio::explorer {
namespace {

using namespace litmus;
using testing::HasSubstr;

struct node {
  atomics::atomic<int> count{0};
  atomics::plain<int> value{0};
  atomics::mutex door;
};

TEST(Lifetime, WhatIsMadeAndDestroyedIsFine) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<node*> box{nullptr};
    run.thread("maker", [&] { box.store(atomics::make<node>(), release); });
    run.thread("taker", [&] { atomics::destroy(box.exchange(nullptr, acquire)); });
    run.join();
    atomics::destroy(box.load(relaxed));
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Lifetime, ALeakIsFoundInTheOneExecutionThatHasIt) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<node*> box{nullptr};
    // Both may find the box empty: the second store loses the first node.
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        if (box.load(acquire) == nullptr) box.store(atomics::make<node>(), release);
      });
    run.join();
    atomics::destroy(box.load(relaxed));
  });
  EXPECT_EQ(result.kind, failure_kind::leak) << result;
  EXPECT_THAT(result.message, HasSubstr("node"));
}

TEST(Lifetime, ADoubleFreeIsFound) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<node*> box{atomics::make<node>()};
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        node* mine = box.load(acquire);
        box.store(nullptr, release);
        atomics::destroy(mine);
      });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::double_free) << result;
}

TEST(Lifetime, DestroyingWhatWasNeverMadeIsFound) {
  const report result = explore({}, [](run& run) {
    alignas(node) std::byte place[sizeof(node)];
    run.thread("only", [&] { atomics::destroy(reinterpret_cast<node*>(place)); });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::double_free) << result;
}

report use_after_free(void (*use)(node&)) {
  return explore({}, [use](run& run) {
    node* shared = atomics::make<node>();
    atomics::atomic<bool> gone{false};
    run.thread("destroyer", [&] {
      atomics::destroy(shared);
      gone.store(true, release);
    });
    run.thread("late", [&] {
      if (gone.load(acquire)) use(*shared);
    });
    run.join();
  });
}

TEST(Lifetime, UseAfterFreeIsFoundForEveryKindOfMember) {
  const auto expect_found = [](const report& result) {
    EXPECT_EQ(result.kind, failure_kind::use_after_free) << result;
    EXPECT_THAT(result.message, HasSubstr("late uses"));
    EXPECT_THAT(result.message, HasSubstr("which destroyer has destroyed"));
  };
  expect_found(use_after_free([](node& late) { late.count.fetch_add(1); }));
  expect_found(use_after_free([](node& late) { late.count.store(1); }));
  expect_found(use_after_free([](node& late) { check(late.count.load() == 0, "zero"); }));
  expect_found(use_after_free([](node& late) { late.count.notify_all(); }));
  expect_found(use_after_free([](node& late) { late.value.write() = 1; }));
  expect_found(use_after_free([](node& late) { check(late.value.read() == 0, "zero"); }));
  expect_found(use_after_free([](node& late) { late.door.lock(); }));
}

// The completion flag lives on the waiter's stack: the store lets the waiter go, the notify comes too late.
void wait_on_own_stack(run& run, void (*finish)(atomics::atomic<std::uint32_t>&)) {
  atomics::atomic<atomics::atomic<std::uint32_t>*> place{nullptr};
  run.thread("waiter", [&] {
    atomics::atomic<std::uint32_t> done{0};
    label(done, "done");
    place.store(&done, release);
    while (done.load(acquire) == 0) atomics::futex_wait(done, 0);
  });
  run.thread("worker", [&] {
    atomics::atomic<std::uint32_t>* done = nullptr;
    while ((done = place.load(acquire)) == nullptr) atomics::pause();
    finish(*done);
  });
  run.join();
}

TEST(Lifetime, ANotifyOfADeadAtomicIsFound) {
  const report result = explore({}, [](run& run) {
    wait_on_own_stack(run, [](atomics::atomic<std::uint32_t>& done) {
      done.store(1, release);
      done.notify_all();
    });
  });
  // The first execution already shows it: the notify came before the destruction, but nothing made it.
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
  EXPECT_THAT(result.message, HasSubstr("waiter destroys done, worker used it"));
}

TEST(Lifetime, AUseOfALocalObjectAfterItsScopeIsFound) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<atomics::atomic<int>*> place{nullptr};
    atomics::atomic<bool> left{false};
    run.thread("host", [&] {
      {
        atomics::atomic<int> local{0};
        label(local, "local");
        place.store(&local, release);
      }
      left.store(true, release);
    });
    run.thread("guest", [&] {
      if (left.load(acquire)) place.load(acquire)->notify_one();
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::use_after_destroy) << result;
  EXPECT_THAT(result.message, HasSubstr("guest uses local"));
  EXPECT_THAT(result.message, HasSubstr("which host has destroyed"));
}

TEST(Lifetime, AWakeByAddressAloneIsFine) {
  const report result = explore({.preemptions = unbounded}, [](run& run) {
    wait_on_own_stack(run, [](atomics::atomic<std::uint32_t>& done) {
      const void* address = &done;
      done.store(1, release);
      atomics::futex_wake_all(address);
    });
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Lifetime, DestroyingWhatAThreadWaitsOnIsFound) {
  const report result = explore({.spurious_wakes = 0}, [](run& run) {
    std::optional<atomics::atomic<std::uint32_t>> word(std::in_place, 0U);
    atomics::atomic<bool> sleeping{false};
    run.thread("waiter", [&] {
      sleeping.store(true);
      atomics::futex_wait(*word, 0);
    });
    run.thread("destroyer", [&] {
      if (sleeping.load()) word.reset();
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::misuse) << result;
  EXPECT_THAT(result.message, HasSubstr("while a thread waits for it"));
}

TEST(Lifetime, AnObjectLeftBehindInOtherMemoryIsALeakToo) {
  const report result = explore({}, [](run& run) {
    // Placed in storage that nobody ends: what a forgotten `delete` leaves.
    alignas(node) static std::byte place[sizeof(node)];
    ::new (place) node;
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::leak) << result;
}

}  // namespace
}  // namespace faio::explorer
