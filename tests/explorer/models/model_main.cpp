// model_main -- runs the models of one file:  local_queue_model [--bound N | --random N [--seed S]] [--must-fail] [NAME...]
//
// --must-fail is for mutants: passes when at least one model finds a failure, and shows what it found.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "model.hpp"

namespace {

struct arguments {
  unsigned bound = 2;
  std::uint64_t random = 0;
  std::optional<std::uint64_t> seed;
  bool must_fail = false;
  std::vector<std::string_view> names;
};

arguments parse(int count, char** values) {
  arguments out;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = values[i];
    const auto number = [&] {
      if (++i >= count) {
        std::cerr << word << " needs a number\n";
        std::exit(2);
      }
      return std::strtoull(values[i], nullptr, 0);
    };
    if (word == "--bound") {
      out.bound = static_cast<unsigned>(number());
    } else if (word == "--random") {
      out.random = number();
    } else if (word == "--seed") {
      out.seed = number();
    } else if (word == "--must-fail") {
      out.must_fail = true;
    } else {
      out.names.push_back(word);
    }
  }
  return out;
}

}  // namespace

int main(int count, char** values) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace faio::explorer;
  const arguments how = parse(count, values);
  std::uint64_t executions = 0;
  int ran = 0;
  int failed = 0;
  for (const auto& each : models::models()) {
    if (!how.names.empty() && std::ranges::find(how.names, each.name) == how.names.end()) continue;
    ++ran;
    options chosen;
    chosen.preemptions = how.bound;
    chosen.stale_reads = each.stale_reads;
    if (how.random > 0) {
      chosen.how = search::random;
      chosen.executions = how.random;
      chosen.seed = how.seed;
    }
    const report result = explore(chosen, each.body);
    executions += result.executions;
    std::printf("%-44s %10llu executions %7.2f s  %s\n", each.name, static_cast<unsigned long long>(result.executions),
                result.seconds, result.ok() ? "clean" : name(result.kind));
    if (!result.ok()) {
      ++failed;
      std::fflush(stdout);
      std::cout << result << '\n';
      if (how.must_fail) break;
    }
  }
  std::printf("%d models, %llu executions, %d failed\n", ran, static_cast<unsigned long long>(executions), failed);
  if (ran == 0) return 2;
  return (failed > 0) == how.must_fail ? 0 : 1;
}
