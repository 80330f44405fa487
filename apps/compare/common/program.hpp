// program -- what the C++ programs of the comparison share: options as name=value, a clock, and one line of JSON as the answer.
//
//   compare_x fib n=36 workers=2      {"seconds":0.41,"cpu_seconds":0.8,"operations":48315633,"peak_kib":3520}
//
// Rust and Go speak the same: tokio/src/main.rs, go/main.go.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace compare {

[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "compare: %s\n", why.c_str());
  std::exit(1);
}

class options {
 public:
  options(int argc, char** argv) {
    if (argc < 2) fail("the first argument is the workload");
    workload = argv[1];
    for (int i = 2; i < argc; ++i) {
      const std::string given = argv[i];
      const auto equals = given.find('=');
      if (equals == std::string::npos) fail("'" + given + "' is not name=value");
      _given[given.substr(0, equals)] = given.substr(equals + 1);
    }
  }
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise) {
    const auto found = _given.find(name);
    _asked[name] = true;
    return found == _given.end() ? otherwise : found->second;
  }
  [[nodiscard]] std::size_t number(const std::string& name, std::size_t otherwise) {
    const std::string given = text(name, std::to_string(otherwise));
    char* end = nullptr;
    const unsigned long long value = std::strtoull(given.c_str(), &end, 10);
    if (given.empty() || *end != '\0') fail(name + "=" + given + " is not a number");
    return value;
  }
  /// What was given must have been asked for: a misspelt name is not a default.
  void all_asked() const {
    for (const auto& [name, value] : _given)
      if (!_asked.contains(name)) fail("the workload " + workload + " has no option " + name);
  }

  std::string workload;

 private:
  std::map<std::string, std::string> _given;
  std::map<std::string, bool> _asked;
};

using clock = std::chrono::steady_clock;

inline double seconds_since(clock::time_point began) {
  return std::chrono::duration<double>(clock::now() - began).count();
}
/// Of the whole process, user and system.
inline double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(used.ru_utime) + of(used.ru_stime);
}
/// The largest resident set so far. Not ru_maxrss: that begins with what the process that started us had.
inline double peak_kib() {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && file >> kib) return kib;
  }
  fail("no VmHWM in /proc/self/status");
}
inline double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}
/// Of a copy, sorted; `share` from 0 to 1.
inline double percentile(std::vector<double> samples, double share) {
  if (samples.empty()) fail("no samples");
  std::sort(samples.begin(), samples.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1) + 0.5);
  return samples[at];
}

class report {
 public:
  report& add(const std::string& name, double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.9g", value);
    _text += (_text.empty() ? "{\"" : ",\"");
    _text += name;
    _text += "\":";
    _text += digits;
    return *this;
  }
  void print() {
    add("peak_kib", peak_kib());
    std::printf("%s}\n", _text.c_str());
    std::fflush(stdout);
  }

 private:
  std::string _text;
};

/// Runs it and reports the time for each of `operations`.
template <class F>
report timed(std::size_t operations, F&& run) {
  const double cpu = cpu_seconds();
  const auto began = clock::now();
  run();
  const double seconds = seconds_since(began);
  report answer;
  answer.add("seconds", seconds).add("cpu_seconds", cpu_seconds() - cpu);
  answer.add("operations", static_cast<double>(operations));
  answer.add("ns_per_op", seconds * 1e9 / static_cast<double>(operations));
  return answer;
}

inline void expect(bool right, const char* what) {
  if (!right) fail(std::string("wrong result: ") + what);
}

}  // namespace compare
