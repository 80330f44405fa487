// completion_signal_model -- a waiter that destroys the signal as soon as it may.
#include <faio/context/completion_signal.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

using signal_type = context::basic_completion_signal<atomics>;

void destroyed_by_its_waiter(run& run) {
  auto* const signal = atomics::make<signal_type>();
  atomics::plain<int> result{0};
  run.thread("waiter", [&] {
    signal->wait();
    check(result.read() == 1, "what was done is visible");
    atomics::destroy(signal);
  });
  run.thread("notifier", [&] {
    result.write() = 1;
    signal->mark_ready();
  });
  run.join();
}

void two_waiters(run& run) {
  signal_type signal;
  atomics::plain<int> result{0};
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] {
      signal.wait();
      check(result.read() == 1, "what was done is visible");
    });
  }
  run.thread("notifier", [&] {
    result.write() = 1;
    signal.mark_ready();
  });
  run.join();
}

const model all[] = {{"destroyed_by_its_waiter", destroyed_by_its_waiter}, {"two_waiters", two_waiters}};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
