// first_queue -- the example of README.md: a worker's queue, a thief, and the queue that takes the overflow.
#include <cstdio>
#include <faio/queue/global_queue.hpp>
#include <faio/queue/local_queue.hpp>
#include <thread>

using ring = faio::queue::local_queue<int, 256>;

int main() {
  ring mine;
  faio::queue::global_queue<int> overflow;
  for (int job = 0; job < 1000; ++job) {
    mine.push_back(job, overflow);  // a full ring hands half of itself to `overflow`
  }

  int stolen = 0;
  std::thread thief([&] {
    ring theirs;
    auto job = mine.be_stolen_by(theirs);  // half of it: one job here, the others in `theirs`
    for (; job; job = theirs.pop()) ++stolen;
  });
  int own = 0;
  while (mine.pop()) ++own;
  thief.join();
  int spilled = 0;
  while (overflow.try_pop()) ++spilled;

  std::printf("%d popped, %d stolen, %d spilled\n", own, stolen, spilled);
  return own + stolen + spilled == 1000 ? 0 : 1;
}
