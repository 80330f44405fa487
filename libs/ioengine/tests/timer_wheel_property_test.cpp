// timer_wheel_property_test -- a million random operations on the wheel and on a sorted reference, which must agree in
// everything that can be seen. Prints its seed; FAIO_SEED=<n> repeats a run.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "faio/ioengine/timer_wheel.hpp"
#include "manual_clock.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAIO_TEST_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define FAIO_TEST_IS_SANITIZED 1
#endif
#endif

namespace {

using namespace std::chrono_literals;
using faio::ioengine::time_point;
using faio::ioengine::timer_entry;
using faio::ioengine::timer_wheel;
using faio::ioengine::testing::manual_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

#ifdef FAIO_TEST_IS_SANITIZED
constexpr int operations = 200'000;
#else
constexpr int operations = 1'000'000;
#endif

std::uint64_t seed() {
  if (const char* given = std::getenv("FAIO_SEED")) return std::stoull(given);
  return std::random_device{}();
}

milliseconds round_up(time_point time) { return std::chrono::ceil<milliseconds>(time.time_since_epoch()); }
milliseconds round_down(time_point time) { return std::chrono::floor<milliseconds>(time.time_since_epoch()); }

/// What a wheel promises, said with a multimap: entries by the millisecond at which they fire, equals in the order of
/// adds.
class reference {
 public:
  explicit reference(time_point now) : _reached(round_down(now)) {}

  void add(int id, time_point deadline) {
    const auto tick = round_up(deadline);
    _where[id] = {_by_time.emplace(std::max(tick, _reached), id), _ticks.insert(tick)};
  }

  bool cancel(int id) {
    const auto found = _where.find(id);
    if (found == _where.end()) return false;
    // Those of a batch are in _batch, not in _by_time; the batch skips who is no longer pending.
    if (found->second.by_time) _by_time.erase(*found->second.by_time);
    _ticks.erase(found->second.tick);
    _where.erase(found);
    return true;
  }

  /// From here on `fires_next` gives who must fire, one after the other.
  void advance(time_point now) {
    _reached = std::max(_reached, round_down(now));
    _batch.clear();
    _position = 0;
    while (!_by_time.empty() && _by_time.begin()->first <= _reached) {
      const auto id = _by_time.begin()->second;
      _batch.push_back(id);
      _where[id].by_time.reset();
      _by_time.erase(_by_time.begin());
    }
  }

  std::optional<int> fires_next() {
    while (_position < _batch.size()) {
      const auto id = _batch[_position++];
      const auto found = _where.find(id);
      // Skips who was cancelled since, or added again: that one is back in _by_time, for the next advance.
      if (found == _where.end() || found->second.by_time) continue;
      cancel(id);
      return id;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool in_batch(int id) const {
    const auto found = _where.find(id);
    return found != _where.end() && !found->second.by_time;
  }
  [[nodiscard]] std::size_t size() const { return _where.size(); }
  [[nodiscard]] std::optional<milliseconds> next_tick() const {
    return _ticks.empty() ? std::nullopt : std::optional(*_ticks.begin());
  }
  [[nodiscard]] milliseconds reached() const { return _reached; }

 private:
  struct place {
    std::optional<std::multimap<milliseconds, int>::iterator> by_time;
    std::multiset<milliseconds>::iterator tick;
  };

  milliseconds _reached;
  std::multimap<milliseconds, int> _by_time;
  std::multiset<milliseconds> _ticks;  // as they were asked for, past ones too
  std::map<int, place> _where;
  std::vector<int> _batch;
  std::size_t _position = 0;
};

class simulation {
 public:
  explicit simulation(std::uint64_t seed) : _random(seed) {
    for (int id = 0; id < population; ++id) _entries.push_back(std::make_unique<entry>(*this, id));
    restart();
  }

  void run(int count) {
    for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
      step();
      check();
    }
  }

  // How much of each kind was met: a simulation that never meets it proves nothing about it.
  std::uint64_t fired = 0, overdue = 0, far = 0, cancelled_in_batch = 0, added_in_completion = 0, day_jumps = 0,
                backwards = 0, spans_crossed = 0, same_tick = 0, restarts = 0;

 private:
  static constexpr int population = 500;
  static constexpr auto span = milliseconds(std::int64_t{1} << 36);

  struct entry : timer_entry {
    simulation& owner;
    int id;
    entry(simulation& o, int i) : timer_entry(&simulation::on_fire), owner(o), id(i) {}
  };

  std::int64_t below(std::int64_t limit) { return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(_random); }
  entry& any_entry() { return *_entries[static_cast<std::size_t>(below(population))]; }

  time_point random_deadline() {
    switch (below(12)) {
      case 0:
        return _clock.now() - nanoseconds(below(5'000'000));
      case 1:
        return _clock.now() - std::chrono::hours(below(1000));
      case 2:
        return _clock.now() + nanoseconds(below(3'000'000));
      case 3:
        return _last_deadline;  // the same millisecond as somebody else
      case 4:
        return below(50) == 0 ? time_point::max() : _clock.now() + 24h * below(1500);
      case 5:
        return time_point(round_up(_clock.now())) + span * below(3) - milliseconds(below(3));
      default:
        return _clock.now() + nanoseconds(below(std::int64_t{1} << (20 + below(37))));  // 1 ms to 2.3 years
    }
  }

  void add(entry& e, bool rearm) {
    const auto deadline = random_deadline();
    if (round_up(deadline) <= _reference->reached()) ++overdue;
    if (round_up(deadline) > _reference->reached() + span) ++far;
    if (round_up(deadline) == round_up(_last_deadline)) ++same_tick;
    _last_deadline = deadline;
    _reference->cancel(e.id);
    _reference->add(e.id, deadline);
    if (rearm)
      _wheel->rearm(e, deadline);
    else
      _wheel->add(e, deadline);
    EXPECT_EQ(e.deadline(), deadline);
  }

  void cancel(entry& e) {
    const bool was_pending = e.pending();
    EXPECT_EQ(_wheel->cancel(e), was_pending);
    EXPECT_EQ(_reference->cancel(e.id), was_pending);
    EXPECT_FALSE(e.pending());
  }

  void touch_one() {
    entry& e = any_entry();
    if (!e.pending())
      add(e, below(2) == 0);
    else if (below(2) == 0)
      cancel(e);
    else
      add(e, true);
  }

  void move_time() {
    const auto before = _clock.now();
    switch (below(16)) {
      case 0: {
        // Back: the wheel must ignore it.
        ++backwards;
        advance_to(before - nanoseconds(below(std::int64_t{1} << (10 + below(45)))));
        _clock.set(before);
        return;
      }
      case 1:
        return advance_to(before);
      case 2:
      case 3:
      case 4:
        if (const auto next = _wheel->next_deadline(); next && *next != time_point::max()) {
          // Just before, at, or just after the next wake-up.
          advance_to(std::max(before, *next - nanoseconds(1) + nanoseconds(below(3))));
        }
        return;
      case 5:
        if (below(40) != 0) return;
        ++day_jumps;
        return advance_to(before + 24h * below(60) + nanoseconds(below(86'400'000'000'000)));
      case 6:
        if (below(400) != 0) return;
        return advance_to(before + span + nanoseconds(below(86'400'000'000'000)));
      default:
        return advance_to(before + nanoseconds(below(std::int64_t{1} << below(34))));  // up to 8 s
    }
  }

  void advance_to(time_point now) {
    const auto before = _reference->reached();
    _clock.set(now);
    _reference->advance(now);
    _latest = std::max(_latest, now);
    if (before / span != _reference->reached() / span) ++spans_crossed;
    const auto fired_before = fired;
    const auto count = _wheel->advance(now);
    EXPECT_EQ(count, fired - fired_before);
    // Nobody whose millisecond has come is left: at most 1 ms late.
    EXPECT_EQ(_reference->fires_next(), std::nullopt) << "an entry that is due did not fire";
  }

  static void on_fire(timer_entry& base) noexcept {
    auto& e = static_cast<entry&>(base);
    e.owner.fire(e);
  }

  void fire(entry& e) {
    ++fired;
    EXPECT_EQ(_reference->fires_next(), std::optional(e.id)) << "fired out of order";
    EXPECT_GE(_latest, e.deadline()) << "fired early";
    EXPECT_FALSE(e.pending());
    const auto size_before = _wheel->size();
    switch (below(8)) {
      case 0:
        add(e, below(2) == 0);
        ++added_in_completion;
        break;
      case 1: {
        // Cancels others until one of them was of this very batch, if there is one among a few.
        for (int tries = 0; tries < 4; ++tries) {
          entry& other = any_entry();
          if (_reference->in_batch(other.id)) ++cancelled_in_batch;
          cancel(other);
        }
        break;
      }
      case 2:
        touch_one();
        ++added_in_completion;
        break;
      case 3:
        EXPECT_FALSE(_wheel->cancel(e));
        break;
      default:
        EXPECT_EQ(_wheel->size(), size_before);
        break;
    }
    check();
  }

  void step() {
    if (below(100'000) == 0 || _clock.now() > time_point(24h * 365 * 200)) return restart();
    if (below(10) < 6)
      touch_one();
    else
      move_time();
  }

  /// Another wheel, at another time; what was pending in the old one is unlinked by its destructor.
  void restart() {
    ++restarts;
    const std::array starts = {time_point(0ns), time_point(-span - 5s), time_point(span - 70ms),
                               time_point(nanoseconds(below(std::int64_t{1} << 60)))};
    _clock.set(starts[static_cast<std::size_t>(below(std::ssize(starts)))]);
    _latest = _last_deadline = _clock.now();
    _wheel = std::make_unique<timer_wheel>(_clock.now());
    _reference = std::make_unique<reference>(_clock.now());
    for (const auto& e : _entries) ASSERT_FALSE(e->pending());
  }

  void check() {
    ASSERT_EQ(_wheel->size(), _reference->size());
    ASSERT_EQ(_wheel->empty(), _reference->size() == 0);
    const auto next = _wheel->next_deadline();
    const auto true_next = _reference->next_tick();
    ASSERT_EQ(next.has_value(), true_next.has_value());
    if (!next) return;
    if (*true_next > round_down(time_point::max())) {
      ASSERT_EQ(*next, time_point::max());
      return;
    }
    ASSERT_LE(*next, time_point(*true_next)) << "whoever sleeps until next_deadline oversleeps";
    // And it moves on: only something overdue may ask for a wake-up now.
    if (*true_next > _reference->reached()) {
      ASSERT_GT(*next, time_point(_reference->reached()));
    }
  }

  std::mt19937_64 _random;
  manual_clock _clock;
  time_point _latest{};
  time_point _last_deadline{};
  std::vector<std::unique_ptr<entry>> _entries;
  std::unique_ptr<reference> _reference;
  std::unique_ptr<timer_wheel> _wheel;  // the last: it goes first, and unlinks the entries
};

TEST(TimerWheelProperty, AgreesWithASortedReferenceOverAMillionRandomOperations) {
  const auto chosen = seed();
  std::cout << "seed " << chosen << " (FAIO_SEED=" << chosen << " repeats it), " << operations << " operations\n";
  RecordProperty("seed", std::to_string(chosen));
  simulation world(chosen);
  world.run(operations);
  if (HasFailure()) return;
  std::cout << "fired " << world.fired << ", overdue " << world.overdue << ", far " << world.far
            << ", same millisecond " << world.same_tick << ", cancelled in their batch " << world.cancelled_in_batch
            << ", added in completions " << world.added_in_completion << ", jumps of days " << world.day_jumps
            << ", clock back " << world.backwards << ", wraps of the top level " << world.spans_crossed << ", wheels "
            << world.restarts << '\n';
  EXPECT_GT(world.fired, 10'000u);
  EXPECT_GT(world.overdue, 1'000u);
  EXPECT_GT(world.far, 100u);
  EXPECT_GT(world.same_tick, 1'000u);
  EXPECT_GT(world.cancelled_in_batch, 100u);
  EXPECT_GT(world.added_in_completion, 1'000u);
  EXPECT_GT(world.day_jumps, 10u);
  EXPECT_GT(world.backwards, 1'000u);
  EXPECT_GT(world.spans_crossed, 0u);
}

TEST(TimerWheelProperty, AnIdleEngineWakesAtMostTwiceForATimerInTenMinutesWhateverWasCancelledBefore) {
  const auto chosen = seed();
  std::cout << "seed " << chosen << '\n';
  std::mt19937_64 random(chosen);
  struct silent : timer_entry {
    silent() : timer_entry([](timer_entry&) noexcept {}) {}
  };
  for (int round = 0; round < 2'000; ++round) {
    manual_clock clock(time_point(nanoseconds(static_cast<std::int64_t>(random() >> 4))));
    timer_wheel wheel(clock.now());
    silent ours, other;
    wheel.add(ours, clock.now() + 10min);
    for (auto others = random() % 50; others > 0; --others) {
      wheel.add(other, clock.now() + nanoseconds(static_cast<std::int64_t>(random() % 600'000'000'000)));
      wheel.cancel(other);
    }
    int wake_ups = 0;
    while (const auto next = wheel.next_deadline()) {
      ASSERT_GT(*next, clock.now());
      clock.set(*next);
      wheel.advance(clock.now());
      ++wake_ups;
    }
    ASSERT_LE(wake_ups, 2);
    ASSERT_EQ(round_up(ours.deadline()), clock.now().time_since_epoch());
  }
}

}  // namespace
