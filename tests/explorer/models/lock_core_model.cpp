// lock_core_model -- those who take and give, overtake and are called, against stop requests and ends: one at a time, and nobody is forgotten.
#include <faio/sync/lock_core.hpp>

#include "line_waiter.hpp"

namespace faio::explorer::models {
namespace {

using sync::wait_state;
/// It is handed over after one time in vain, once.
struct tuning {
  static constexpr std::uint32_t patience = 1;
  static constexpr std::uint32_t shortest_series = 1;
  static constexpr std::uint32_t longest_series = 1;
};
using lock_type = sync::basic_lock_core<atomics, tuning>;
using waiter = line_waiter<lock_type::waiter>;

/// One that may be in line: how it ended.
wait_state wait_for(lock_type& from, waiter& me, wait_state now) {
  for (; now == wait_state::queued; now = from.come(me)) {
    me.wait();
    if (me.state() != wait_state::called) return me.state();
  }
  return now;
}

/// As a coroutine or a thread does it: without the line, then in it.
void take(lock_type& from) {
  if (from.try_take()) return;
  waiter me;
  check(wait_for(from, me, from.take_or_wait(me)) == wait_state::granted, "nobody canceled it");
}

/// In line, while the lock is held.
void into_the_line(lock_type& lock, waiter& one) { check(lock.take_or_wait(one) == wait_state::queued, "it is held"); }

/// Called, and has not come yet.
void into_the_line_and_called(lock_type& lock, waiter& one) {
  check(lock.try_take(), "it is free");
  into_the_line(lock, one);
  lock.give();
}

void cancel(lock_type& lock, waiter& one) {
  if (lock.cancel(one)) one.wake();
}

void check_free(lock_type& lock) {
  check(lock.try_take(), "it is free");
  lock.give();
  check(lock.try_take(), "and nobody is in line or called");
}

void go_through(lock_type& lock, atomics::plain<int>& counter) {
  take(lock);
  ++counter.write();
  lock.give();
}

/// Whoever has the lock is alone, and sees what the one before it wrote.
void mutual_exclusion(run& run) {
  lock_type lock;
  atomics::plain<int> counter{0};
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] { go_through(lock, counter); });
  }
  run.join();
  check(counter.read() == 2, "both went in");
  check_free(lock);
}

/// One who holds it, one who waits and one who comes.
void owner_and_two_contenders(run& run) {
  lock_type lock;
  atomics::plain<int> counter{0};
  check(lock.try_take(), "it is free");
  run.thread("owner", [&] {
    ++counter.write();
    lock.give();
  });
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] { go_through(lock, counter); });
  }
  run.join();
  check(counter.read() == 3, "all went in");
  check_free(lock);
}

/// The same, with one who only tries.
void trying(run& run) {
  lock_type lock;
  atomics::plain<int> counter{0};
  int entered = 2;
  check(lock.try_take(), "it is free");
  run.thread("owner", [&] {
    ++counter.write();
    lock.give();
  });
  run.thread("waits", [&] { go_through(lock, counter); });
  run.thread("tries", [&] {
    if (!lock.try_take()) return;
    ++counter.write();
    ++entered;
    lock.give();
  });
  run.join();
  check(counter.read() == entered, "each who entered was alone");
  check_free(lock);
}

/// The first in line is overtaken once, and then handed the lock; the one behind it is not.
void handed_over(run&) {
  lock_type lock;
  waiter first;
  waiter second;
  check(lock.try_take(), "it is free");
  into_the_line(lock, first);
  into_the_line(lock, second);
  lock.give();
  check(first.state() == wait_state::called && lock.try_take(), "it is called, and overtaken");
  check(lock.come(first) == wait_state::queued, "in vain");
  lock.give();
  check(first.state() == wait_state::granted && !lock.try_take(), "it has it, whether it runs or not");
  lock.give();
  check(second.state() == wait_state::called, "it is the next");
  check(lock.come(second) == wait_state::granted, "and takes it");
  lock.give();
  check_free(lock);
}

/// However often it is given before the called one comes, nobody else is woken.
void one_is_called_at_a_time(run&) {
  lock_type lock;
  waiter first;
  waiter second;
  check(lock.try_take(), "it is free");
  into_the_line(lock, first);
  into_the_line(lock, second);
  for (int i = 0; i < 3; ++i) {
    lock.give();
    check(first.state() == wait_state::called && second.state() == wait_state::queued, "only the first is called");
    check(lock.try_take(), "it is overtaken");
  }
  lock.give();
  for (waiter* each : {&first, &second}) {
    check(lock.come(*each) == wait_state::granted, "it is free");
    lock.give();
  }
  check_free(lock);
}

/// One that takes it again and again, against one in line: it comes in.
void overtaken_and_handed_over(run& run) {
  lock_type lock;
  atomics::plain<int> counter{0};
  waiter one;
  check(lock.try_take(), "it is free");
  into_the_line(lock, one);
  run.thread("hammers", [&] {
    for (int i = 0; i < 2; ++i) {
      ++counter.write();
      lock.give();
      take(lock);
    }
    lock.give();
  });
  run.thread("waits", [&] {
    check(wait_for(lock, one, wait_state::queued) == wait_state::granted, "nobody canceled it");
    ++counter.write();
    lock.give();
  });
  run.join();
  check(counter.read() == 3, "each was alone");
  check_free(lock);
}

/// One that gives way goes behind the one that is called, although the lock is free; all come in.
void gives_way(run& run) {
  lock_type lock;
  atomics::plain<int> counter{0};
  waiter one;
  into_the_line_and_called(lock, one);
  run.thread("called", [&] {
    check(wait_for(lock, one, wait_state::queued) == wait_state::granted, "nobody canceled it");
    ++counter.write();
    lock.give();
  });
  run.thread("gives way", [&] {
    waiter me;
    if (lock.wait_behind_others(me)) {
      check(wait_for(lock, me, wait_state::queued) == wait_state::granted, "nobody canceled it");
    } else {
      take(lock);
    }
    ++counter.write();
    lock.give();
  });
  run.thread("other", [&] { go_through(lock, counter); });
  run.join();
  check(counter.read() == 3, "all went in");
  check_free(lock);
}

void gives_way_to_nobody(run&) {
  lock_type lock;
  waiter me;
  check(!lock.wait_behind_others(me), "nobody waits");
  check(lock.try_take() && !lock.wait_behind_others(me), "nor when it is held");
  lock.give();
  check_free(lock);
}

/// It goes behind one that waits, for a lock that is never given, and is asked to give up.
void gives_way_and_is_canceled(run& run) {
  lock_type lock;
  waiter first;
  waiter one;
  check(lock.try_take(), "it is free");
  into_the_line(lock, first);
  run.thread("gives way", [&] {
    const wait_state now = lock.wait_behind_others(one) ? wait_state::queued : lock.take_or_wait(one);
    check(wait_for(lock, one, now) == wait_state::canceled, "it was given nothing");
  });
  run.thread("canceler", [&] { cancel(lock, one); });
  run.join();
  lock.give();
  check(lock.come(first) == wait_state::granted, "the first is called");
  lock.give();
  check_free(lock);
}

/// It is given while the only waiter is asked to give up, before the line or in it or called: it has it, or nobody.
void canceled_while_given(run& run) {
  lock_type lock;
  atomics::plain<int> written{0};
  waiter one;
  check(lock.try_take(), "it is free");
  run.thread("taker", [&] {
    if (wait_for(lock, one, lock.take_or_wait(one)) != wait_state::granted) return;
    check(written.read() == 1, "what the giver did is visible");
    lock.give();
  });
  run.thread("giver", [&] {
    written.write() = 1;
    lock.give();
  });
  run.thread("canceler", [&] { cancel(lock, one); });
  run.join();
  check_free(lock);
}

/// Called and asked to give up, with one behind it and one who overtakes: those who want it get it.
void called_and_canceled(run& run) {
  lock_type lock;
  waiter one;
  into_the_line_and_called(lock, one);
  run.thread("called", [&] {
    if (wait_for(lock, one, wait_state::queued) == wait_state::granted) lock.give();
  });
  run.thread("canceler", [&] { cancel(lock, one); });
  run.thread("other", [&] {
    take(lock);
    lock.give();
  });
  run.join();
  check_free(lock);
}

/// Called and overtaken by one who keeps the lock: the stop request alone must end the wait.
void canceled_and_never_given(run& run) {
  lock_type lock;
  waiter one;
  into_the_line_and_called(lock, one);
  check(lock.try_take(), "it is overtaken");
  run.thread("called",
             [&] { check(wait_for(lock, one, wait_state::queued) == wait_state::canceled, "it was given nothing"); });
  run.thread("canceler", [&] { cancel(lock, one); });
  run.join();
  lock.give();
  check_free(lock);
}

/// The same before the line.
void canceled_before_the_line(run& run) {
  lock_type lock;
  waiter one;
  check(lock.try_take(), "it is free");
  run.thread("taker", [&] {
    check(wait_for(lock, one, lock.take_or_wait(one)) == wait_state::canceled, "it was given nothing");
  });
  run.thread("canceler", [&] { cancel(lock, one); });
  run.join();
  lock.give();
  check_free(lock);
}

/// A frame is destroyed that was called: those behind it are called instead.
void called_and_never_runs(run& run) {
  lock_type lock;
  waiter one;
  into_the_line_and_called(lock, one);
  atomics::plain<int> counter{0};
  run.thread("end", [&] {
    check(!lock.cancel(one), "it is not in line");
    one.wait();
    lock.pass_on(one);
  });
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] { go_through(lock, counter); });
  }
  run.join();
  check(counter.read() == 2, "both went in");
  check_free(lock);
}

/// A frame is destroyed that was handed the lock.
void granted_and_never_runs(run& run) {
  lock_type lock;
  waiter one;
  into_the_line_and_called(lock, one);
  check(lock.try_take() && lock.come(one) == wait_state::queued, "in vain");
  lock.give();
  check(one.state() == wait_state::granted, "it was handed over");
  run.thread("end", [&] { lock.pass_on(one); });
  run.thread("other", [&] {
    take(lock);
    lock.give();
  });
  run.join();
  check_free(lock);
}

/// The last user destroys it as soon as it has it, whoever else was on the way out.
void destroyed_by_whoever_took_last(run& run) {
  auto* const lock = atomics::make<lock_type>();
  waiter gives_up;
  check(lock->try_take(), "it is free");
  into_the_line(*lock, gives_up);
  run.thread("holder", [&] { lock->give(); });
  run.thread("canceler", [&] {
    cancel(*lock, gives_up);
    if (wait_for(*lock, gives_up, wait_state::queued) != wait_state::granted) take(*lock);
    atomics::destroy(lock);
  });
  run.join();
}

/// The same by the only one who waits.
void destroyed_by_one_who_waited(run& run) {
  auto* const lock = atomics::make<lock_type>();
  check(lock->try_take(), "it is free");
  run.thread("holder", [&] { lock->give(); });
  run.thread("waits", [&] {
    take(*lock);
    lock->give();
    atomics::destroy(lock);
  });
  run.join();
}

const model all[] = {
    {"mutual_exclusion", mutual_exclusion},
    {"owner_and_two_contenders", owner_and_two_contenders},
    {"trying", trying},
    {"handed_over", handed_over},
    {"one_is_called_at_a_time", one_is_called_at_a_time},
    {"overtaken_and_handed_over", overtaken_and_handed_over},
    {"gives_way", gives_way},
    {"gives_way_to_nobody", gives_way_to_nobody},
    {"gives_way_and_is_canceled", gives_way_and_is_canceled},
    {"canceled_while_given", canceled_while_given},
    {"called_and_canceled", called_and_canceled},
    {"canceled_and_never_given", canceled_and_never_given},
    {"canceled_before_the_line", canceled_before_the_line},
    {"called_and_never_runs", called_and_never_runs},
    {"granted_and_never_runs", granted_and_never_runs},
    {"destroyed_by_whoever_took_last", destroyed_by_whoever_took_last},
    {"destroyed_by_one_who_waited", destroyed_by_one_who_waited},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
