// queue_and_statemachine -- one worker that sleeps while its queue is empty, woken by whoever puts work in.
#include <array>
#include <cstdio>
#include <faio/queue/global_queue.hpp>
#include <faio/statemachine/state_machine.hpp>
#include <semaphore>
#include <thread>

int main() {
  std::array<int, 100> jobs{};
  faio::queue::global_queue<int*> work;
  faio::statemachine::state_machine machine(1);
  std::counting_semaphore<> bed(0);

  int done = 0;
  std::jthread worker([&] {
    for (bool searching = false; done < 100;) {
      auto job = work.try_pop();
      if (!job) {
        if (machine.set_sleeping(0, searching).look_again) job = work.try_pop();
        if (!job) bed.acquire();
        searching = !machine.cancel_sleeping(0);
      }
      if (!job) continue;
      if (searching) machine.cancel_searching();  // there is no other worker to wake
      searching = false;
      done += ++**job;
    }
  });
  for (int& job : jobs) {
    work.push(&job);
    if (machine.worker_to_notify()) bed.release();
  }
  worker.join();
  std::printf("%d of 100 jobs done\n", done);
  return done == 100 ? 0 : 1;
}
