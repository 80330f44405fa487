// state_machine_model -- publishers against workers that search, sleep, join and leave: nobody sleeps beside work.
#include <faio/statemachine/state_machine.hpp>

#include "hall.hpp"

namespace faio::explorer::models {
namespace {

/// A semaphore that keeps one wake. Nothing here orders more than a semaphore would.
template <class Policy>
class semaphore_bed {
 public:
  void wake() { post(woken); }
  void dismiss() { post(over); }
  void sleep() {
    while ((_why = _word.exchange(0, std::memory_order_acquire)) == 0) Policy::futex_wait(_word, 0);
  }
  bool dismissed() const { return (_why & over) != 0; }

 private:
  enum : std::uint32_t { woken = 1, over = 2 };
  void post(std::uint32_t why) {
    // A read-modify-write, so that a sleeper who finds two wakes sees what both wakers did.
    _word.fetch_or(why, std::memory_order_release);
    Policy::futex_wake_one(&_word);
  }
  typename Policy::template atomic<std::uint32_t> _word{0};
  std::uint32_t _why = 0;
};

/// Two jobs, and whoever takes one is busy until the other is done: the second worker must not sleep through it.
template <class Policy>
void a_second_job_while_one_computes(run& run) {
  hall<Policy, semaphore_bed<Policy>> here(2);
  run.thread("publisher", [&] {
    here.publish();
    here.publish();
  });
  for (const std::size_t id : {0U, 1U})
    run.thread(id == 0 ? "worker 0" : "worker 1", [&here, id] { here.take_a_job(id); });
  run.join();
  here.expect_done();
}

/// The same with a publisher that is no worker: whoever was alone when it took the first job looks for the second by itself.
void a_second_job_from_outside_while_one_computes(run& run) {
  hall<atomics, semaphore_bed<atomics>> here(2);
  here.let_the_lone_look();
  run.thread("publisher", [&] {
    here.publish_from_outside();
    here.publish_from_outside();
  });
  for (const std::size_t id : {0U, 1U})
    run.thread(id == 0 ? "worker 0" : "worker 1", [&here, id] { here.take_a_job(id); });
  run.join();
  here.expect_done();
}

/// One job from outside, one from a worker that computes on: whoever takes the first is not alone, and must not rely on its look.
void a_job_from_outside_and_one_from_a_worker(run& run) {
  hall<atomics, semaphore_bed<atomics>> here(3);
  here.let_the_lone_look();
  here.put_to_bed(1);
  here.publish_from_outside();                      // wakes worker 1: it searches
  run.thread("computes", [&] { here.publish(); });  // worker 2
  run.thread("worker 0", [&] { here.take_a_job(0); });
  run.thread("worker 1", [&] { here.get_up_and_take_a_job(1); });
  run.join();
  here.expect_done();
}

/// Worker 1 publishes and then leaves or falls asleep, while worker 0 stops searching: if it was alone by then, its own look finds the work (f).
template <class Leave>
void the_lone_one_looks_for_itself(run& run, Leave leave) {
  statemachine::basic_state_machine<atomics> machine(2);
  atomics::atomic<int> work{0};
  machine.set_searching();
  run.thread("worker 0", [&] {
    if (!machine.cancel_searching().alone) return;
    check(work.load(std::memory_order_relaxed) == 1, "the lone one does not see what another published before it went");
  });
  run.thread("worker 1", [&] {
    work.store(1, std::memory_order_relaxed);
    check(!machine.worker_to_notify(), "nobody sleeps");
    leave(machine);
  });
  run.join();
}
void the_lone_one_looks_after_a_sleeper(run& run) {
  the_lone_one_looks_for_itself(run, [](auto& machine) { machine.set_sleeping(1, false); });
}
void the_lone_one_looks_after_a_leaver(run& run) {
  the_lone_one_looks_for_itself(run, [](auto& machine) { machine.retire_worker(1); });
}

/// Who sleeps briefly is told nothing, and looks when it has slept (e).
void a_job_for_one_who_naps(run& run) {
  hall<atomics, semaphore_bed<atomics>> here(1);
  run.thread("publisher", [&] { here.publish(); });
  run.thread("worker", [&] { here.nap_and_take_a_job(0); });
  run.join();
  here.expect_done();
}

/// One naps, and may be the last searcher; the other sleeps as ever. Each takes a job.
void two_jobs_while_one_naps(run& run) {
  hall<atomics, semaphore_bed<atomics>> here(2);
  run.thread("publisher", [&] {
    here.publish();
    here.publish();
  });
  run.thread("naps", [&] { here.nap_and_take_a_job(0); });
  run.thread("sleeps", [&] { here.take_a_job(1); });
  run.join();
  here.expect_done();
}

/// A job for those who stay when a running worker leaves: the publisher may have counted on it.
void a_job_while_a_worker_leaves(run& run) {
  hall<atomics, semaphore_bed<atomics>> here(2);
  run.thread("publisher", [&] { here.publish(); });
  run.thread("stays", [&] { here.take_a_job(0); });
  run.thread("leaves", [&] { here.leave(1); });
  run.join();
  here.expect_done();
}

/// Two jobs for one worker and one that joins while they are published; each takes one.
void a_worker_joins(run& run) {
  hall<atomics, semaphore_bed<atomics>> here(1);
  run.thread("publisher", [&] {
    here.publish();
    here.publish();
  });
  run.thread("worker", [&] { here.take_a_job(0); });
  run.thread("joins", [&] { here.take_a_job(here.join()); });
  run.join();
  here.expect_done();
}

/// Three workers that all want to search at once: the limit is two.
void the_limit_of_searchers(run& run) {
  statemachine::basic_state_machine<atomics> machine(3);
  unsigned searching = 0;
  for (const char* name : {"first", "second", "third"}) {
    run.thread(name, [&] {
      if (!machine.set_searching()) return;
      check(++searching <= 2, "more than half of the workers search");
      machine.searching();  // a step, so that the others can come
      --searching;
      machine.cancel_searching();
    });
  }
  run.join();
  check(machine.searching() == 0, "everybody has stopped searching");
}

template <class Policy>
constexpr auto lone = a_job_for_a_lone_worker<Policy, semaphore_bed<Policy>>;
template <class Policy>
constexpr auto two = a_job_for_two_parking_workers<Policy, semaphore_bed<Policy>>;

const model all[] = {
    {"a_job_for_a_lone_worker", lone<atomics>},
    {"a_job_for_a_lone_worker_fenced", lone<fenced_atomics>},
    {"a_job_for_two_parking_workers", two<atomics>},
    {"a_job_for_two_parking_workers_fenced", two<fenced_atomics>},
    {"a_second_job_while_one_computes", a_second_job_while_one_computes<atomics>},
    {"a_second_job_while_one_computes_fenced", a_second_job_while_one_computes<fenced_atomics>},
    {"a_second_job_from_outside_while_one_computes", a_second_job_from_outside_while_one_computes},
    {"a_job_from_outside_and_one_from_a_worker", a_job_from_outside_and_one_from_a_worker},
    {"the_lone_one_looks_after_a_sleeper", the_lone_one_looks_after_a_sleeper},
    {"the_lone_one_looks_after_a_leaver", the_lone_one_looks_after_a_leaver},
    {"a_job_for_one_who_naps", a_job_for_one_who_naps},
    {"two_jobs_while_one_naps", two_jobs_while_one_naps, 1},
    {"a_job_while_a_worker_leaves", a_job_while_a_worker_leaves},
    {"a_worker_joins", a_worker_joins},
    {"the_limit_of_searchers", the_limit_of_searchers},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
