// hall -- workers that follow the rules at the top of state_machine.hpp, for the models of who sleeps and who is woken.
//
// Jobs are a counter: published with release, taken with acquire, and nothing else orders them against the state machine.
// A Bed is where one worker sleeps: wake() by anyone, also before sleep(); sleep() by the worker, may return for no reason;
// dismiss() so that a model ends, after which dismissed() is true for whoever was woken by it.
#pragma once

#include <faio/statemachine/state_machine.hpp>

#include "model.hpp"

namespace faio::explorer::models {

template <class Policy, class Bed>
class hall {
 public:
  explicit hall(std::size_t workers) : _machine(workers) {}

  void publish() {
    _waiting.fetch_add(1, std::memory_order_release);
    wake_one();
  }
  /// A thread that is no worker. Where all but workers publish so, a lone searcher may look for itself.
  void publish_from_outside() {
    _waiting.fetch_add(1, std::memory_order_release);
    if (const auto id = _machine.worker_to_notify_outside()) _beds[*id].wake();
  }
  void let_the_lone_look() { _lone_looks = true; }

  /// Before there are threads: it sleeps already.
  void put_to_bed(std::size_t id) { _machine.set_sleeping(id, false); }
  void get_up_and_take_a_job(std::size_t id) {
    _beds[id].sleep();
    take_a_job(id, !_machine.cancel_sleeping(id));
  }

  /// Works until it has taken a job, or was dismissed; true for a job.
  bool take_a_job(std::size_t id, bool searching = false) {
    for (;;) {
      if (!searching) searching = _machine.set_searching();
      bool found = take();
      bool looked_again = false;
      if (!found) {
        looked_again = _machine.set_sleeping(id, searching).look_again;
        if (looked_again) found = take();
        if (!found) {
          _beds[id].sleep();
          if (_beds[id].dismissed()) return false;
        }
        searching = !_machine.cancel_sleeping(id);
      }
      if (!found) continue;
      if (searching ? leaves_more_to_do() : looked_again) wake_one();
      return true;
    }
  }

  /// The same for one that sleeps for a bounded time first. That is over whenever the explorer goes on with it.
  bool nap_and_take_a_job(std::size_t id) {
    const bool searching = _machine.set_searching();
    if (!take()) {
      _machine.set_sleeping_briefly(id, searching);
      return take_a_job(id, !_machine.cancel_sleeping(id));
    }
    if (searching && leaves_more_to_do()) wake_one();
    return true;
  }

  std::size_t join() { return _machine.add_worker(); }
  void leave(std::size_t id) { _machine.retire_worker(id); }

  /// So that a model ends: nothing more will come for this worker.
  void dismiss(std::size_t id) { _beds[id].dismiss(); }

  void expect_done() { check(_waiting.load(std::memory_order_relaxed) == 0, "a job was not taken"); }

 private:
  bool take() {
    auto n = _waiting.load(std::memory_order_acquire);
    while (n > 0) {
      if (_waiting.compare_exchange_strong(n, n - 1, std::memory_order_acq_rel, std::memory_order_acquire)) return true;
    }
    return false;
  }
  bool leaves_more_to_do() {
    const auto verdict = _machine.cancel_searching();
    if (!verdict.was_last) return false;
    return !_lone_looks || !verdict.alone || _waiting.load(std::memory_order_relaxed) != 0;
  }
  void wake_one() {
    if (const auto id = _machine.worker_to_notify()) _beds[*id].wake();
  }

  statemachine::basic_state_machine<Policy> _machine;
  typename Policy::template atomic<std::uint32_t> _waiting{0};
  std::array<Bed, 3> _beds;
  bool _lone_looks = false;
};

/// One job for two workers that are about to park.
template <class Policy, class Bed>
void a_job_for_two_parking_workers(run& run) {
  hall<Policy, Bed> here(2);
  run.thread("publisher", [&] { here.publish(); });
  for (const std::size_t id : {0U, 1U}) {
    run.thread(id == 0 ? "worker 0" : "worker 1", [&here, id] {
      if (here.take_a_job(id)) here.dismiss(1 - id);
    });
  }
  run.join();
  here.expect_done();
}

/// A lone worker and a publisher: the bare store-load handshake.
template <class Policy, class Bed>
void a_job_for_a_lone_worker(run& run) {
  hall<Policy, Bed> here(1);
  run.thread("publisher", [&] { here.publish(); });
  run.thread("worker", [&] { here.take_a_job(0); });
  run.join();
  here.expect_done();
}

}  // namespace faio::explorer::models
