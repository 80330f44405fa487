// model_main -- runs the models of one file:  local_queue_model [--bound N | --random N [--seed S]] [--must-fail] [NAME...], or --list
//
// --must-fail is for mutants: passes when at least one model finds a failure, and shows what it found. A model that cannot be explored, or not to its
// end, has found nothing.
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
  bool list = false;
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
    } else if (word == "--list") {
      out.list = true;
    } else {
      out.names.push_back(word);
    }
  }
  return out;
}

/// Whether the type was seen to go wrong, and not the model or its limits.
bool is_finding(faio::explorer::failure_kind kind) {
  using enum faio::explorer::failure_kind;
  return kind != none && kind != model && kind != incomplete;
}

}  // namespace

int main(int count, char** values) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace faio::explorer;
  const arguments how = parse(count, values);
  std::uint64_t executions = 0;
  int ran = 0;
  int failed = 0;
  failure_kind found = failure_kind::none;
  for (const auto& each : models::models()) {
    if (how.list) {
      std::puts(each.name);
      continue;
    }
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
    std::printf("%-44s %10llu executions %7.2f s  %s", each.name, static_cast<unsigned long long>(result.executions),
                result.seconds, result.ok() ? "clean" : name(result.kind));
    if (result.seed) std::printf("  seed %llu", static_cast<unsigned long long>(*result.seed));
    std::puts("");
    if (!result.ok()) {
      ++failed;
      std::fflush(stdout);
      std::cout << result << '\n';
      if (how.must_fail && is_finding(result.kind)) {
        found = result.kind;
        break;
      }
    }
  }
  if (how.list) return 0;
  std::printf("%d models, %llu executions, %d failed\n", ran, static_cast<unsigned long long>(executions), failed);
  if (ran == 0) return 2;
  if (!how.must_fail) return failed > 0 ? 1 : 0;
  if (found == failure_kind::none) {
    std::puts("nothing found");
    return 1;
  }
  std::printf("found: %s\n", name(found));
  return 0;
}
