// first_state_machine -- the example of README.md: a worker that sleeps when there is nothing to do, and misses no work.
#include <atomic>
#include <cstdio>
#include <faio/statemachine/state_machine.hpp>
#include <semaphore>
#include <thread>

int main() {
  constexpr int jobs = 1000;
  faio::statemachine::state_machine machine(1);
  std::counting_semaphore<> bed(0);
  std::atomic<int> published = 0;

  std::jthread worker([&] {
    int done = 0;
    bool searching = false;
    while (done < jobs) {
      if (!searching) searching = machine.set_searching();
      bool found = published > done;
      if (!found) {
        const bool look_again = machine.set_sleeping(0, searching).look_again;
        found = look_again && published > done;
        if (!found) bed.acquire();
        searching = !machine.cancel_sleeping(0);  // who was notified searches
      }
      if (!found) continue;
      ++done;
      if (searching) machine.cancel_searching();  // several workers: the last one wakes another
      searching = false;
    }
    std::printf("%d of %d jobs done\n", done, jobs);
  });

  for (int i = 0; i < jobs; ++i) {
    ++published;
    if (machine.worker_to_notify()) bed.release();
  }
}
