// local_queue_model -- the ring against thieves, overflow and an observer, at the smallest capacity that shows the trouble.
#include <faio/queue/global_queue.hpp>
#include <faio/queue/local_queue.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

template <std::size_t Capacity>
using ring = queue::local_queue<std::size_t, Capacity, atomics>;
using sink = queue::global_queue<std::size_t, atomics>;

template <class Queue>
void pop_all(Queue& from, ledger& into) {
  from.release_owner();
  while (const auto value = from.pop()) into.count(*value);
}

/// An owner that pushes into a full ring and pops, two thieves that steal once each.
void two_thieves_and_an_overflow(run& run) {
  ring<2> owner, first, second;
  sink overflow;
  ledger out;
  run.thread("owner", [&] {
    for (std::size_t i = 1; i <= 3; ++i) owner.push_back(i, overflow);
    if (const auto value = owner.pop()) out.count(*value);
  });
  run.thread("first", [&] {
    if (const auto value = owner.be_stolen_by(first)) out.count(*value);
  });
  run.thread("second", [&] {
    if (const auto value = owner.be_stolen_by(second)) out.count(*value);
  });
  run.join();
  for (auto* each : {&owner, &first, &second}) pop_all(*each, out);
  while (const auto value = overflow.try_pop()) out.count(*value);
  out.expect_all(3);
}

/// The same with a full ring of four, where a thief copies more than it returns, and the owner sheds two.
void two_thieves_and_an_overflow_of_four(run& run) {
  ring<4> owner, first, second;
  sink overflow;
  ledger out;
  for (std::size_t i = 1; i <= 4; ++i) owner.push_back(i, overflow);
  owner.release_owner();
  run.thread("owner", [&] {
    for (std::size_t i = 5; i <= 6; ++i) owner.push_back(i, overflow);
    if (const auto value = owner.pop()) out.count(*value);
  });
  run.thread("first", [&] {
    if (const auto value = owner.be_stolen_by(first)) out.count(*value);
  });
  run.thread("second", [&] {
    if (const auto value = owner.be_stolen_by(second)) out.count(*value);
  });
  run.join();
  for (auto* each : {&owner, &first, &second}) pop_all(*each, out);
  while (const auto value = overflow.try_pop()) out.count(*value);
  out.expect_all(6);
}

/// More room, and a second steal: the slots of the first are reused while the thief may still be reading them.
template <class Push>
void reuse_slots_behind_a_thief(run& run, Push push) {
  ring<2> owner, thief;
  ledger out;
  std::size_t pushed = 0;
  run.thread("owner", [&] {
    for (std::size_t i = 1; i <= 4; ++i) {
      if (push(owner, pushed + 1)) ++pushed;
      if (i % 2 == 0) {
        if (const auto value = owner.pop()) out.count(*value);
      }
    }
  });
  run.thread("thief", [&] {
    for (int i = 0; i < 2; ++i) {
      if (const auto value = owner.be_stolen_by(thief)) out.count(*value);
      while (const auto value = thief.pop()) out.count(*value);
    }
  });
  run.join();
  pop_all(owner, out);
  pop_all(thief, out);
  out.expect_all(pushed);
}

void slots_are_reused_behind_a_thief(run& run) {
  reuse_slots_behind_a_thief(run, [](auto& to, std::size_t value) { return to.push_back(value, queue::no_overflow); });
}
void slots_are_reused_if_there_is_room(run& run) {
  reuse_slots_behind_a_thief(run, [](auto& to, std::size_t value) { return to.try_push_back(value); });
}

/// A thief that takes several, so that the copying has a middle, and an owner that pops meanwhile.
void half_of_four(run& run) {
  ring<4> owner, thief;
  ledger out;
  for (std::size_t i = 1; i <= 4; ++i) owner.push_back(i, queue::no_overflow);
  owner.release_owner();
  run.thread("owner", [&] {
    for (int i = 0; i < 2; ++i) {
      if (const auto value = owner.pop()) out.count(*value);
    }
    if (!owner.push_back(5, queue::no_overflow)) out.count(5);
  });
  run.thread("thief", [&] {
    if (const auto value = owner.be_stolen_by(thief)) out.count(*value);
  });
  run.join();
  pop_all(owner, out);
  pop_all(thief, out);
  out.expect_all(5);
}

/// What a thief stole is stolen from it in turn.
void stolen_from_the_thief(run& run) {
  ring<4> owner, thief, other;
  ledger out;
  run.thread("owner", [&] {
    std::size_t batch[] = {1, 2, 3, 4};
    check(owner.push_back_batch(std::span<const std::size_t>(batch)) == 4, "an empty ring has room");
  });
  run.thread("thief", [&] {
    if (const auto value = owner.be_stolen_by(thief)) out.count(*value);
  });
  run.thread("other", [&] {
    if (const auto value = thief.be_stolen_by(other)) out.count(*value);
  });
  run.join();
  for (auto* each : {&owner, &thief, &other}) pop_all(*each, out);
  out.expect_all(4);
}

/// The owner refills its ring in batches while a thief may still be reading the slots of the first.
void batches_reuse_slots_behind_a_thief(run& run) {
  ring<2> owner, thief;
  ledger out;
  std::size_t pushed = 0;
  run.thread("owner", [&] {
    for (int i = 0; i < 2; ++i) {
      const std::size_t batch[] = {pushed + 1, pushed + 2};
      pushed += owner.push_back_batch(std::span<const std::size_t>(batch));
    }
  });
  run.thread("thief", [&] {
    if (const auto value = owner.be_stolen_by(thief)) out.count(*value);
  });
  run.join();
  pop_all(owner, out);
  pop_all(thief, out);
  out.expect_all(pushed);
}

/// The overflow refuses: the owner's own claim is put back while thieves look.
void a_refused_overflow(run& run) {
  ring<2> owner, thief;
  ledger out;
  sink overflow;
  overflow.close();
  bool taken = false;
  run.thread("owner", [&] {
    owner.push_back(1, overflow);
    owner.push_back(2, overflow);
    taken = owner.push_back(3, overflow);
    if (const auto value = owner.pop()) out.count(*value);
  });
  run.thread("thief", [&] {
    if (const auto value = owner.be_stolen_by(thief)) out.count(*value);
  });
  run.join();
  pop_all(owner, out);
  pop_all(thief, out);
  if (!taken) out.count(3);
  out.expect_all(3);
}

/// Indices that turn round under a thief that looked before: with 32 bits nothing recurs, with 4 bits everything does.
void many_turns_behind_a_slow_thief(run& run) {
  ring<2> owner, thief;
  std::size_t in = 0;
  std::size_t out = 0;
  const auto took = [&](std::optional<std::size_t> value) {
    if (!value) return;
    check(*value != 0, "a slot came out that held nothing");
    ++out;
  };
  run.thread("owner", [&] {
    for (int i = 0; i < 16; ++i) {
      if (owner.push_back(1, queue::no_overflow)) ++in;
      if (i % 15 != 0) took(owner.pop());
    }
    took(owner.pop());
    took(owner.pop());
  });
  run.thread("thief", [&] { took(owner.be_stolen_by(thief)); });
  run.join();
  owner.release_owner();
  thief.release_owner();
  while (const auto value = owner.pop()) took(value);
  while (const auto value = thief.pop()) took(value);
  check(in == out, "as many come out as went in");
}

/// A head that a thief has moved must not be seen beside a tail from before the push.
void an_observer_beside_a_thief(run& run) {
  ring<4> owner, thief;
  run.thread("owner", [&] { owner.push_back(1, queue::no_overflow); });
  run.thread("thief", [&] { owner.be_stolen_by(thief); });
  run.thread("observer", [&] { check(owner.size() <= 1, "size() is more than was ever there"); });
  run.join();
}

/// size() is for whoever chooses a victim: it may be old, but never more than there ever was.
void an_observer_of_the_size(run& run) {
  ring<4> owner;
  run.thread("owner", [&] {
    for (std::size_t i = 1; i <= 3; ++i) {
      owner.push_back(i, queue::no_overflow);
      owner.pop();
    }
  });
  run.thread("observer", [&] {
    // At most all that was ever pushed: the head may be as old as the start.
    check(owner.size() <= 3, "size() is more than was ever there");
  });
  run.join();
}

const model all[] = {
    {"two_thieves_and_an_overflow", two_thieves_and_an_overflow},
    {"slots_are_reused_behind_a_thief", slots_are_reused_behind_a_thief},
    {"slots_are_reused_if_there_is_room", slots_are_reused_if_there_is_room},
    {"half_of_four", half_of_four},
    {"stolen_from_the_thief", stolen_from_the_thief},
    {"batches_reuse_slots_behind_a_thief", batches_reuse_slots_behind_a_thief},
    {"a_refused_overflow", a_refused_overflow},
    {"many_turns_behind_a_slow_thief", many_turns_behind_a_slow_thief, 1},
    {"an_observer_of_the_size", an_observer_of_the_size},
    {"an_observer_beside_a_thief", an_observer_beside_a_thief},
    {"two_thieves_and_an_overflow_of_four", two_thieves_and_an_overflow_of_four},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
