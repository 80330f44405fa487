// queue_alone -- uses each queue once, with a second thread, and counts what came out.
#include <array>
#include <cstdio>
#include <faio/queue/queue.hpp>
#include <thread>

int main() {
  std::array<int, 100> jobs{};
  faio::queue::global_queue<int*> global;
  faio::queue::local_queue<int*, 16> ring;
  faio::queue::deque<int*> deque;
  faio::queue::inbox<int*> inbox;

  std::thread sender([&] {
    for (std::size_t i = 0; i < 10; ++i) inbox.push(&jobs[i]);
  });
  for (std::size_t i = 10; i < 60; ++i) ring.push_back(&jobs[i], global);
  for (std::size_t i = 60; i < 100; ++i) deque.push(&jobs[i]);
  sender.join();

  int done = 0;
  inbox.drain([&](int* job) { done += ++*job; });
  while (auto job = ring.pop()) done += ++**job;
  while (auto job = global.try_pop()) done += ++**job;
  while (auto job = deque.pop()) done += ++**job;
  std::printf("queue_alone: %d of 100 jobs came through\n", done);
  return done == 100 ? 0 : 1;
}
