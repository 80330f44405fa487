// hot_paths -- each hot path as often as asked, for ci/check_instructions: what a run twice as long executes more is the path alone.
//
//   hot_paths spawn 20000
//
// One worker, so that the same instructions run every time. The runtime's engine is epoll here: valgrind (3.19) keeps its one lock while a
// thread sleeps in io_uring_enter, and nobody else runs. The ring is measured by itself, on a thread that never sleeps in it.
#include <fcntl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "faio/faio.hpp"
#include "faio/ioengine/engine.hpp"
#include "faio/ioengine/timer_wheel.hpp"
#include "faio/queue/local_queue.hpp"

namespace {

using faio::task;

[[noreturn]] void fail(const char* why) {
  std::fprintf(stderr, "hot_paths: %s\n", why);
  std::exit(1);
}

task<std::size_t> number(std::size_t n) { co_return n; }

/// Spawned, run, and awaited through its handle.
task<> spawn(std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    auto got = co_await faio::spawn(number(i));
    if (got != i) fail("spawn");
  }
}
task<> yield(std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) co_await faio::yield();
}
task<> when_all_of_two(std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    auto [a, b] = co_await faio::when_all(number(i), number(1));
    if (a + b != i + 1) fail("when_all");
  }
}
/// Nobody has to wait: there is room, and then there is a value.
task<> channel_send_and_recv(std::size_t times) {
  faio::sync::channel<std::size_t> items(128);
  for (std::size_t i = 0; i < times; ++i) {
    co_await items.send(i);
    auto got = co_await items.recv();
    if (!got || *got != i) fail("channel");
  }
}

void on_a_worker(task<> (*path)(std::size_t), std::size_t times) {
  faio::runtime_context ctx{{.workers = 1, .engine = faio::engine_kind::epoll}};
  ctx.block_on(path(times));
}

/// A timeout that is not reached, as most are.
void timer_add_and_cancel(std::size_t times) {
  using faio::ioengine::time_point, faio::ioengine::timer_entry;
  const time_point start{std::chrono::hours(100)};
  faio::ioengine::timer_wheel wheel(start);
  timer_entry timer([](timer_entry&) noexcept { fail("timer"); });
  for (std::size_t i = 0; i < times; ++i) {
    wheel.add(timer, start + std::chrono::seconds(30));
    if (!wheel.cancel(timer)) fail("timer");
  }
}

struct no_overflow {
  bool push_batch(std::span<std::size_t*>) const noexcept { fail("local queue: full"); }
};
void local_push_and_pop(std::size_t times) {
  faio::queue::local_queue<std::size_t*, 256> queue;
  std::size_t item = 0;
  for (std::size_t i = 0; i < times; ++i) {
    queue.push_back(&item, no_overflow{});
    if (queue.pop() != &item) fail("local queue");
  }
}

/// A page that is in the cache: submitted, completed and reaped by one drive.
void uring_read(std::size_t times) {
  using namespace faio::ioengine;
  auto made = engine::create({.kind = engine_kind::uring});
  if (!made) {
    std::fprintf(stderr, "hot_paths: %s\n", made.error().message.c_str());
    std::exit(77);  // refused here, not wrong
  }
  engine& io = **made;
  const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail("cannot open itself");
  static std::array<std::byte, 4096> buffer;
  operation read([](operation&) noexcept {});
  for (std::size_t i = 0; i < times; ++i) {
    read.prepare_read(fd, buffer, 0);
    io.submit(read);
    while (read.in_flight()) io.drive();
    if (read.result() <= 0) fail("read");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: hot_paths PATH TIMES");
  const std::string_view path = argv[1];
  const std::size_t times = std::strtoull(argv[2], nullptr, 10);
  if (path == "spawn") {
    on_a_worker(spawn, times);
  } else if (path == "yield") {
    on_a_worker(yield, times);
  } else if (path == "when_all") {
    on_a_worker(when_all_of_two, times);
  } else if (path == "channel") {
    on_a_worker(channel_send_and_recv, times);
  } else if (path == "timer") {
    timer_add_and_cancel(times);
  } else if (path == "local_queue") {
    local_push_and_pop(times);
  } else if (path == "uring_read") {
    uring_read(times);
  } else {
    fail("no such path");
  }
}
