// deque_model -- the growing deque: the last element, growths under thieves, and batches; all of it in both ways to order a pop and a steal.
#include <faio/queue/deque.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

/// As the scheduler has it.
struct paying_thieves : atomics {
  static constexpr bool thieves_pay = true;
};
template <class Policy>
using stack_of = queue::deque<std::size_t, Policy>;

void pop_all(auto& from, ledger& into) {
  from.release_owner();
  while (const auto value = from.pop()) into.count(*value);
}

/// Adds a thief that tries `times` to steal.
void add_thief(run& run, const char* name, auto& from, ledger& into, int times) {
  run.thread(name, [&from, &into, times] {
    for (int i = 0; i < times; ++i) {
      if (const auto value = from.steal()) into.count(*value);
    }
  });
}

void pop_some(auto& from, ledger& into, int times) {
  for (int i = 0; i < times; ++i) {
    if (const auto value = from.pop()) into.count(*value);
  }
}

/// One element, three who want it.
template <class Policy>
void the_last_element(run& run) {
  using stack = stack_of<Policy>;
  stack owner(2);
  ledger out;
  owner.push(1);
  owner.release_owner();
  run.thread("owner", [&] { pop_some(owner, out, 1); });
  for (const char* name : {"first", "second"}) add_thief(run, name, owner, out, 1);
  run.join();
  pop_all(owner, out);
  out.expect_all(1);
}

/// The owner fills a slot, grows for the next two at once and takes some back; two thieves meanwhile.
template <class Policy>
void two_thieves_across_a_growth(run& run) {
  using stack = stack_of<Policy>;
  stack owner(2);
  ledger out;
  run.thread("owner", [&] {
    owner.push(1);
    owner.push_all(2, [](std::size_t i) { return i + 2; });
    pop_some(owner, out, 2);
  });
  for (const char* name : {"first", "second"}) add_thief(run, name, owner, out, 1);
  run.join();
  pop_all(owner, out);
  out.expect_all(3);
}

/// Two growths in a row under a thief that holds the first buffer: freed only when it is gone.
template <class Policy>
void two_growths_under_a_thief(run& run) {
  using stack = stack_of<Policy>;
  stack owner(2);
  ledger out;
  owner.push(1);
  owner.release_owner();
  run.thread("owner", [&] {
    for (std::size_t i = 2; i <= 5; ++i) owner.push(i);
  });
  add_thief(run, "thief", owner, out, 2);
  run.join();
  pop_all(owner, out);
  out.expect_all(5);
}

/// Owner and thief meet in the middle, then the owner goes on pushing into slots that were stolen from.
template <class Policy>
void meeting_in_the_middle(run& run) {
  using stack = stack_of<Policy>;
  stack owner(2);
  ledger out;
  owner.push(1);
  owner.push(2);
  owner.release_owner();
  run.thread("owner", [&] {
    pop_some(owner, out, 2);
    owner.push(3);
  });
  add_thief(run, "thief", owner, out, 3);
  run.join();
  pop_all(owner, out);
  out.expect_all(3);
}

/// What a thief finds beneath an index that a pop has written is what the pushes before it put there.
template <class Policy>
void a_steal_beneath_a_pop(run& run) {
  using stack = stack_of<Policy>;
  stack owner(4);
  ledger out;
  run.thread("owner", [&] {
    for (std::size_t i = 1; i <= 3; ++i) owner.push(i);
    pop_some(owner, out, 1);
  });
  for (const char* name : {"first", "second"}) add_thief(run, name, owner, out, 1);
  run.join();
  pop_all(owner, out);
  out.expect_all(3);
}

/// A batch thief takes half while the owner takes from the other end.
template <class Policy>
void a_batch_against_pops(run& run) {
  using stack = stack_of<Policy>;
  stack owner(4);
  stack thief(4);
  ledger out;
  for (std::size_t i = 1; i <= 4; ++i) owner.push(i);
  owner.release_owner();
  run.thread("owner", [&] { pop_some(owner, out, 3); });
  run.thread("thief", [&] {
    if (const auto value = owner.steal_batch(thief)) out.count(*value);
  });
  run.join();
  pop_all(owner, out);
  pop_all(thief, out);
  out.expect_all(4);
}

const model all[] = {
    {"the_last_element", the_last_element<atomics>},
    {"two_thieves_across_a_growth", two_thieves_across_a_growth<atomics>},
    {"two_growths_under_a_thief", two_growths_under_a_thief<atomics>},
    {"meeting_in_the_middle", meeting_in_the_middle<atomics>},
    {"a_steal_beneath_a_pop", a_steal_beneath_a_pop<atomics>},
    {"a_batch_against_pops", a_batch_against_pops<atomics>},
    {"the_last_element_paying", the_last_element<paying_thieves>},
    {"two_thieves_across_a_growth_paying", two_thieves_across_a_growth<paying_thieves>},
    {"two_growths_under_a_thief_paying", two_growths_under_a_thief<paying_thieves>},
    {"meeting_in_the_middle_paying", meeting_in_the_middle<paying_thieves>},
    {"a_steal_beneath_a_pop_paying", a_steal_beneath_a_pop<paying_thieves>},
    {"a_batch_against_pops_paying", a_batch_against_pops<paying_thieves>},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
