// idle_bench -- what a runtime costs that has nothing to do: processor time of the whole process over some seconds.
//
//   idle_bench [seconds, 10 unless told]
//
// Isolates: sleeping workers, far timers in their wheels, polls in flight on idle sockets. Leaves out: starting and stopping, and
// what the kernel does for sockets outside of the process. The bar is 10 ms for 10 seconds, in proportion for other times.
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <latch>
#include <thread>
#include <vector>

#include "faio/scheduler/runtime_poller.hpp"

namespace {

using namespace std::chrono_literals;
using faio::scheduler::engine_kind;
using faio::scheduler::runtime;
using faio::scheduler::watcher;

constexpr std::size_t workers = 8;
constexpr int timers = 1000;
constexpr int sockets = 1000;

double cpu_milliseconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

/// Waits until all workers have gone through their inboxes and sleep, so that starting is not measured.
void settle(runtime& rt) {
  std::latch seen(workers);
  for (std::size_t id = 0; id < workers; ++id) rt.post_to(id, [&] { seen.count_down(); });
  seen.wait();
  while (rt.shared().io.machine.sleeping() != workers) std::this_thread::yield();
}

bool measure(const char* what, runtime& rt, std::chrono::duration<double> time) {
  settle(rt);
  const auto before = rt.metrics().total();
  const double start = cpu_milliseconds();
  std::this_thread::sleep_for(time);
  const double used = cpu_milliseconds() - start;
  const auto after = rt.metrics().total();
  const double bar = time.count();  // 10 ms in 10 s
  std::printf("%-6.*s %-38s %8.3f ms of CPU in %.1f s, bar %.1f ms: %s   (%llu parks)\n",
              static_cast<int>(to_string(rt.metrics().engine).size()), to_string(rt.metrics().engine).data(), what,
              used, time.count(), bar, used < bar ? "under" : "OVER",
              static_cast<unsigned long long>(after.parks - before.parks));
  return used < bar;
}

struct socket_pairs {
  std::vector<int> all;
  socket_pairs() {
    for (int i = 0; i < sockets; ++i) {
      int pair[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        std::perror("idle_bench: socketpair");
        std::exit(2);
      }
      all.insert(all.end(), {pair[0], pair[1]});
    }
  }
  socket_pairs(const socket_pairs&) = delete;
  socket_pairs& operator=(const socket_pairs&) = delete;
  ~socket_pairs() {
    for (const int fd : all) ::close(fd);
  }
};

bool measure_all(engine_kind kind, std::chrono::duration<double> time) {
  const socket_pairs idle;
  runtime rt({.workers = workers, .engine = kind});
  bool good = measure("8 workers, no work", rt, time);
  for (int i = 0; i < timers; ++i) rt.post_after(1h + std::chrono::seconds(i), [] {});
  good &= measure("and 1,000 far timers", rt, time);
  std::vector<watcher> watched;
  for (int i = 0; i < sockets; ++i) {
    auto one = rt.watch(idle.all[static_cast<std::size_t>(2 * i)], POLLIN, [](int) {});
    if (!one) {
      std::fprintf(stderr, "idle_bench: watch: %s\n", one.error().message().c_str());
      std::exit(2);
    }
    watched.push_back(std::move(*one));
  }
  good &= measure("and 1,000 idle sockets watched", rt, time);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 10.0;
  if (!(seconds > 0)) {
    std::fputs("idle_bench [seconds]\n", stderr);
    return 2;
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, std::min<rlim_t>(files.rlim_max, 8192));
  ::setrlimit(RLIMIT_NOFILE, &files);
  bool good = true;
  if (faio::ioengine::engine::create({.kind = engine_kind::uring})) {
    good &= measure_all(engine_kind::uring, std::chrono::duration<double>(seconds));
  } else {
    std::puts("uring: refused by this machine");
  }
  good &= measure_all(engine_kind::epoll, std::chrono::duration<double>(seconds));
  return good ? 0 : 1;
}
