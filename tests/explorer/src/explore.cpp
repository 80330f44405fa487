// explore -- the loop over executions.
#include "explorer/explore.hpp"

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>

#include "engine.hpp"
#include "trace.hpp"

namespace faio::explorer {
namespace {

using clock = std::chrono::steady_clock;

std::uint64_t seed_of(const options& how) {
  if (const char* given = std::getenv("FAIO_EXPLORER_SEED"); given != nullptr && *given != '\0')
    return std::strtoull(given, nullptr, 0);
  if (how.seed) return *how.seed;
  std::random_device source;
  return std::uint64_t{source()} << 32U | source();
}

// Makes the execution of `which` once more, this time with a log, and describes it.
void tell(report& out, const trace& which, const std::function<void(run&)>& what) {
  engine& e = engine::instance();
  e.choices.replay(which.answers);
  e.execute(which.how, what, 0, true);
  out.kind = e.failure;
  out.message = e.message;
  out.log = e.log;
  out.trace = to_text(which);
}

}  // namespace

report explore(const options& how, const std::function<void(run&)>& what) {
  engine& e = engine::instance();
  report out;
  trace failing{how, {}};
  if (how.how == search::random) {
    out.seed = seed_of(how);
    e.choices.draw(*out.seed);
    failing.how.how = search::exhaustive;
    failing.how.preemptions = unbounded;
  } else {
    e.choices.explore_all();
  }

  const clock::time_point start = clock::now();
  bool complete = false;
  while (!complete && out.executions < how.executions) {
    const bool good = e.execute(how, what, out.executions, false);
    ++out.executions;
    out.steps += e.scheduler.steps();
    if (!good) {
      const failure_kind kind = e.failure;
      const std::string message = e.message;
      failing.answers = e.choices.taken();
      tell(out, failing, what);
      if (out.kind != kind) {
        out.message = std::string(name(kind)) + ": " + message +
                      " -- and when its execution was repeated it ended otherwise (" + name(out.kind) +
                      "): the body depends on something that the explorer does not control";
        out.kind = failure_kind::model;
      }
      break;
    }
    if (how.how == search::exhaustive) complete = !e.choices.advance();
  }
  out.seconds = std::chrono::duration<double>(clock::now() - start).count();
  if (out.ok() && how.how == search::exhaustive && !complete) {
    out.kind = failure_kind::incomplete;
    out.message = "there are more executions than options::executions allows; none of those made failed";
  }
  return out;
}

report replay(std::string_view text, const std::function<void(run&)>& what) {
  report out;
  const std::optional<trace> which = parse_trace(text);
  if (!which) {
    out.kind = failure_kind::model;
    out.message = "this is not a trace: " + std::string(text);
    return out;
  }
  tell(out, *which, what);
  out.executions = 1;
  out.steps = engine::instance().scheduler.steps();
  return out;
}

void check(bool condition, const char* sentence) {
  if (condition) [[likely]]
    return;
  engine& e = engine::executing();
  if (e.recording()) e.record(std::string("<- check failed: ") + sentence);
  e.fail(failure_kind::check, sentence);
}

void run::join() { engine::executing().scheduler.join(); }

void* run::closure_storage(std::size_t size) { return engine::executing().space.allocate(size); }

void run::add_thread(const char* name, void* closure, void (*call)(void*)) {
  engine::executing().scheduler.add(name, closure, call);
}

}  // namespace faio::explorer
