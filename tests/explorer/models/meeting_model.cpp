// meeting_model -- a task ends, somebody waits for it or lets go of it: nobody waits for ever, and one frees the record.
#include <faio/context/completion_signal.hpp>
#include <faio/context/end_meeting.hpp>
#include <faio/context/result_slot.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

using context::keeper;
using signal_type = context::basic_completion_signal<atomics>;

/// A spawned task's record as live_task has it, with a coroutine's waiting in a plain field: the address that is installed.
struct record {
  context::basic_end_meeting<atomics> meeting;
  atomics::plain<context::result_slot<int>> slot;

  void let_go(keeper which) {
    if (!meeting.let_go(which)) return;
    (void)slot.read().has_exception();  // an exception that nobody took is reported by the last
    atomics::destroy(this);
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

const model all[] = {
    {"the_end_meets_a_waiter", the_end_meets_a_waiter},
    {"the_end_meets_a_look", the_end_meets_a_look},
    {"a_handle_that_is_dropped", a_handle_that_is_dropped},
    {"a_handle_that_goes_while_somebody_waits", a_handle_that_goes_while_somebody_waits},
    {"a_handle_that_writes_and_goes", a_handle_that_writes_and_goes},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
