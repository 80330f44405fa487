// data_race -- accesses to plain fields that nothing orders are found, whatever order they happened to run in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "litmus.hpp"

namespace faio::explorer {
namespace {

using namespace litmus;
using testing::HasSubstr;

// The flag and the data of message passing, the data plain.
report pass_plain_data(std::memory_order store, std::memory_order load) {
  return explore({}, [=](run& run) {
    atomics::plain<int> data{0};
    atomics::atomic<bool> flag{false};
    label(data, "data");
    run.thread("writer", [&] {
      data.write() = 1;
      flag.store(true, store);
    });
    run.thread("reader", [&] {
      if (flag.load(load)) check(data.read() == 1, "the data came with the flag");
    });
    run.join();
  });
}

TEST(DataRace, IsNotFoundWhereReleaseAndAcquireOrder) {
  const report result = pass_plain_data(release, acquire);
  EXPECT_TRUE(result.ok()) << result;
}

TEST(DataRace, IsFoundWhereOneOrderIsTooWeak) {
  for (const auto& [store, load] : {std::pair{relaxed, acquire}, std::pair{release, relaxed}}) {
    const report result = pass_plain_data(store, load);
    EXPECT_EQ(result.kind, failure_kind::data_race) << result;
    EXPECT_THAT(result.message, HasSubstr("reader reads data (data_race_test.cpp:"));
    EXPECT_THAT(result.message, HasSubstr("writer wrote it (data_race_test.cpp:"));
  }
}

// The writer goes on writing after its release. A checker whose clock advances before the release takes the second
// write for covered by it.
TEST(DataRace, IsFoundAfterTheRelease) {
  const report result = explore({}, [](run& run) {
    atomics::plain<int> data{0};
    atomics::atomic<bool> flag{false};
    run.thread("writer", [&] {
      flag.store(true, release);
      data.write() = 1;
    });
    run.thread("reader", [&] {
      if (flag.load(acquire)) check(data.read() >= 0, "any value");
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
}

TEST(DataRace, IsFoundAfterAReleasingReadModifyWrite) {
  const report result = explore({}, [](run& run) {
    atomics::plain<int> data{0};
    atomics::atomic<bool> flag{false};
    run.thread("writer", [&] {
      flag.exchange(true, acq_rel);
      data.write() = 1;
    });
    run.thread("reader", [&] {
      if (flag.load(acquire)) check(data.read() >= 0, "any value");
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
}

TEST(DataRace, IsFoundAfterAReleaseFence) {
  const report result = explore({}, [](run& run) {
    atomics::plain<int> data{0};
    atomics::atomic<bool> flag{false};
    run.thread("writer", [&] {
      atomics::fence(release);
      data.write() = 1;
      flag.store(true, relaxed);
    });
    run.thread("reader", [&] {
      if (flag.load(acquire)) check(data.read() >= 0, "any value");
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
}

TEST(DataRace, IsFoundAfterAnUnlock) {
  const report result = explore({}, [](run& run) {
    atomics::plain<int> data{0};
    atomics::mutex door;
    run.thread("careless", [&] {
      door.lock();
      door.unlock();
      data.write() = 1;
    });
    run.thread("careful", [&] {
      door.lock();
      data.write() = 2;
      door.unlock();
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
}

TEST(DataRace, OfTwoReadsIsNone) {
  const report result = explore({}, [](run& run) {
    atomics::plain<int> data{7};
    for (const char* name : {"one", "two"}) run.thread(name, [&] { check(data.read() == 7, "seven"); });
    run.join();
    data.write() = 8;
  });
  EXPECT_TRUE(result.ok()) << result;
}

TEST(DataRace, OfAReadAndALaterWriteIsFound) {
  const report result = explore({}, [](run& run) {
    atomics::plain<int> data{7};
    label(data, "data");
    run.thread("reader", [&] { check(data.read() == 7, "seven"); });
    run.thread("writer", [&] { data.write() = 8; });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
  EXPECT_THAT(result.message, HasSubstr("writer writes data"));
  EXPECT_THAT(result.message, HasSubstr("reader read it"));
}

// Who sees the flag knows that the writer's fence came first, but learned it by a relaxed load after its own fence: that
// orders nothing. Without a preemption the writer's fence always does come first, so the order of execution hides it.
TEST(DataRace, IsNotCuredByTheOrderOfSeqCstFences) {
  const report result = explore({.preemptions = 0}, [](run& run) {
    atomics::plain<int> data{0};
    atomics::atomic<bool> flag{false};
    run.thread("writer", [&] {
      data.write() = 1;
      atomics::fence(seq_cst);
      flag.store(true, relaxed);
    });
    run.thread("reader", [&] {
      atomics::fence(seq_cst);
      if (flag.load(relaxed)) check(data.read() >= 0, "any value");
    });
    run.join();
  });
  EXPECT_EQ(result.kind, failure_kind::data_race) << result;
}

TEST(DataRace, OnAFieldOfAnyTypeIsChecked) {
  const report result = explore({}, [](run& run) {
    atomics::plain<std::vector<int>> list;
    atomics::mutex door;
    for (const char* name : {"one", "two"})
      run.thread(name, [&] {
        door.lock();
        list.write().push_back(1);
        door.unlock();
      });
    run.join();
    check(list.read().size() == 2, "both are in it");
  });
  EXPECT_TRUE(result.ok()) << result;
}

struct node {
  explicit node(int initial) : value(initial) {}
  atomics::atomic<int> value;
};

report publish(std::memory_order store, std::memory_order load) {
  return explore({}, [=](run& run) {
    atomics::atomic<node*> head{nullptr};
    run.thread("maker", [&] { head.store(atomics::make<node>(5), store); });
    run.thread("user", [&] {
      if (node* seen = head.load(load)) check(seen->value.load(relaxed) == 5, "the node was made before it was seen");
    });
    run.join();
    atomics::destroy(head.load(relaxed));
  });
}

// The construction of an atomic is not atomic.
TEST(DataRace, WithTheConstructionOfAnAtomicIsFound) {
  EXPECT_TRUE(publish(release, acquire).ok());
  EXPECT_EQ(publish(relaxed, acquire).kind, failure_kind::data_race);
  EXPECT_EQ(publish(release, relaxed).kind, failure_kind::data_race);
}

report count_down(std::memory_order order) {
  return explore({}, [=](run& run) {
    struct shared {
      atomics::atomic<int> owners{2};
      atomics::atomic<int> uses{0};
    };
    auto* object = atomics::make<shared>();
    for (const char* name : {"one", "two"})
      run.thread(name, [=] {
        object->uses.fetch_add(1, relaxed);
        if (object->owners.fetch_sub(1, order) == 1) atomics::destroy(object);
      });
    run.join();
  });
}

// Nor is its destruction: the last owner must have acquired what the others did with it.
TEST(DataRace, WithTheDestructionOfAnAtomicIsFound) {
  EXPECT_TRUE(count_down(acq_rel).ok());
  EXPECT_EQ(count_down(release).kind, failure_kind::data_race);
  EXPECT_EQ(count_down(acquire).kind, failure_kind::data_race);
  EXPECT_EQ(count_down(relaxed).kind, failure_kind::data_race);
}

}  // namespace
}  // namespace faio::explorer
