// add_subdirectory -- code that our own warnings would refuse, and that is its author's business.
#include <faio/queue/global_queue.hpp>

int main(int, char**) {
  int unused;
  faio::queue::global_queue<int> queue;
  queue.push(1);
  char queued = queue.size();
  {
    char queued = 0;
  }
  return queued - 1;
}
