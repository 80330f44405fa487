// group_model -- who leaves last, alone or by weight: exactly one is told, sees what all others did, and may destroy everything.
#include <faio/context/completion_signal.hpp>
#include <faio/context/group_counter.hpp>
#include <faio/context/join_counter.hpp>
#include <faio/context/result_slot.hpp>
#include <faio/queue/deque.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

using slot = atomics::plain<context::result_slot<int>>;

/// What block_on waits for: it goes away as soon as the waiter has been told.
struct tracker {
  explicit tracker(std::uint32_t inside) : counter(inside) {}
  context::basic_group_counter<atomics> counter;
  context::basic_completion_signal<atomics> all_ended;
  std::array<slot, 3> results;

  void end_with(std::size_t which) {
    results[which].write().set_value(static_cast<int>(which));
    if (counter.leave()) all_ended.mark_ready();
  }
  void wait_for(std::size_t members) {
    all_ended.wait();
    for (std::size_t i = 0; i < members; ++i) {
      check(results[i].read().has_value(), "the waiter was told before everybody had ended");
      check(results[i].write().take() == static_cast<int>(i), "a result is not what its task gave");
    }
  }
};

void add_waiter(run& run, tracker* of, std::size_t members) {
  run.thread("waiter", [of, members] {
    of->wait_for(members);
    atomics::destroy(of);
  });
}

/// Two that are inside from the beginning.
void two_leave(run& run) {
  auto* const group = atomics::make<tracker>(2U);
  run.thread("first", [=] { group->end_with(0); });
  run.thread("second", [=] { group->end_with(1); });
  add_waiter(run, group, 2);
  run.join();
}

/// Three, so that the one in the middle meets both a crowd and the last.
void three_leave(run& run) {
  auto* const group = atomics::make<tracker>(3U);
  run.thread("first", [=] { group->end_with(0); });
  run.thread("second", [=] { group->end_with(1); });
  run.thread("third", [=] { group->end_with(2); });
  add_waiter(run, group, 3);
  run.join();
}

/// One that is alone lets another in, as a spawn does, and may leave before or after it. Who spawns many takes `unused` more counts at once, and gives them
/// back at the end of its run.
void lets_another_in(run& run, std::uint32_t unused) {
  auto* const group = atomics::make<tracker>(1U);
  atomics::atomic<bool> spawned{false};
  run.thread("parent", [&, group] {
    group->counter.enter(1 + unused);
    spawned.store(true, std::memory_order_release);  // as a queue hands a task over
    if (unused != 0) check(!group->counter.leave(unused), "it is still inside itself");
    group->end_with(0);
  });
  run.thread("child", [&, group] {
    while (!spawned.load(std::memory_order_acquire)) atomics::pause();
    group->end_with(1);
  });
  add_waiter(run, group, 2);
  run.join();
}
void one_lets_another_in(run& run) { lets_another_in(run, 0); }
void one_prepays_for_others(run& run) { lets_another_in(run, 2); }

/// The same, when the parent has ended elsewhere before the thread on which it spawned comes to that.
void what_was_prepaid_is_given_back_last(run& run) {
  auto* const group = atomics::make<tracker>(3U);  // the parent, and two that are left over
  run.thread("parent", [=] { group->end_with(0); });
  run.thread("thread", [=] {
    group->results[1].write().set_value(1);
    if (group->counter.leave(2)) group->all_ended.mark_ready();
  });
  add_waiter(run, group, 2);
  run.join();
}

/// A fork of three as promise.cpp has it: the children wait in a worker's deque, weights are plain numbers of whoever runs them.
struct fork {
  static constexpr std::size_t children = 3;
  context::basic_join_counter<atomics> counter{children};
  std::array<atomics::plain<std::uint32_t>, children> weights;
  std::array<slot, children> results;
};

class workshop {
 public:
  workshop() {
    for (auto& each : _fork->weights) each.write() = 1;
    _deque.push(1);
    _deque.push(2);
    _deque.release_owner();
  }

  /// The worker that forked: it has passed into the child that is not in the deque.
  void owner() { run_and_follow(0); }
  void thief() {
    if (const auto stolen = _deque.steal()) arrive(run_child(*stolen));
  }
  void expect_one_last() const { check(_last == 1, "exactly one child must be the last"); }

 private:
  std::uint32_t run_child(std::size_t which) {
    _fork->results[which].write().set_value(static_cast<int>(which));
    return _fork->weights[which].read();
  }
  /// A child has ended: a sibling that is still here goes on with both weights.
  void run_and_follow(std::size_t first) {
    std::uint32_t weight = run_child(first);
    while (const auto sibling = _deque.pop()) {
      _fork->weights[*sibling].write() += weight;
      weight = run_child(*sibling);
    }
    if (_fork->counter.is_all(weight)) {
      expect_all();  // nothing was stolen: no atomic step
    } else {
      arrive(weight);
    }
  }
  void arrive(std::uint32_t weight) {
    if (_fork->counter.arrive(weight)) expect_all();
  }
  /// The last: the fork is in the frame of the coroutine that goes on now, which may end.
  void expect_all() {
    ++_last;
    for (auto& each : _fork->results) check(each.read().has_value(), "a child had not ended when the last was told");
    atomics::destroy(_fork);
  }

  fork* const _fork = atomics::make<fork>();
  queue::deque<std::size_t, atomics> _deque{2};
  int _last = 0;
};

/// One thief takes one child, or none.
void a_fork_and_a_thief(run& run) {
  workshop here;
  run.thread("owner", [&] { here.owner(); });
  run.thread("thief", [&] { here.thief(); });
  run.join();
  here.expect_one_last();
}

/// Each child on a worker of its own, perhaps.
void a_fork_and_two_thieves(run& run) {
  workshop here;
  run.thread("owner", [&] { here.owner(); });
  run.thread("first", [&] { here.thief(); });
  run.thread("second", [&] { here.thief(); });
  run.join();
  here.expect_one_last();
}

const model all[] = {
    {"two_leave", two_leave},
    {"three_leave", three_leave},
    {"one_lets_another_in", one_lets_another_in},
    {"one_prepays_for_others", one_prepays_for_others},
    {"what_was_prepaid_is_given_back_last", what_was_prepaid_is_given_back_last},
    {"a_fork_and_a_thief", a_fork_and_a_thief},
    {"a_fork_and_two_thieves", a_fork_and_two_thieves, 2},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
