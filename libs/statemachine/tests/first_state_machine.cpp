// first_state_machine -- the example of README.md: two threads that sleep when there is nothing to do and miss no work.
#include <atomic>
#include <cstdio>
#include <faio/statemachine/state_machine.hpp>
#include <semaphore>
#include <thread>

int main() {
  constexpr int jobs = 1000;
  faio::statemachine::state_machine machine(2);
  std::counting_semaphore<> bed[2] = {std::counting_semaphore<>(0), std::counting_semaphore<>(0)};
  std::atomic<int> waiting{0}, done{0};
  auto take = [&] {
    for (int n = waiting.load(); n > 0;) if (waiting.compare_exchange_weak(n, n - 1)) return true;
    return false;
  };
  auto wake_one = [&] { if (auto id = machine.worker_to_notify()) bed[*id].release(); };
  auto worker = [&](std::size_t id) {
    for (bool searching = false, alone = false; done < jobs; alone = false) {
      searching = searching || machine.set_searching();
      bool found = take();
      if (!found) {
        found = (alone = machine.set_sleeping(id, searching).look_again) && take();  // nobody else would look
        if (!found && done < jobs) bed[id].acquire();
        searching = !machine.cancel_sleeping(id);
      }
      if (!found) continue;
      if (searching ? machine.cancel_searching() : alone) wake_one();  // for the work that we did not take
      searching = false;
      if (++done == jobs) for (auto& each : bed) each.release();
    }
  };
  std::jthread first(worker, 0), second(worker, 1);
  for (int i = 0; i < jobs; ++i) { ++waiting; wake_one(); }
  first.join(), second.join();
  std::printf("%d of %d jobs done\n", done.load(), jobs);
}
