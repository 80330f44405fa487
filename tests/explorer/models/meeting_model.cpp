// meeting_model -- a task ends, somebody waits for it, asks it to stop or lets go of it: nobody waits for ever, and one frees each of its records.
#include <faio/context/completion_signal.hpp>
#include <faio/context/end_meeting.hpp>
#include <faio/context/result_slot.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

using context::keeper;
using signal_type = context::basic_completion_signal<atomics>;

/// What a live_task has while it runs: here how often it was asked to stop.
struct scope {
  atomics::atomic<int> asked{0};
};

/// What join_state has of a task, with a coroutine's waiting in a plain field: the address that is installed.
struct record {
  context::basic_end_meeting<atomics> meeting;
  atomics::plain<context::result_slot<int>> slot;
  scope* running = atomics::make<scope>();

  void let_go(keeper which) {
    scope* const mine = running;
    const auto left = meeting.let_go(which);
    if (left.meeting) {
      (void)slot.read().has_exception();  // an exception that nobody took is reported by the last
      atomics::destroy(this);
    }
    if (left.scope) atomics::destroy(mine);
  }
  /// The handle's owner.
  bool request_stop() {
    if (!meeting.pin()) return false;
    running->asked.fetch_add(1, std::memory_order_relaxed);  // relaxed: counted, nothing more
    scope* const mine = running;
    if (meeting.unpin()) atomics::destroy(mine);
    return true;
  }
};

/// The coroutine, or the thread, that waits: it tells how far it has come.
struct waiter {
  atomics::plain<bool> ready{false};
  atomics::plain<int> got{0};
  signal_type signal;

  [[nodiscard]] std::uintptr_t word() const { return reinterpret_cast<std::uintptr_t>(this); }
};

void take(record& from, waiter& into) { into.got.write() = from.slot.write().take(); }

/// The task: the scope lets go before the waiter is told, as in live_task::ended().
void end(record& of) {
  of.slot.write().set_value(7);
  const auto who = of.meeting.end();
  of.let_go(keeper::scope);
  if (who == decltype(of.meeting)::pending) return;
  auto& waiting = *reinterpret_cast<waiter*>(who);
  check(waiting.ready.read(), "the waiter was resumed before it was ready");
  waiting.signal.mark_ready();  // it goes on
}

/// A handle that is awaited: told by the end, or sees it.
void the_end_meets_a_waiter(run& run) {
  auto* const task = atomics::make<record>();
  auto* const waiting = atomics::make<waiter>();
  run.thread("task", [=] { end(*task); });
  run.thread("handle", [=] {
    waiting->ready.write() = true;
    if (task->meeting.install(waiting->word())) {
      waiting->signal.wait();
      check(task->meeting.has_ended(), "it went on before the task had ended");
    }
    take(*task, *waiting);
    task->let_go(keeper::handle);
    check(waiting->got.read() == 7, "the result is what the task gave");
    atomics::destroy(waiting);
  });
  run.join();
}

/// One that only looks, as done() does, and waits when it is not.
void the_end_meets_a_look(run& run) {
  auto* const task = atomics::make<record>();
  auto* const waiting = atomics::make<waiter>();
  run.thread("task", [=] { end(*task); });
  run.thread("handle", [=] {
    if (task->meeting.has_ended()) take(*task, *waiting);
    task->let_go(keeper::handle);
    atomics::destroy(waiting);
  });
  run.join();
}

/// A handle that is dropped: what its owner asked for before is seen by whoever finds it gone, and one of them frees.
void a_handle_that_is_dropped(run& run) {
  auto* const task = atomics::make<record>();
  atomics::plain<bool> asked{false};
  run.thread("task", [&, task] {
    if (!task->meeting.has_handle()) check(asked.read(), "what was asked for before the handle went is visible");
    end(*task);
  });
  run.thread("handle", [&, task] {
    asked.write() = true;
    task->let_go(keeper::handle);
  });
  run.join();
}

/// A handle that goes while somebody waits: a wait that was given up, and is told all the same. The end finds it with an exchange or without.
void a_handle_that_goes_while_somebody_waits(run& run) {
  auto* const task = atomics::make<record>();
  auto* const waiting = atomics::make<waiter>();
  run.thread("task", [=] { end(*task); });
  run.thread("handle", [=] {
    waiting->ready.write() = true;
    const bool waits = task->meeting.install(waiting->word());
    task->let_go(keeper::handle);
    if (waits) waiting->signal.wait();
    atomics::destroy(waiting);
  });
  run.join();
}

/// An exception, or a value, that the handle leaves in the slot: whoever is last reads it.
void a_handle_that_writes_and_goes(run& run) {
  auto* const task = atomics::make<record>();
  run.thread("task", [=] { task->let_go(keeper::scope); });
  run.thread("handle", [=] {
    task->slot.write().set_value(1);
    task->let_go(keeper::handle);
  });
  run.join();
}

/// A stop request of the handle's while the task ends: the scope is there as long as somebody asks it.
void a_stop_meets_the_end(run& run) {
  auto* const task = atomics::make<record>();
  run.thread("task", [=] { end(*task); });
  run.thread("handle", [=] {
    (void)task->request_stop();
    task->let_go(keeper::handle);
  });
  run.join();
}

/// Two threads ask by one handle, which goes when both have.
void two_stops_meet_the_end(run& run) {
  auto* const task = atomics::make<record>();
  signal_type asked;
  run.thread("task", [=] { end(*task); });
  run.thread("one", [&, task] {
    (void)task->request_stop();
    asked.mark_ready();
  });
  run.thread("handle", [&, task] {
    (void)task->request_stop();
    asked.wait();
    if (!task->request_stop()) check(task->meeting.has_ended(), "nobody is there to be asked before the end");
    task->let_go(keeper::handle);
  });
  run.join();
}

const model all[] = {
    {"the_end_meets_a_waiter", the_end_meets_a_waiter},
    {"the_end_meets_a_look", the_end_meets_a_look},
    {"a_handle_that_is_dropped", a_handle_that_is_dropped},
    {"a_handle_that_goes_while_somebody_waits", a_handle_that_goes_while_somebody_waits},
    {"a_handle_that_writes_and_goes", a_handle_that_writes_and_goes},
    {"a_stop_meets_the_end", a_stop_meets_the_end},
    {"two_stops_meet_the_end", two_stops_meet_the_end},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
