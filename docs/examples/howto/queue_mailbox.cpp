// queue_mailbox -- many threads send to one, which sleeps while there is nothing.
#include <cstdio>
#include <faio/queue/inbox.hpp>
#include <semaphore>
#include <thread>
#include <vector>

int main() {
  std::vector<int> letters(3000, 1);
  faio::queue::inbox<int*> mail;
  std::counting_semaphore<> bell(0);

  auto send = [&](std::size_t first) {
    for (std::size_t i = first; i < first + 1000; ++i) {
      if (mail.push(&letters[i])) bell.release();  // true: it was empty, so its owner may be asleep
    }
  };
  std::vector<std::jthread> senders;
  for (const std::size_t first : {0U, 1000U, 2000U}) senders.emplace_back(send, first);

  int sum = 0;
  for (std::size_t got = 0; got < letters.size();) {
    bell.acquire();                                           // once for each time that it became not empty
    got += mail.drain([&](int* letter) { sum += *letter; });  // all that is there, in one step
  }
  std::printf("%d letters\n", sum);
  return sum == 3000 ? 0 : 1;
}
