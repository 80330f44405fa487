// ioengine_wake -- work for the engine's thread from another one.
#include <cstdio>
#include <faio/ioengine/engine.hpp>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

// What others want done on the engine's thread.
class errands {
 public:
  explicit errands(faio::ioengine::engine& of) : _of(of) {}
  void add(std::function<void()> what) {  // any thread
    {
      const std::lock_guard lock(_mutex);
      _list.push_back(std::move(what));
    }
    _of.wake();  // after it is in the list; a system call only if the engine's thread sleeps
  }
  void run() {  // the engine's thread
    std::unique_lock lock(_mutex);
    auto all = std::exchange(_list, {});
    lock.unlock();
    for (auto& each : all) each();
  }

 private:
  faio::ioengine::engine& _of;
  std::mutex _mutex;
  std::vector<std::function<void()>> _list;
};

int main() {
  auto made = faio::ioengine::engine::create();
  if (!made) return std::fprintf(stderr, "%s\n", made.error().message.c_str()), 1;
  errands list(**made);
  int done = 0;  // touched by the engine's thread alone
  std::jthread other([&] {
    for (int i = 0; i < 100; ++i) list.add([&] { ++done; });
  });
  while (done < 100) {
    (*made)->wait_and_drive();  // no wake is lost: one that comes before the sleep ends it at once
    list.run();
  }
  other.join();  // before the engine goes
  std::printf("%d errands\n", done);
  return done == 100 ? 0 : 1;
}
