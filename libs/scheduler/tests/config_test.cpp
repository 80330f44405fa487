// config -- a nonsensical value is an error that names its field; the rest does what it says.
#include "faio/scheduler/config.hpp"

#include <pthread.h>
#include <sched.h>

#include "faio/scheduler/available_cpus.hpp"
#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

void refused(const config& wanted, const std::string& field) {
  try {
    const runtime rt(wanted);
    ADD_FAILURE() << field << " was taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("config." + field), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("must"), std::string::npos) << error.what();
  }
}

TEST(Config, ANonsensicalValueIsAnErrorThatNamesItsField) {
  refused({.workers = 1025}, "workers");
  refused({.compute_workers = 1025}, "compute_workers");
  refused({.discipline = static_cast<discipline>(7)}, "discipline");
  refused({.engine = engine_kind::thread}, "engine");
  refused({.engine = static_cast<engine_kind>(99)}, "engine");
  refused({.ring_entries = 0}, "ring_entries");
  refused({.ring_entries = 32769}, "ring_entries");
  refused({.io_interval = 0}, "io_interval");
  refused({.global_queue_interval = 0}, "global_queue_interval");
  refused({.local_queue_capacity = 0}, "local_queue_capacity");
  refused({.local_queue_capacity = 1}, "local_queue_capacity");
  refused({.local_queue_capacity = 257}, "local_queue_capacity");
  refused({.thread_name = ""}, "thread_name");
  refused({.thread_name = "twelve chars"}, "thread_name");
  refused({.stop_grace = -1ns}, "stop_grace");
}

TEST(Config, EverythingHasADefault) {
  runtime rt;
  EXPECT_EQ(rt.metrics().workers.size(), available_cpus());
  EXPECT_NE(rt.metrics().engine, engine_kind::automatic) << "it says which one it took";
  EXPECT_FALSE(rt.metrics().engine_reason.empty());
}

TEST(Config, ByDefaultThereAreAsManyWorkersAsTheContainerMayUse) {
  // On a thread that may use one processor of those that the machine has.
  std::thread([] {
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    CPU_ZERO(&set);
    CPU_SET(first, &set);
    ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
    runtime rt;
    EXPECT_EQ(rt.metrics().workers.size(), 1U);
  }).join();
}

class ConfigTest : public scheduler_fixture {
 protected:
  static std::string thread_name() {
    char name[16] = {};
    ::pthread_getname_np(::pthread_self(), name, sizeof name);
    return name;
  }
  static std::vector<int> processors() {
    cpu_set_t set;
    std::vector<int> all;
    ::sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) all.push_back(cpu);
    }
    return all;
  }
  /// Runs `f` on a thread that may block, which it starts, and returns when it has ended.
  static void on_blocking_thread(runtime& rt, const std::function<void()>& f) {
    std::promise<void> done;
    test_item item([&] {
      f();
      done.set_value();
    });
    ASSERT_TRUE(rt.shared().post_blocking(item));
    done.get_future().get();
  }
};

TEST_P(ConfigTest, TheEngineIsTheOneThatWasAskedFor) {
  runtime rt(with({.workers = 2}));
  EXPECT_EQ(rt.metrics().engine, GetParam());
  for (const std::size_t id : ids(rt)) {
    on_worker(rt, id, [&] { EXPECT_EQ(current_worker()->io().kind(), GetParam()); });
  }
}

TEST_P(ConfigTest, ThreadsHaveTheirNameAndNumber) {
  runtime rt(with({.workers = 2, .compute_workers = 1, .thread_name = "elevenchars"}));
  on_worker(rt, 0, [] { EXPECT_EQ(thread_name(), "elevenchars-0"); });
  on_worker(rt, 1, [] { EXPECT_EQ(thread_name(), "elevenchars-1"); });
  on_worker(rt, 2, [] { EXPECT_EQ(thread_name(), "elevenchars-c2"); });
  on_blocking_thread(rt, [] { EXPECT_EQ(thread_name(), "elevenchars-blo") << "as much as a name may have"; });
  runtime by_default(with({.workers = 1}));
  on_blocking_thread(by_default, [] { EXPECT_EQ(thread_name(), "faio-blocking"); });
}

TEST_P(ConfigTest, PinnedWorkersStayOnOneProcessorEach) {
  const auto mine = processors();
  runtime rt(with({.workers = 3, .pin_threads = true}));
  for (std::size_t id = 0; id < 3; ++id) {
    on_worker(rt, id, [&] { EXPECT_EQ(processors(), std::vector{mine[id % mine.size()]}); });
  }
  // Started from a pinned worker, which they do not inherit.
  std::promise<void> done;
  on_worker(rt, 0, [&] {
    rt.post_compute([&] {
      EXPECT_EQ(processors(), mine);
      done.set_value();
    });
    const auto id = rt.attach_worker();
    ASSERT_TRUE(id.has_value());
    rt.post_to(*id, [&] { EXPECT_EQ(processors().size(), 1U); });
    on_blocking_thread(rt, [&] { EXPECT_EQ(processors(), mine); });
  });
  done.get_future().get();
  // The host's thread is not ours to pin.
  rt.run_once();
  EXPECT_EQ(processors(), mine);
}

TEST_P(ConfigTest, WithoutPinningTheyRunAnywhere) {
  runtime rt(with({.workers = 1}));
  const auto mine = processors();
  on_a_worker(rt, [&] { EXPECT_EQ(processors(), mine); });
}

FAIO_FOR_IO_KINDS(ConfigTest);

}  // namespace
}  // namespace faio::scheduler::testing
