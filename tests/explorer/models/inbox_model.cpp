// inbox_model -- two writers and the one reader.
#include <faio/queue/inbox.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

/// Each writer's elements in its order, all of them once, no node leaked.
void two_writers(run& run) {
  queue::inbox<std::size_t, atomics> box;
  ledger out;
  std::size_t last[2] = {0, 10};
  int told_to_wake = 0;
  const auto take = [&](std::size_t value) {
    out.count(value < 10 ? value : value - 8);  // 1, 2 and 11, 12 -> 1 to 4
    check(last[value / 10] < value, "the order of one writer is kept");
    last[value / 10] = value;
  };
  run.thread("first", [&] {
    for (std::size_t i = 1; i <= 2; ++i) told_to_wake += box.push(i) ? 1 : 0;
  });
  run.thread("second", [&] {
    for (std::size_t i = 11; i <= 12; ++i) told_to_wake += box.push(i) ? 1 : 0;
  });
  int drained = 0;
  run.thread("reader", [&] {
    for (int i = 0; i < 2; ++i) drained += box.drain(take) > 0 ? 1 : 0;
  });
  run.join();
  box.release_owner();
  drained += box.drain(take) > 0 ? 1 : 0;
  out.expect_all(4);
  check(told_to_wake == drained, "each chain that was drained had one pusher who was told of the empty inbox");
}

/// A push that the reader was told of is not missed.
void a_push_that_was_announced(run& run) {
  queue::inbox<std::size_t, atomics> box;
  atomics::atomic<bool> told{false};
  run.thread("writer", [&] {
    box.push(1);
    told.store(true, std::memory_order_release);
  });
  run.thread("reader", [&] {
    const bool known = told.load(std::memory_order_acquire);
    const bool empty = box.empty();
    const std::size_t count = box.drain([](std::size_t) {});
    check(!known || (!empty && count == 1), "a known push was not seen");
  });
  run.join();
  box.release_owner();
  box.drain();
}

const model all[] = {{"two_writers", two_writers}, {"a_push_that_was_announced", a_push_that_was_announced}};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
