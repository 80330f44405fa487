// statemachine_poll -- a worker that sleeps in poll(2): woken for work, or by a descriptor of its own.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <faio/statemachine/state_machine.hpp>
#include <thread>

int main() {
  constexpr int jobs = 100;
  faio::statemachine::state_machine machine(1);
  std::atomic<int> waiting{0};
  const int bell = ::eventfd(0, EFD_CLOEXEC);
  int line[2];  // a descriptor that the worker listens to besides
  if (bell < 0 || ::pipe(line) != 0) return 1;

  std::jthread publisher([&] {
    for (int i = 0; i < jobs; ++i) {
      ++waiting;
      if (machine.worker_to_notify()) (void)::eventfd_write(bell, 1);
    }
    if (::write(line[1], "!", 1) != 1) std::abort();
  });

  int done = 0, heard = 0;
  for (bool searching = false; done < jobs || heard < 1;) {
    searching = searching || machine.set_searching();
    if (waiting > 0) {  // we are the only one who takes
      if (searching) machine.cancel_searching();
      searching = false;
      --waiting, ++done;
      continue;
    }
    const bool look_again = machine.set_sleeping(0, searching).look_again;
    if (!look_again || waiting == 0) {
      pollfd either[2] = {{.fd = bell, .events = POLLIN, .revents = 0},
                          {.fd = line[0], .events = POLLIN, .revents = 0}};
      (void)::poll(either, 2, -1);
      eventfd_t rings = 0;
      char byte = 0;
      if (either[0].revents != 0) (void)::eventfd_read(bell, &rings);
      if (either[1].revents != 0 && ::read(line[0], &byte, 1) == 1) ++heard;
    }
    searching = !machine.cancel_sleeping(0);  // true: we woke by ourselves; false: for work, and count as searching
  }
  publisher.join();
  for (const int each : {bell, line[0], line[1]}) ::close(each);
  std::printf("%d jobs, %d message\n", done, heard);
  return done == jobs && heard == 1 ? 0 : 1;
}
