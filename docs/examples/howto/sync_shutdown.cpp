// sync_shutdown -- tell everybody: new settings for all tasks, and in the end that it is over.
#include <atomic>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/sync/broadcast.hpp>
#include <faio/sync/errors.hpp>
#include <string>

using news = faio::sync::broadcast<std::string>;

faio::task<void> listen(news::receiver from, std::atomic<int>& heard) {
  for (;;) {
    auto told = co_await from.recv();
    if (told) {
      ++heard;
    } else if (told.error() == faio::sync::errc::lagged) {
      continue;  // we were too slow for the broadcast's capacity; from.missed() says by how much
    } else {
      co_return;  // closed, or we were asked to stop
    }
  }
}

faio::task<int> program() {
  std::atomic<int> heard{0};
  news settings(16);
  faio::task_group listeners;
  for (int i = 0; i < 5; ++i) listeners.spawn(listen(settings.subscribe(), heard));  // hears all from here on
  (void)settings.send("log: verbose");
  (void)settings.send("log: quiet");
  settings.close();  // they get what was sent, then the end
  co_await listeners.join();
  co_return heard.load();
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  const int heard = ctx.block_on(program());
  std::printf("heard %d times\n", heard);
  return heard == 10 ? 0 : 1;
}
