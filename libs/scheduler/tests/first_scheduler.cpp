// first_scheduler -- the example of README.md: work on any worker, on one worker, later, and on compute workers.
#include <cstdio>
#include <faio/scheduler/runtime_poller.hpp>

using namespace std::chrono_literals;
namespace scheduler = faio::scheduler;

int main() {
  scheduler::runtime rt({.workers = 2});
  rt.post([&] {                                                   // on whichever worker is free
    scheduler::this_worker::post_local([] { std::puts("local"); });  // others may steal it
    scheduler::this_worker::post_self([] { std::puts("self"); });    // nobody may
    rt.post_compute([] { std::puts("computed"); });                  // where long computations disturb no I/O
  });
  rt.post_to(0, [] { std::printf("on worker %zu\n", *scheduler::this_worker::id()); });
  rt.post_after(20ms, [&] {
    std::puts("later");
    rt.stop();  // on a worker: begins the end
  });
  rt.run();  // this thread works too, until then
  std::printf("%llu tasks ran\n", static_cast<unsigned long long>(rt.metrics().total().tasks_run));
}
