// scheduler -- the threads of an execution, who of them may run, and the choice of who does.
#include "scheduler.hpp"

#include <exception>

#include "engine.hpp"

namespace faio::explorer {

void scheduler::begin(unsigned preemptions, unsigned max_steps) {
  _threads[0] = {};
  _count = 1;
  _joined = 1;
  _running = 0;
  _preemptions = preemptions;
  _max_steps = max_steps;
  _steps = 0;
  _plain_accesses = 0;
  _writes = 0;
}

fiber& scheduler::fiber_of(unsigned who) {
  if (!_fibers[who])
    _fibers[who] = std::make_unique<fiber>(who == 0 ? &scheduler::body_main : &scheduler::fiber_main, this);
  return *_fibers[who];
}

void scheduler::run_body() {
  fiber root;
  _root = &root;
  fiber::switch_to(root, fiber_of(0));
  _root = nullptr;
}

void scheduler::body_main(void* self) {
  auto& me = *static_cast<scheduler*>(self);
  for (;;) {  // once for each execution
    me._engine.run_body();
    fiber::switch_to(me.fiber_of(0), *me._root);
  }
}

void scheduler::fiber_main(void* self) {
  auto& me = *static_cast<scheduler*>(self);
  for (;;) {  // once for each execution
    const thread& who = me._threads[me._running];
    std::string thrown;
    bool ended_well = false;
    try {
      who.call(who.closure);
      ended_well = true;
    } catch (const std::exception& error) {
      thrown = error.what();
    } catch (...) {
      thrown = "something that is not a std::exception";
    }
    if (!ended_well) me._engine.fail(failure_kind::exception, std::string(who.name) + " ended by throwing: " + thrown);
    me.finish();
  }
}

void scheduler::abort() {
  fiber::switch_to(fiber_of(_running), *_root);
  std::terminate();  // nobody resumes a failed execution
}

void scheduler::abandon_fibers() {
  for (std::unique_ptr<fiber>& each : _fibers)
    if (each) _abandoned.push_back(std::move(each));
}

void scheduler::add(const char* name, void* closure, void (*call)(void*)) {
  if (_running != 0) _engine.fail(failure_kind::model, "a thread of the model tried to add a thread");
  if (_count == max_threads)
    _engine.fail(failure_kind::model, "more than " + std::to_string(max_threads - 1) + " threads in one execution");
  thread& made = _threads[_count];
  made = {};
  made.name = name;
  made.closure = closure;
  made.call = call;
  made.chosen = true;
  ++_count;
}

void scheduler::join() {
  if (_running != 0) _engine.fail(failure_kind::model, "only the body may join");
  const unsigned first = _joined;
  for (unsigned i = first; i < _count; ++i) _engine.memory.fork(0, i);
  _joined = _count;
  if (first == _count) return;
  give_way();
  for (unsigned i = first; i < _count; ++i) _engine.memory.join(0, i);
}

void scheduler::point() {
  if (_running == 0) return;  // the body runs alone
  thread& self = _threads[_running];
  if (!self.chosen && _preemptions != 0) offer_preemption();
  self.chosen = false;
  ++self.steps;
  count_step();
}

void scheduler::offer_preemption() {
  candidates options;
  unsigned found = 0;
  options[found++] = _running;
  for (unsigned i = 1; i < _count; ++i)
    if (i != _running && eligible(_threads[i])) options[found++] = i;
  const unsigned next = options[_engine.choose(found, choice::preempt)];
  if (next == _running) return;
  if (_preemptions != unbounded) --_preemptions;
  go_on_with(next);
}

void scheduler::count_step() {
  if (++_steps <= _max_steps) return;
  _engine.fail(failure_kind::livelock, "more than " + std::to_string(_max_steps) +
                                           " steps: the threads run for ever, or options::max_steps is too low");
}

void scheduler::count_plain_access() {
  constexpr std::uint64_t to_a_step = 100;
  const std::uint64_t most = to_a_step * _max_steps;
  if (++_plain_accesses <= most) return;
  _engine.fail(failure_kind::livelock, "more than " + std::to_string(most) + " accesses to plain fields: " +
                                           name(_running) + " runs for ever without a step");
}

void scheduler::pause() {
  if (_running == 0) return;
  count_step();
  thread& self = _threads[_running];
  // Pausing several times in a row, as a growing back-off does, is one pause.
  if (self.ever_paused && self.steps_at_pause == self.steps) return;
  self.needs_write = self.ever_paused && self.foreign_at_pause == foreign_writes(self);
  self.owed = self.ever_paused ? ready() & ~self.excused : 0;
  self.excused = ~ready() | 1U << _running;
  self.ever_paused = true;
  self.steps_at_pause = self.steps;
  self.foreign_at_pause = foreign_writes(self);
  self.all_steps_at_pause = _steps;
  self.paused = true;
  give_way();
  self.paused = false;
}

scheduler::thread_set scheduler::ready() const noexcept {
  thread_set out = 0;
  for (unsigned i = 1; i < _count; ++i)
    if (_threads[i].now == state::ready) out |= 1U << i;
  return out;
}

bool scheduler::eligible(const thread& who) const noexcept {
  if (who.now != state::ready) return false;
  if (!who.paused) return true;
  if ((who.owed & ready()) != 0) return false;
  if (who.needs_write) return foreign_writes(who) != who.foreign_at_pause;
  return _steps != who.all_steps_at_pause;
}

// S4: those with the fewest idle turns since the last write.
unsigned scheduler::idle(candidates& out) {
  unsigned found = 0;
  unsigned fewest = idle_rounds;
  for (unsigned i = 1; i < _count; ++i) {
    thread& who = _threads[i];
    if (who.now != state::ready) continue;
    if (who.idle_since != _writes) {
      who.idle_since = _writes;
      who.idle_turns = 0;
    }
    if (who.idle_turns < fewest) {
      fewest = who.idle_turns;
      found = 0;
    }
    if (who.idle_turns == fewest && fewest != idle_rounds) out[found++] = i;
  }
  if (found == 0) return 0;
  return fewest == 0 ? found : 1;
}

// The running thread cannot go on: somebody else, for free.
void scheduler::give_way() {
  candidates options;
  unsigned found = 0;
  bool unfinished = false;
  bool spinning = false;
  for (unsigned i = 1; i < _count; ++i) {
    const thread& who = _threads[i];
    if (who.now != state::finished) unfinished = true;
    if (who.now == state::ready) spinning = true;
    if (eligible(who)) options[found++] = i;
  }
  if (!unfinished) return go_on_with(0);
  if (found == 0 && spinning) {
    found = idle(options);
    if (found == 0) _engine.fail(failure_kind::livelock, "no thread can get further: " + waiting());
    const unsigned next = options[_engine.choose(found, choice::next_thread)];
    ++_threads[next].idle_turns;
    return go_on_with(next);
  }
  if (found == 0) _engine.fail(failure_kind::deadlock, "every thread waits: " + waiting());
  go_on_with(options[_engine.choose(found, choice::next_thread)]);
}

void scheduler::go_on_with(unsigned next) {
  const unsigned previous = _running;
  _running = next;
  for (unsigned i = 1; i < _count; ++i) {
    _threads[i].excused |= 1U << next;
    _threads[i].owed &= ~(1U << next);
  }
  _threads[next].chosen = true;
  if (next != previous) fiber::switch_to(fiber_of(previous), fiber_of(next));
}

void scheduler::finish() {
  _threads[_running].now = state::finished;
  wrote();  // whoever spins until this thread is done has something to look at
  if (_engine.recording()) _engine.record("ends");
  give_way();
}

void scheduler::block_on(const void* address, operations::kind what) {
  thread& self = _threads[_running];
  self.now = state::blocked;
  self.waits_for = address;
  self.waits_kind = what;
  if (_running == 0) _engine.fail(failure_kind::deadlock, "the body waits while no thread runs: " + waiting());
  give_way();
  self.waits_for = nullptr;
}

void scheduler::unblock(const void* address, bool free) noexcept {
  for (unsigned i = 1; i < _count; ++i) {
    thread& who = _threads[i];
    if (who.waits_for == address && who.waits_kind == operations::kind::mutex)
      who.now = free ? state::ready : state::blocked;
  }
}

unsigned scheduler::wake(const void* address, bool all) {
  candidates waiting_here;
  unsigned found = 0;
  for (unsigned i = 1; i < _count; ++i) {
    const thread& who = _threads[i];
    if (who.now == state::blocked && who.waits_for == address && who.waits_kind == operations::kind::atomic)
      waiting_here[found++] = i;
  }
  if (found == 0) return 0;
  if (!all) {
    waiting_here[0] = waiting_here[_engine.choose(found, choice::waiter)];
    found = 1;
  }
  for (unsigned i = 0; i < found; ++i) _threads[waiting_here[i]].now = state::ready;
  return found;
}

bool scheduler::somebody_waits_on(const void* address) const noexcept {
  for (unsigned i = 1; i < _count; ++i)
    if (_threads[i].now == state::blocked && _threads[i].waits_for == address) return true;
  return false;
}

std::string scheduler::waiting() const {
  std::string out;
  for (unsigned i = 0; i < _count; ++i) {
    const thread& who = _threads[i];
    if (who.now == state::finished || (i == 0 && who.now == state::ready)) continue;
    if (!out.empty()) out += ", ";
    out += who.name;
    if (who.now != state::blocked) {
      out += " spins";
      continue;
    }
    const object* what = _engine.objects.find(who.waits_for, who.waits_kind);
    out += " waits for " + (what != nullptr ? what->name() : std::string("an object that is gone"));
    if (what == nullptr) continue;
    if (what->kind == operations::kind::mutex)
      out += what->held ? std::string(", held by ") + _threads[what->holder].name : std::string(", which is free");
    else
      out += " to change (a lost wake-up?)";
  }
  return out;
}

}  // namespace faio::explorer
