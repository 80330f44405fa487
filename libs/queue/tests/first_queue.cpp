// first_queue -- the example of README.md: a worker's queue, a thief, and the queue that takes the overflow.
#include <cstdio>
#include <faio/queue/global_queue.hpp>
#include <faio/queue/local_queue.hpp>
#include <thread>

int main() {
  faio::queue::global_queue<int*> overflow;
  faio::queue::local_queue<int*, 256> mine;
  int jobs[1000] = {};
  for (int& job : jobs) mine.push_back(&job, overflow);  // a full ring hands half of itself to `overflow`

  int stolen = 0;
  std::thread thief([&] {
    faio::queue::local_queue<int*, 256> theirs;
    for (auto job = mine.be_stolen_by(theirs); job; job = theirs.pop()) stolen += ++**job;  // half at a time
  });
  int own = 0;
  while (auto job = mine.pop()) own += ++**job;
  thief.join();
  int spilled = 0;
  while (auto job = overflow.try_pop()) spilled += ++**job;

  std::printf("%d run here, %d stolen, %d from the overflow: %d of 1000\n", own, stolen, spilled,
              own + stolen + spilled);
  return own + stolen + spilled == 1000 ? 0 : 1;
}
