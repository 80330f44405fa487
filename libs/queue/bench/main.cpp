// queue_bench -- faio's queues beside what one would take instead, and the bars that they are held to.
//
//   queue_bench                                  everything, about a minute and a half
//   queue_bench --benchmark_filter='^owner pair' what one wants to look at
#include <cstdio>
#include <semaphore>
#include <thread>

#include "bars.hpp"
#include "benches.hpp"

namespace {

constexpr faio::bench::bar bars[] = {
    {"owner's push+pop, empty: local_queue / mutex+deque", "owner pair/local_queue", "owner pair/mutex+deque", 1.0 / 3},
    {"owner's push+pop, empty: deque / mutex+deque", "owner pair/deque", "owner pair/mutex+deque", 1.0 / 3},
    {"owner's push+pop, 64 behind: local_queue / mutex+deque", "owner backlog/local_queue", "owner backlog/mutex+deque",
     1.0 / 3},
    {"owner's push+pop, 64 behind: deque / mutex+deque", "owner backlog/deque", "owner backlog/mutex+deque", 1.0 / 3},
    {"owner's bursts of 32: local_queue / mutex+deque", "owner burst/local_queue", "owner burst/mutex+deque", 1.0 / 3},
    {"owner's bursts of 32: deque / mutex+deque", "owner burst/deque", "owner burst/mutex+deque", 1.0 / 3},
    {"owner's push+pop, empty: local_queue / plain ring", "owner pair/local_queue", "owner pair/plain ring"},
    {"owner's push+pop, empty: deque / plain ring", "owner pair/deque", "owner pair/plain ring"},
    {"owner's push+pop, 64 behind: local_queue / plain ring", "owner backlog/local_queue", "owner backlog/plain ring"},
    {"owner's push+pop, 64 behind: deque / plain ring", "owner backlog/deque", "owner backlog/plain ring"},
    {"steal half of 128: local_queue / mutex+deque", "steal half of 128/local_queue", "steal half of 128/mutex+deque"},
    {"steal half of 128: deque / mutex+deque", "steal half of 128/deque", "steal half of 128/mutex+deque"},
    {"owner and thief: local_queue / mutex+deque", "owner and thief/local_queue", "owner and thief/mutex+deque"},
    {"owner and thief: deque / mutex+deque", "owner and thief/deque", "owner and thief/mutex+deque"},
    {"global_queue, 2+2: batches of 64 / one by one", "2+2 batches of 64/global_queue", "2+2 one by one/global_queue",
     1.0 / 10},
    {"global_queue, alone: batches of 64 / one by one", "alone batches of 64/global_queue", "owner pair/global_queue",
     1.0 / 10},
    {"batches of 64, 2+2: global_queue / moodycamel", "2+2 batches of 64/global_queue", "2+2 batches of 64/moodycamel",
     1.0},
    {"batches of 64, 2+2: global_queue / moodycamel tokens", "2+2 batches of 64/global_queue",
     "2+2 batches of 64/moodycamel tokens", 1.0},
    {"batches of 64, alone: global_queue / moodycamel", "alone batches of 64/global_queue",
     "alone batches of 64/moodycamel", 1.0},
    {"batches of 64, alone: global_queue / moodycamel tokens", "alone batches of 64/global_queue",
     "alone batches of 64/moodycamel tokens", 1.0},
    {"one by one, 2+2: global_queue / mutex+deque", "2+2 one by one/global_queue", "2+2 one by one/mutex+deque"},
    {"pop of an empty queue: global_queue / mutex+deque", "pop of an empty queue/global_queue",
     "pop of an empty queue/mutex+deque"},
    {"2 producers, 1 reader: inbox / mutex+deque", "2+1 inbox/inbox", "2+1 inbox/mutex+deque"},
};

}  // namespace

int main(int argc, char** argv) {
#ifndef FAIO_BENCH_MOODYCAMEL
  std::puts("queue_bench: built without moodycamel's ConcurrentQueue, which is left out");
#endif
#ifndef FAIO_BENCH_TBB
  std::puts("queue_bench: built without TBB, whose queues are left out");
#endif
  faio::queue::bench::register_owner();
  faio::queue::bench::register_steal();
  faio::queue::bench::register_contended();
  faio::queue::bench::register_global();
  faio::queue::bench::register_inbox();

  // glibc's mutex and malloc leave their locked instructions out while a process has one thread; whoever wants these
  // queues has more. So there is a second one throughout, asleep.
  std::binary_semaphore over(0);
  const std::jthread asleep([&] { over.acquire(); });
  const int status = faio::bench::run(argc, argv, bars);
  over.release();
  return status;
}
