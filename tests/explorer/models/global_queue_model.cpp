// global_queue_model -- the look without a lock, and closing under load.
#include <faio/queue/global_queue.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

using queue_type = queue::global_queue<std::size_t, atomics>;

/// Somebody who was told of a push does not find the queue empty.
void a_push_that_was_announced(run& run) {
  queue_type queue;
  atomics::atomic<bool> told{false};
  run.thread("producer", [&] {
    queue.push(1);
    told.store(true, std::memory_order_release);
  });
  run.thread("consumer", [&] {
    const bool known = told.load(std::memory_order_acquire);
    const bool empty = queue.empty();
    const auto value = queue.try_pop();
    check(!known || (!empty && value == 1), "a known push was not seen");
  });
  run.join();
}

/// Two producers, one of them with a batch, two consumers: each element once, and the size comes out at zero.
void producers_and_consumers(run& run) {
  queue_type queue;
  ledger out;
  run.thread("single", [&] { queue.push(1); });
  run.thread("batch", [&] {
    const std::size_t batch[] = {2, 3};
    queue.push_batch(batch);
  });
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] {
      if (const auto value = queue.try_pop()) out.count(*value);
    });
  }
  run.join();
  while (const auto value = queue.try_pop()) out.count(*value);
  out.expect_all(3);
  check(queue.empty() && queue.size() == 0, "the size counts what is there");
}

/// Closed in the middle: an element is either refused and still with its pusher, or comes out.
void closing_under_load(run& run) {
  queue_type queue;
  ledger out;
  run.thread("producer", [&] {
    for (std::size_t i = 1; i <= 2; ++i) {
      if (!queue.push(i)) out.count(i);
    }
  });
  run.thread("closer", [&] {
    queue.close();
    check(!queue.push(3), "nothing enters after close");
  });
  run.thread("consumer", [&] {
    if (const auto value = queue.try_pop()) out.count(*value);
  });
  run.join();
  while (const auto value = queue.try_pop()) out.count(*value);
  out.expect_all(2);
}

const model all[] = {
    {"a_push_that_was_announced", a_push_that_was_announced},
    {"producers_and_consumers", producers_and_consumers},
    {"closing_under_load", closing_under_load},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
