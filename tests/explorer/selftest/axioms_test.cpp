// axioms -- random little programs: the explorer shows exactly the outcomes that the rules of the standard allow.
#include "axioms.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>

#include "litmus.hpp"

namespace faio::explorer::litmus {
namespace {

using what = instruction::what;

std::set<std::string> outcomes_by_exploring(const listing& program) {
  std::set<std::string> out;
  const report result = explore({.preemptions = unbounded}, [&](run& run) {
    std::array<atomics::atomic<int>, 2> memory;
    std::vector<std::vector<int>> read(program.size());
    static constexpr std::array names{"T0", "T1", "T2", "T3"};
    for (std::size_t t = 0; t < program.size(); ++t)
      run.thread(names.at(t), [&, t] {
        for (const instruction& each : program[t]) {
          auto& location = memory.at(static_cast<std::size_t>(each.location));
          int expected = 0;
          switch (each.kind) {
            case what::load:
              read[t].push_back(location.load(each.order));
              break;
            case what::store:
              location.store(each.value, each.order);
              break;
            case what::add:
              read[t].push_back(location.fetch_add(each.value, each.order));
              break;
            case what::cas:
              location.compare_exchange_strong(expected, each.value, each.order, each.failure);
              read[t].push_back(expected);
              break;
            case what::fence:
              atomics::fence(each.order);
              break;
          }
        }
      });
    run.join();
    std::string text;
    for (const auto& values : read)
      for (const int value : values) text += std::to_string(value) + " ";
    for (auto& location : memory) text += "| " + std::to_string(location.load(relaxed)) + " ";
    out.insert(text);
  });
  EXPECT_TRUE(result.ok()) << result;
  return out;
}

class generator {
 public:
  explicit generator(std::uint64_t seed) : _random(seed) {}

  listing program() {
    listing out(2 + pick(3));
    const std::size_t length = 5 + pick(3);
    for (std::size_t i = 0; i < length; ++i)
      out[i < out.size() ? i : pick(out.size())].push_back(any(static_cast<int>(i) + 1));
    return out;
  }

 private:
  std::size_t pick(std::size_t count) { return _random() % count; }
  template <std::size_t N>
  std::memory_order pick(const std::array<std::memory_order, N>& from) {
    return from[pick(N)];
  }

  instruction any(int value) {
    static constexpr std::array loads{relaxed, acquire, seq_cst};
    static constexpr std::array stores{relaxed, release, seq_cst};
    static constexpr std::array updates{relaxed, acquire, release, acq_rel, seq_cst};
    static constexpr std::array fences{acquire, release, acq_rel, seq_cst, seq_cst};
    instruction out{.kind = what::load, .location = static_cast<int>(pick(2)), .value = value};
    switch (pick(12)) {
      default:
        out.order = pick(loads);
        return out;
      case 0:
      case 1:
      case 2:
      case 3:
        out.kind = what::store;
        out.order = pick(stores);
        return out;
      case 4:
        out.kind = what::add;
        out.order = pick(updates);
        out.value = 10 * value;
        return out;
      case 5:
        out.kind = what::cas;
        out.order = pick(updates);
        out.failure = pick(loads);
        return out;
      case 6:
      case 7:
        out.kind = what::fence;
        out.location = 0;
        out.order = pick(fences);
        return out;
    }
  }

  std::mt19937_64 _random;
};

TEST(Axioms, RandomProgramsHaveExactlyTheOutcomesOfTheStandard) {
  std::uint64_t seed = 20240;
  if (const char* given = std::getenv("FAIO_EXPLORER_SEED")) seed = std::strtoull(given, nullptr, 0);
  generator make(seed);
  std::size_t outcomes = 0;
  std::size_t beyond = 0;
  constexpr int programs = 500;
  for (int i = 0; i < programs; ++i) {
    const listing program = make.program();
    const auto explored = outcomes_by_exploring(program);
    ASSERT_EQ(explored, outcomes_by_axioms(program, reach::explorer)) << "seed " << seed << "\n" << to_text(program);
    outcomes += explored.size();
    if (explored != outcomes_by_axioms(program, reach::language)) ++beyond;
  }
  std::printf("  %d programs, %zu outcomes; %zu programs have outcomes that are out of the explorer's reach\n",
              programs, outcomes, beyond);
}

}  // namespace
}  // namespace faio::explorer::litmus
