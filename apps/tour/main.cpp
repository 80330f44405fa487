// tour -- faio at work, and what it looks like from inside.
//
//   tour [--seconds N] [--plain]
//
// One runtime on all cores serves HTTP to its own clients, forks and joins in bursts, calculates, and keeps ten thousand timers, while a task of the same
// runtime shows what each worker does. Ends with 1 when no request was answered, or anything failed. Start with load.cpp: it is what a user would write.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <faio/faio.hpp>
#include <string_view>

#include "load.hpp"
#include "view.hpp"

namespace {

faio::task<void> hear(faio::process::signal_set& ctrl_c) { (void)co_await ctrl_c.next(); }

/// The picture is a task beside the load. Whichever is first, the end of its time or Ctrl-C, stops the other; then the load.
faio::task<void> show(tour::view& screen, tour::figures& notes) {
  auto ctrl_c = faio::process::signal_set::listen({SIGINT, SIGTERM}).value();
  auto load = faio::spawn(tour::run_load(notes));
  (void)co_await faio::when_any(screen.run(), hear(ctrl_c));
  load.request_stop();
  co_await std::move(load);
}

}  // namespace

int main(int argc, char** argv) {
  std::chrono::seconds length(15);
  bool live = ::isatty(STDOUT_FILENO) != 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--seconds" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      length = std::chrono::seconds(std::atoi(argv[++i]));
    } else if (word == "--plain") {
      live = false;
    } else {
      std::fprintf(stderr, "usage: tour [--seconds N] [--plain]\n");
      return 2;
    }
  }
  faio::runtime_context ctx;
  tour::figures notes;
  std::printf("faio serves HTTP to %zu connections of its own, keeps %zu timers and calculates, for %lld s.\n\n",
              tour::connections, tour::timers, static_cast<long long>(length.count()));
  tour::view screen(ctx, notes, length, live);
  ctx.block_on(show(screen, notes));
  return screen.summarise() ? 0 : 1;
}
