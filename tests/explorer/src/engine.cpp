// engine -- one execution at a time: its threads, its memory, its objects, and what went wrong in it.
#include "engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

namespace faio::explorer {

engine& engine::instance() {
  static auto* only = new engine;  // never destroyed: see the header
  return *only;
}

void engine::used_outside() {
  std::fputs("explorer: an atomic, plain field or mutex of the explorer was used outside of explore()\n", stderr);
  std::abort();
}

bool engine::execute(const options& how, const std::function<void(run&)>& what, std::uint64_t number, bool recording) {
  if (_current != nullptr) {
    std::fputs("explorer: explore() was called inside of explore()\n", stderr);
    std::abort();
  }
  choices.begin(number);
  space.reset();
  memory.reset(space);
  objects.reset();
  scheduler.begin(how.how == search::random ? unbounded : how.preemptions, how.max_steps);
  spurious_wakes = how.spurious_wakes;
  weak_failures = how.weak_failures;
  _stale_reads = how.stale_reads;
  for (unsigned i = 0; i < max_threads; ++i) {
    ++_periods[i];
    _read_in_period[i].clear();
  }
  failure = failure_kind::none;
  _recording = recording;
  log.clear();
  _body = &what;

  _current = this;
  scheduler.run_body();
  _current = nullptr;

  if (failure == failure_kind::none) {
    heap.reset();
    return true;
  }
  scheduler.abandon_fibers();
  heap.abandon();
  return false;
}

void engine::run_body() {
  std::string thrown;
  bool ended_well = false;
  try {
    run handle;
    (*_body)(handle);
    ended_well = true;
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "something that is not a std::exception";
  }
  if (!ended_well) fail(failure_kind::exception, "the body ended by throwing: " + thrown);
  if (!scheduler.all_joined()) fail(failure_kind::model, "the body ended without run.join()");
  if (choices.fell_short()) fail_to_repeat();
  if (const object* left = objects.alive() != 0 ? objects.any_alive() : nullptr)
    fail(failure_kind::leak, left->name() + ", made by " + scheduler.name(left->write.thread) +
                                 ", was never destroyed; " + std::to_string(objects.alive()) +
                                 " objects are left in all");
}

void engine::fail(failure_kind kind, std::string what) {
  failure = kind;
  message = std::move(what);
  scheduler.abort();
}

std::uint32_t engine::choose(std::uint32_t count, choice what) {
  const std::uint64_t place = scheduler.steps() * max_threads + scheduler.running();
  const std::uint32_t answer = choices.choose(count, what, place);
  if (choices.diverged()) [[unlikely]]
    fail_to_repeat();
  return answer;
}

void engine::fail_to_repeat() {
  fail(failure_kind::model,
       "the execution could not be repeated: the body depends on something that the explorer does not control (a "
       "clock, an "
       "address, a variable that outlives an execution), or the trace belongs to another body");
}

std::uint32_t engine::choose_value(std::uint32_t count) {
  if (count <= 1 || _stale_reads == 0) return 0;
  const std::uint32_t picked = choose(count, choice::stale_value);
  if (picked != 0 && _stale_reads != unbounded) --_stale_reads;
  return picked;
}

bool engine::choose_spurious(unsigned& budget) {
  if (budget == 0 || scheduler.running() == 0) return false;
  if (choose(2, choice::spurious) == 0) return false;
  if (budget != unbounded) --budget;
  return true;
}

unsigned engine::floor(unsigned location, std::memory_order order) const noexcept {
  const unsigned self = scheduler.running();
  const unsigned allowed = memory.floor(self, location, order);
  const last_read& last = _last_reads[self][location];
  const bool worn_out = last.period == _periods[self] && last.timestamp == memory.timestamp(location, allowed) &&
                        last.times_stale >= max_stale_times;
  return worn_out && allowed < memory.newest(location) ? allowed + 1 : allowed;
}

void engine::note_read(unsigned location, unsigned index) {
  const unsigned self = scheduler.running();
  const std::uint32_t timestamp = memory.timestamp(location, index);
  last_read& last = _last_reads[self][location];
  if (last.period != _periods[self]) {
    last = {_periods[self], timestamp, 0};
    _read_in_period[self].push_back(location);
  } else if (last.timestamp != timestamp) {
    last.timestamp = timestamp;
    last.times_stale = 0;
  }
  if (index < memory.newest(location)) ++last.times_stale;
}

void engine::refresh_reads() {
  const unsigned self = scheduler.running();
  for (const unsigned location : _read_in_period[self]) memory.refresh(self, location);
  _read_in_period[self].clear();
  ++_periods[self];
}

std::string engine::here(std::source_location at) const {
  if (at.line() == 0) return "";
  std::string file = at.file_name();
  if (const auto slash = file.rfind('/'); slash != std::string::npos) file.erase(0, slash + 1);
  return file + ":" + std::to_string(at.line());
}

void engine::record(const std::string& text, std::source_location at) {
  std::string line = std::to_string(log.size() + 1);
  line.insert(0, line.size() < 4 ? 4 - line.size() : 0, ' ');
  std::string who = scheduler.name(scheduler.running());
  if (who.size() < 10) who.resize(10, ' ');
  line += "  " + who + "  " + text;
  if (const std::string place = here(at); !place.empty()) {
    if (line.size() < 80) line.resize(80, ' ');
    line += "  " + place;
  }
  log.push_back(std::move(line));
}

}  // namespace faio::explorer
