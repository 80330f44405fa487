// permits_model -- those who take, those who give, and stop requests in between: no permit is lost, none is given to who gave up.
#include <faio/sync/permits.hpp>

#include "line_waiter.hpp"

namespace faio::explorer::models {
namespace {

using permits_type = sync::basic_permits<atomics>;
using waiter = line_waiter<permits_type::waiter>;

/// As a coroutine or a thread does it: without the line, then in it.
void take(permits_type& from, std::uint64_t count = 1) {
  if (from.try_take(count)) return;
  waiter me;
  if (from.take_or_wait(me, count) == sync::wait_state::queued) {
    me.wait();
    check(me.state() == sync::wait_state::granted, "nobody canceled it");
  }
}

/// Whoever has the permit is alone, and sees what the one before it wrote.
void mutual_exclusion(run& run) {
  permits_type lock(1);
  atomics::plain<int> counter{0};
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] {
      take(lock);
      ++counter.write();
      lock.give();
    });
  }
  run.join();
  check(counter.read() == 2 && lock.available() == 1, "both went in, and the permit is back");
}

/// The same, with one who only tries.
void trying(run& run) {
  permits_type lock(1);
  atomics::plain<int> counter{0};
  int entered = 1;
  run.thread("waits", [&] {
    take(lock);
    ++counter.write();
    lock.give();
  });
  run.thread("tries", [&] {
    if (!lock.try_take()) return;
    ++counter.write();
    ++entered;
    lock.give();
  });
  run.join();
  check(counter.read() == entered && lock.available() == 1, "each who entered was alone");
}

/// A permit comes while the only waiter is asked to give up: it has it, or the permits have it.
void canceled_while_given(run& run) {
  permits_type permits(0);
  atomics::plain<int> written{0};
  waiter one;
  bool has = false;
  run.thread("taker", [&] {
    sync::wait_state now = permits.take_or_wait(one);
    if (now == sync::wait_state::queued) {
      one.wait();
      now = one.state();
    }
    has = now == sync::wait_state::granted;
    if (has) check(written.read() == 1, "what the giver did is visible");
  });
  run.thread("giver", [&] {
    written.write() = 1;
    permits.give();
  });
  run.thread("canceler", [&] {
    if (permits.cancel(one)) one.wake();
  });
  run.join();
  check(permits.available() == (has ? 0U : 1U), "the permit is in one place");
  check(permits.try_take() == !has, "nobody waits any more");
}

/// The first wants more than there is, the second would be content: when the first gives up, the second goes on.
void those_behind_one_who_gives_up(run& run) {
  permits_type permits(1);
  waiter greedy;
  check(permits.take_or_wait(greedy, 2) == sync::wait_state::queued, "there is only one");
  run.thread("modest", [&] { take(permits); });
  run.thread("canceler", [&] {
    check(permits.cancel(greedy), "it was in line");
    greedy.wake();
  });
  run.join();
  check(greedy.state() == sync::wait_state::canceled, "it was given nothing");
  check(permits.available() == 0 && !permits.try_take(), "the other has it");
}

/// Two givers of one for one who wants two, and one behind it.
void one_who_wants_many_is_not_overtaken(run& run) {
  permits_type permits(0);
  waiter many;
  waiter one;
  atomics::plain<int> written{0};
  check(permits.take_or_wait(many, 2) == sync::wait_state::queued, "there is none");
  check(permits.take_or_wait(one, 1) == sync::wait_state::queued, "there is none");
  run.thread("first", [&] { permits.give(); });
  run.thread("second", [&] { permits.give(); });
  run.thread("many", [&] {
    many.wait();
    check(one.state() == sync::wait_state::queued, "it was not overtaken");
    written.write() = 1;
    permits.give();
  });
  run.thread("one", [&] {
    one.wait();
    check(written.read() == 1, "it comes after, and sees what the one before it did");
  });
  run.join();
  check(permits.available() == 0, "all that was given was taken");
}

/// The last user destroys it as soon as it has it, whoever else was on the way out.
void destroyed_by_whoever_took_last(run& run) {
  auto* const lock = atomics::make<permits_type>(std::uint64_t{0});
  waiter gives_up;
  check(lock->take_or_wait(gives_up) == sync::wait_state::queued, "it is held");
  run.thread("holder", [&] { lock->give(); });
  run.thread("canceler", [&] {
    if (lock->cancel(gives_up)) {
      gives_up.wake();
    } else {
      gives_up.wait();
      lock->give();
    }
    take(*lock);
    atomics::destroy(lock);
  });
  run.join();
}

/// The line is looked at by one who leaves something in the word for one who takes it from there.
void what_is_left_in_the_word(run& run) {
  permits_type permits(0);
  atomics::plain<int> written{0};
  run.thread("giver", [&] {
    written.write() = 1;
    permits.give(2);
  });
  run.thread("through the line", [&] {
    waiter me;
    if (permits.take_or_wait(me) == sync::wait_state::queued) me.wait();
    check(written.read() == 1, "what the giver did is visible");
  });
  run.thread("from the word", [&] {
    if (permits.try_take()) check(written.read() == 1, "what the giver did is visible");
  });
  run.join();
}

/// Nothing is ever given: the stop request alone must end the wait, before the line or in it.
void canceled(run& run) {
  permits_type permits(0);
  waiter one;
  run.thread("taker", [&] {
    const auto now = permits.take_or_wait(one);
    if (now == sync::wait_state::queued) one.wait();
    check(one.state() == sync::wait_state::canceled, "it was given nothing");
  });
  run.thread("canceler", [&] {
    if (permits.cancel(one)) one.wake();
  });
  run.join();
}

/// The line was empty when a giver came to it: what others had put into the word meanwhile goes back there, with what they did.
void left_over_goes_back(run& run) {
  permits_type permits(0);
  atomics::plain<int> written{0};
  waiter gives_up;
  check(permits.take_or_wait(gives_up) == sync::wait_state::queued, "there is none");
  run.thread("giver", [&] { permits.give(); });
  run.thread("canceler", [&] {
    if (permits.cancel(gives_up)) {
      gives_up.wake();
    } else {
      gives_up.wait();
      permits.give();
    }
  });
  run.thread("writer", [&] {
    written.write() = 1;
    permits.give();
  });
  run.thread("taker", [&] {
    if (permits.try_take(2)) check(written.read() == 1, "what the giver did is visible");
  });
  run.join();
}

const model all[] = {
    {"mutual_exclusion", mutual_exclusion},
    {"trying", trying},
    {"canceled_while_given", canceled_while_given},
    {"those_behind_one_who_gives_up", those_behind_one_who_gives_up},
    {"one_who_wants_many_is_not_overtaken", one_who_wants_many_is_not_overtaken},
    {"destroyed_by_whoever_took_last", destroyed_by_whoever_took_last},
    {"canceled", canceled},
    {"what_is_left_in_the_word", what_is_left_in_the_word},
    {"left_over_goes_back", left_over_goes_back, 1},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
