// sync_actor -- state that one task owns: others send it requests, each with a place for the answer. No lock.
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/sync/channel.hpp>
#include <faio/sync/oneshot.hpp>
#include <map>
#include <string>
#include <utility>

class counters {
 public:
  // Call from: a task. The count of that name, with this one.
  faio::task<int> count(std::string name) {
    faio::sync::oneshot<int> answer;
    request mine{std::move(name), answer.sender()};
    auto sent = co_await _requests.send(std::move(mine));
    if (!sent) co_return -1;
    auto got = co_await answer.recv();
    co_return got.value_or(-1);
  }
  faio::task<void> run() {
    std::map<std::string, int> counts;  // nobody else ever sees it
    for (;;) {
      auto asked = co_await _requests.recv();
      if (!asked) co_return;
      (void)asked->answer.send(++counts[asked->name]);  // whoever asked may have gone: no matter
    }
  }
  void close() { _requests.close(); }

 private:
  struct request {
    std::string name;
    faio::sync::oneshot<int>::sender_type answer;
  };
  faio::sync::channel<request> _requests{16};
};

faio::task<int> program() {
  counters all;
  auto running = faio::spawn(all.run());
  faio::task_group askers;
  for (int i = 0; i < 99; ++i) askers.spawn(all.count("apples"));
  co_await askers.join();
  const int hundredth = co_await all.count("apples");
  all.close();
  co_await std::move(running);
  co_return hundredth;
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  const int apples = ctx.block_on(program());
  std::printf("%d apples\n", apples);
  return apples == 100 ? 0 : 1;
}
