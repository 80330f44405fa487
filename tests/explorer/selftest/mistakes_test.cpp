// mistakes -- small textbook algorithms, right and with one mistake each: the right one passes, every mistake is found.
#include <gtest/gtest.h>

#include <array>
#include <mutex>

#include "litmus.hpp"

namespace faio::explorer {
namespace {

using namespace litmus;

// Mutual exclusion by flags alone. Each thread announces itself, then looks for the other; who sees nobody goes in.
report dekker_entry(std::memory_order store, std::memory_order load, bool fence) {
  return explore({}, [=](run& run) {
    std::array<atomics::atomic<bool>, 2> wants;
    atomics::plain<int> inside{0};
    for (const std::size_t self : {0U, 1U})
      run.thread(self == 0 ? "zero" : "one", [&, self] {
        wants[self].store(true, store);
        if (fence) atomics::fence(seq_cst);
        if (!wants[1 - self].load(load)) inside.write() += 1;
        wants[self].store(false, release);
      });
    run.join();
  });
}

TEST(Dekker, ExcludesWithSeqCstOrFences) {
  const report ordered = dekker_entry(seq_cst, seq_cst, false);
  EXPECT_TRUE(ordered.ok()) << ordered;
  const report fenced = dekker_entry(relaxed, acquire, true);
  EXPECT_TRUE(fenced.ok()) << fenced;
}

TEST(Dekker, WeakerOrdersAreFound) {
  EXPECT_EQ(dekker_entry(release, acquire, false).kind, failure_kind::data_race);
  EXPECT_EQ(dekker_entry(seq_cst, acquire, false).kind, failure_kind::data_race);
  EXPECT_EQ(dekker_entry(release, seq_cst, false).kind, failure_kind::data_race);
  // The load does not acquire: the two never meet inside, but nothing orders the second visit after the first.
  EXPECT_EQ(dekker_entry(relaxed, relaxed, true).kind, failure_kind::data_race);
}

struct peterson_orders {
  std::memory_order want = seq_cst;
  std::memory_order turn = seq_cst;
  std::memory_order look = seq_cst;
  std::memory_order leave = release;
  bool exchange = false;  // the turn is taken by a read-modify-write
};

report peterson(peterson_orders orders) {
  return explore({}, [=](run& run) {
    std::array<atomics::atomic<bool>, 2> wants;
    atomics::atomic<std::size_t> turn{0};
    atomics::plain<int> inside{0};
    for (const std::size_t self : {0U, 1U})
      run.thread(self == 0 ? "zero" : "one", [&, self] {
        const std::size_t other = 1 - self;
        wants[self].store(true, orders.want);
        if (orders.exchange) {
          turn.exchange(other, orders.turn);
        } else {
          turn.store(other, orders.turn);
        }
        while (wants[other].load(orders.look) && turn.load(orders.look) == other) atomics::pause();
        inside.write() += 1;
        wants[self].store(false, orders.leave);
      });
    run.join();
    check(inside.read() == 2, "both have been inside");
  });
}

TEST(Peterson, Excludes) {
  const report ordered = peterson({});
  EXPECT_TRUE(ordered.ok()) << ordered;
  // Two exchanges of one word read each other: acq_rel is enough there (A. Williams).
  const report exchanged = peterson({.want = relaxed, .turn = acq_rel, .look = acquire, .exchange = true});
  EXPECT_TRUE(exchanged.ok()) << exchanged;
}

TEST(Peterson, WeakerOrdersAreFound) {
  EXPECT_FALSE(peterson({.want = release, .turn = release, .look = acquire}).ok());
  EXPECT_FALSE(peterson({.turn = release}).ok());
  EXPECT_FALSE(peterson({.look = acquire}).ok());
  EXPECT_FALSE(peterson({.leave = relaxed}).ok());
  EXPECT_FALSE(peterson({.want = relaxed, .turn = relaxed, .look = acquire, .exchange = true}).ok());
  EXPECT_FALSE(peterson({.want = relaxed, .turn = release, .look = acquire, .exchange = true}).ok());
}

enum class ring_mistake {
  none,
  tail_relaxed,
  tail_read_relaxed,
  head_relaxed,
  head_read_relaxed,
  one_too_many,
  head_first
};

// A ring of two slots between one producer and one consumer.
report ring(ring_mistake mistake) {
  return explore({}, [=](run& run) {
    constexpr unsigned capacity = 2;
    constexpr int items = 3;
    std::array<atomics::plain<int>, capacity> slots;
    atomics::atomic<unsigned> head{0};
    atomics::atomic<unsigned> tail{0};
    const auto unless = [=](ring_mistake which, std::memory_order order) { return mistake == which ? relaxed : order; };
    run.thread("producer", [&] {
      const unsigned room = mistake == ring_mistake::one_too_many ? capacity + 1 : capacity;
      for (unsigned i = 0; i < items; ++i) {
        while (i - head.load(unless(ring_mistake::head_read_relaxed, acquire)) >= room) atomics::pause();
        slots[i % capacity].write() = static_cast<int>(i) + 1;
        tail.store(i + 1, unless(ring_mistake::tail_relaxed, release));
      }
    });
    run.thread("consumer", [&] {
      for (unsigned i = 0; i < items; ++i) {
        while (tail.load(unless(ring_mistake::tail_read_relaxed, acquire)) == i) atomics::pause();
        if (mistake == ring_mistake::head_first) head.store(i + 1, release);
        check(slots[i % capacity].read() == static_cast<int>(i) + 1, "items arrive in order, none twice");
        if (mistake != ring_mistake::head_first) head.store(i + 1, unless(ring_mistake::head_relaxed, release));
      }
    });
    run.join();
  });
}

TEST(Ring, PassesEveryItemOn) {
  const report result = ring(ring_mistake::none);
  EXPECT_TRUE(result.ok()) << result;
}

TEST(Ring, EveryMistakeIsFound) {
  for (const ring_mistake mistake :
       {ring_mistake::tail_relaxed, ring_mistake::tail_read_relaxed, ring_mistake::head_relaxed,
        ring_mistake::head_read_relaxed, ring_mistake::one_too_many, ring_mistake::head_first}) {
    const report result = ring(mistake);
    // A full ring that takes one more loses an item even without a race.
    const failure_kind expected = mistake == ring_mistake::one_too_many ? failure_kind::check : failure_kind::data_race;
    EXPECT_EQ(result.kind, expected) << static_cast<int>(mistake) << "\n" << result;
  }
}

struct settings {
  atomics::plain<int> value{42};
};

// The first to need it makes it; later ones must not need the lock.
report lazy_init(std::memory_order publish, std::memory_order look, bool look_again) {
  return explore({}, [=](run& run) {
    atomics::atomic<settings*> instance{nullptr};
    atomics::mutex door;
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        settings* seen = instance.load(look);
        if (seen == nullptr) {
          const std::lock_guard guard(door);
          seen = look_again ? instance.load(relaxed) : nullptr;
          if (seen == nullptr) {
            seen = atomics::make<settings>();
            instance.store(seen, publish);
          }
        }
        check(seen->value.read() == 42, "it was made before it was seen");
      });
    run.join();
    atomics::destroy(instance.load(relaxed));
  });
}

TEST(LazyInit, WorksWithTwoLooksAndReleaseAcquire) {
  const report result = lazy_init(release, acquire, true);
  EXPECT_TRUE(result.ok()) << result;
}

TEST(LazyInit, EveryMistakeIsFound) {
  EXPECT_EQ(lazy_init(relaxed, acquire, true).kind, failure_kind::data_race);
  EXPECT_EQ(lazy_init(release, relaxed, true).kind, failure_kind::data_race);
  EXPECT_EQ(lazy_init(release, acquire, false).kind, failure_kind::leak);
}

report spin_lock(std::memory_order lock, std::memory_order unlock) {
  return explore({}, [=](run& run) {
    atomics::atomic<bool> held{false};
    atomics::plain<int> inside{0};
    for (const char* name : {"one", "two", "three"})
      run.thread(name, [&] {
        while (held.exchange(true, lock)) atomics::pause();
        inside.write() += 1;
        held.store(false, unlock);
      });
    run.join();
    check(inside.read() == 3, "all have been inside");
  });
}

TEST(SpinLock, NeedsAcquireAndRelease) {
  const report result = spin_lock(acquire, release);
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(spin_lock(relaxed, release).kind, failure_kind::data_race);
  EXPECT_EQ(spin_lock(acquire, relaxed).kind, failure_kind::data_race);
}

struct stack_node {
  explicit stack_node(int which) : value(which) {}
  atomics::plain<int> value;
  atomics::atomic<stack_node*> next{nullptr};
};

// A lock-free stack whose pop frees the node at once, while another pop may still be reading its next.
TEST(TreiberStack, FreeingAPoppedNodeAtOnceIsFound) {
  const report result = explore({}, [](run& run) {
    atomics::atomic<stack_node*> top{nullptr};
    for (const int value : {1, 2}) {
      auto* made = atomics::make<stack_node>(value);
      made->next.store(top.load(relaxed), relaxed);
      top.store(made, relaxed);
    }
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        stack_node* mine = top.load(acquire);
        while (mine != nullptr && !top.compare_exchange_strong(mine, mine->next.load(relaxed), acq_rel, acquire)) {
        }
        atomics::destroy(mine);
      });
    run.join();
    check(top.load(relaxed) == nullptr, "both nodes are gone");
  });
  EXPECT_EQ(result.kind, failure_kind::use_after_free) << result;
}

// The idle handshake: a publisher puts work out and looks for sleepers; a worker announces that it sleeps and looks for
// work once more. Both sides store, then load.
report idle_handshake(bool publisher_fence, bool worker_fence, bool look_again) {
  return explore({}, [=](run& run) {
    atomics::atomic<int> work{0};
    atomics::atomic<std::uint32_t> sleeping{0};
    run.thread("publisher", [&] {
      work.store(1, release);
      if (publisher_fence) atomics::fence(seq_cst);
      if (sleeping.load(relaxed) == 1) {
        sleeping.store(0, relaxed);
        atomics::futex_wake_one(&sleeping);
      }
    });
    run.thread("worker", [&] {
      if (work.load(acquire) == 1) return;
      sleeping.store(1, relaxed);
      if (worker_fence) atomics::fence(seq_cst);
      if (look_again && work.load(relaxed) == 1) return;
      while (sleeping.load(relaxed) == 1) atomics::futex_wait(sleeping, 1);
      check(work.load(seq_cst) == 1, "whoever is woken finds work");
    });
    run.join();
  });
}

TEST(IdleHandshake, LosesNoWakeup) {
  const report result = idle_handshake(true, true, true);
  EXPECT_EQ(result.kind, failure_kind::none) << result;
}

TEST(IdleHandshake, AMissingFenceOrLookLosesOne) {
  EXPECT_EQ(idle_handshake(false, true, true).kind, failure_kind::deadlock);
  EXPECT_EQ(idle_handshake(true, false, true).kind, failure_kind::deadlock);
  EXPECT_EQ(idle_handshake(true, true, false).kind, failure_kind::deadlock);
}

}  // namespace
}  // namespace faio::explorer
