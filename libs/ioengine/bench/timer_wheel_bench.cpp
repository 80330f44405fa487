// timer_wheel_bench -- the wheel beside std::set and std::priority_queue, with a million timers pending.
//
// Isolates what adding, cancelling and firing cost the thread that owns the timers, cache misses included: each timer has a
// cache line of its own, as if it sat in a coroutine frame. Leaves out: reading the clock, sleeping, what a completion does.
//
//   operation_timeout  Each operation has a timeout of 30 s and ends long before: add, and cancel 64 operations later. Time
//                      moves 30 us with each, and what is due fires every 64. One add and one cancel an iteration.
//   random_timer       Cancels one of the million, drawn at random, and adds it again with another deadline within the hour.
//                      Time stands still. One cancel and one add an iteration. This measures memory more than code: the
//                      wheel touches four lines of 64 MB (the entry, its neighbours, the new slot's last). A loop that does
//                      only that took 120 to 154 ns on the build machine while it was busy with other work.
//   fire_in_steps      A million timers spread over an hour fire as time moves in steps of 10 ms. The million an iteration, in
//                      ms: which is ns for each timer. The adds are not timed.
//   fire_in_a_jump     The same, with time moving in one jump of an hour.
//   add_and_fire       As fire_in_steps, the adds timed too: the whole life of a timer that nobody cancels.
//
//   timer_wheel_bench [--check] [benchmark's own arguments]     --check: fails if a bar is missed, or was not measured
//
// Times are CPU times: they bear other load on the machine better.
//
// A priority_queue cannot cancel. `lazy` leaves a cancelled timer in the heap until its time has come, so that heap and
// memory grow with the rate of adds; in random_timer it is measured while it grows, before most of the pops that it owes, which
// flatters it. `purging` rebuilds the heap when half of it is cancelled: that bounds the memory, and stops for milliseconds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faio/ioengine/timer_wheel.hpp"

namespace {

using namespace std::chrono_literals;
using faio::ioengine::time_point;
using faio::ioengine::timer_entry;
using faio::ioengine::timer_wheel;
using duration = std::chrono::steady_clock::duration;

constexpr std::size_t pending = 1'000'000;
constexpr std::size_t in_flight = 64;
constexpr duration timeout = 30s;
constexpr duration between_operations = 30us;
constexpr duration horizon = 1h;
constexpr time_point start{100h};

// The contestants. Each has a `timer`, add, cancel, and advance, which appends what fires to `due`.

struct wheel_timers {
  static constexpr const char* name = "wheel";

  struct alignas(64) timer : timer_entry {
    std::vector<timer*>* due = nullptr;
    timer() : timer_entry(&on_fire) {}
    static void on_fire(timer_entry& entry) noexcept {
      auto& self = static_cast<timer&>(entry);
      self.due->push_back(&self);
    }
  };

  void add(timer& t, time_point deadline) {
    t.due = &due;
    wheel.add(t, deadline);
  }
  void cancel(timer& t) { wheel.cancel(t); }
  void advance(time_point now) { wheel.advance(now); }

  std::vector<timer*> due;
  timer_wheel wheel{start};
};

struct set_timers {
  static constexpr const char* name = "set";

  struct timer;
  using sorted = std::set<std::pair<time_point, timer*>>;
  struct alignas(64) timer {
    sorted::iterator where;
  };

  void add(timer& t, time_point deadline) { t.where = set.emplace(deadline, &t).first; }
  void cancel(timer& t) { set.erase(t.where); }
  void advance(time_point now) {
    while (!set.empty() && set.begin()->first <= now) {
      due.push_back(set.begin()->second);
      set.erase(set.begin());
    }
  }

  std::vector<timer*> due;
  sorted set;
};

template <bool Purging>
struct heap_timers {
  static constexpr const char* name = Purging ? "priority_queue_purging" : "priority_queue_lazy";

  struct alignas(64) timer {
    std::uint64_t generation = 0;  // an item of an older one is cancelled
  };
  struct item {
    time_point deadline;
    timer* who;
    std::uint64_t generation;
    bool operator<(const item& other) const { return deadline > other.deadline; }
    [[nodiscard]] bool cancelled() const { return who->generation != generation; }
  };
  struct queue : std::priority_queue<item> {
    void purge() {
      std::erase_if(this->c, [](const item& i) { return i.cancelled(); });
      std::make_heap(this->c.begin(), this->c.end(), this->comp);
    }
  };

  void add(timer& t, time_point deadline) { heap.push({deadline, &t, t.generation}); }
  void cancel(timer& t) {
    ++t.generation;
    ++cancelled;
    if (Purging && cancelled > heap.size() / 2) {
      heap.purge();
      cancelled = 0;
    }
  }
  void advance(time_point now) {
    while (!heap.empty() && heap.top().deadline <= now) {
      const item top = heap.top();
      heap.pop();
      if (top.cancelled()) {
        --cancelled;
        continue;
      }
      ++top.who->generation;
      due.push_back(top.who);
    }
  }

  std::vector<timer*> due;
  queue heap;
  std::size_t cancelled = 0;
};

struct any_world {
  virtual ~any_world() = default;
};

/// A million timers with one of the contestants, and the clock.
template <class Timers>
struct world : any_world {
  using timer = typename Timers::timer;

  std::vector<timer> others{pending};
  std::vector<timer> window{in_flight};
  Timers timers;  // after the timers, so that it goes before them
  time_point now = start;
  std::size_t operations = 0;
  std::mt19937_64 random{42};

  world() {
    timers.due.reserve(pending);
    spread();
  }

  void spread() {
    for (auto& t : others) timers.add(t, some_deadline());
  }

  time_point some_deadline() {
    return now + 1ms + duration(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(horizon.count())));
  }

  void operation_timeout() {
    timer& t = window[operations % in_flight];
    if (operations >= in_flight) timers.cancel(t);
    timers.add(t, now + timeout);
    now += between_operations;
    if (++operations % in_flight == 0) {
      timers.advance(now);
      for (timer* fired : timers.due) timers.add(*fired, now + horizon);
      timers.due.clear();
    }
  }

  void random_timer() {
    timer& t = others[random() % pending];
    timers.cancel(t);
    timers.add(t, some_deadline());
  }
};

std::unique_ptr<any_world> measured;
std::string measured_name;

/// The world of one benchmark: the same for all its repetitions, and gone before the next benchmark makes its own.
template <class Timers>
world<Timers>& world_of(const std::string& pattern) {
  const std::string name = pattern + Timers::name;
  if (measured_name != name) {
    measured.reset();
    measured = std::make_unique<world<Timers>>();
    measured_name = name;
  }
  return static_cast<world<Timers>&>(*measured);
}

template <class Timers>
void operation_timeout(benchmark::State& state) {
  auto& here = world_of<Timers>("operation_timeout");
  // Until the timeouts of the first operations would come due: from then on a lazy heap pops as many as it pushes.
  while (here.now < start + timeout) here.operation_timeout();
  for (auto _ : state) here.operation_timeout();
}

template <class Timers>
void random_timer(benchmark::State& state) {
  auto& here = world_of<Timers>("random_timer");
  for (auto _ : state) here.random_timer();
}

template <class Timers>
void fire(benchmark::State& state, const char* pattern, duration step, bool time_the_adds) {
  auto& here = world_of<Timers>(pattern);
  for (auto _ : state) {
    const auto end = here.now + horizon + 1s;
    while (here.now < end) {
      here.now += step;
      here.timers.advance(here.now);
    }
    if (!time_the_adds) state.PauseTiming();
    if (here.timers.due.size() != pending) state.SkipWithError("not all timers fired");
    here.timers.due.clear();
    here.spread();
    if (!time_the_adds) state.ResumeTiming();
  }
}

/// The usual table, then how many times slower the others are than the wheel, by the medians.
class ratio_reporter : public benchmark::ConsoleReporter {
 public:
  ratio_reporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const auto& run : runs) {
      if (run.aggregate_name != "median") continue;
      const auto& name = run.run_name.function_name;
      const auto slash = name.find('/');
      _nanoseconds[name.substr(0, slash)][name.substr(slash + 1)] = run.GetAdjustedCPUTime();
    }
  }

  void Finalize() override {
    for (const auto& [pattern, by_name] : _nanoseconds) {
      const auto wheel = by_name.find(wheel_timers::name);
      if (wheel == by_name.end()) continue;
      std::printf("\n%s: wheel %.1f ns\n", pattern.c_str(), wheel->second);
      for (const auto& [name, time] : by_name)
        if (name != wheel_timers::name)
          std::printf("  %-24s %8.1f ns   %5.1f x\n", name.c_str(), time, time / wheel->second);
      if (pattern != "operation_timeout" && pattern != "random_timer") continue;
      const double each = wheel->second / 2;
      std::printf("  bar: add, cancel <= 50 ns each: %.1f, %s\n", each, judge(each <= 50));
      for (const char* peer : {set_timers::name, heap_timers<false>::name}) {
        const auto found = by_name.find(peer);
        if (found == by_name.end()) continue;
        const double ratio = found->second / wheel->second;
        std::printf("  bar: >= 5 x faster than %s: %.1f, %s\n", peer, ratio, judge(ratio >= 5));
      }
    }
  }

  /// Whether all bars were looked at, and met.
  [[nodiscard]] bool passed() const { return _met == bars; }

 private:
  static constexpr int bars = 2 * 3;  // of each of two patterns: its time, and two peers

  const char* judge(bool met) {
    _met += met ? 1 : 0;
    return met ? "met" : "MISSED";
  }

  int _met = 0;
  // By pattern and contestant. For the fire patterns: milliseconds a million, the same number.
  std::map<std::string, std::map<std::string, double>> _nanoseconds;
};

template <class Timers>
void register_all() {
  const auto add = [](const char* pattern, auto function, auto... arguments) {
    const std::string name = std::string(pattern) + '/' + Timers::name;
    return benchmark::RegisterBenchmark(name.c_str(), function, arguments...)->Repetitions(5)->DisplayAggregatesOnly();
  };
  add("operation_timeout", &operation_timeout<Timers>)->MinTime(0.2);
  add("random_timer", &random_timer<Timers>)->MinTime(0.2);
  const auto add_fire = [&](const char* pattern, duration step, bool time_the_adds) {
    add(pattern, &fire<Timers>, pattern, step, time_the_adds)
        ->Iterations(1)
        ->Repetitions(3)
        ->Unit(benchmark::kMillisecond);
  };
  add_fire("fire_in_steps", 10ms, false);
  add_fire("fire_in_a_jump", horizon + 1s, false);
  add_fire("add_and_fire", 10ms, true);
}

}  // namespace

int main(int argc, char** argv) {
  const auto end =
      std::remove_if(argv + 1, argv + argc, [](const char* each) { return std::string_view(each) == "--check"; });
  const bool check = end != argv + argc;
  argc = static_cast<int>(end - argv);
  argv[argc] = nullptr;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  register_all<wheel_timers>();
  register_all<set_timers>();
  register_all<heap_timers<false>>();
  register_all<heap_timers<true>>();
  ratio_reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  measured.reset();
  return check && !reporter.passed() ? 1 : 0;
}
