// observing -- the seventh chapter of docs/tutorial.md.
#include <cstdio>
#include <exception>
#include <faio/faio.hpp>
#include <source_location>
#include <stdexcept>

faio::task<void> fails() {
  co_await faio::yield();
  throw std::runtime_error("nobody takes this");
}

int main() {
  faio::runtime_context ctx{{
      .workers = 2,
      // Exceptions of tasks whose handle was dropped come here, with the place of the spawn. By default: a line on stderr.
      .on_unhandled =
          [](std::exception_ptr what, const std::source_location& where) {
            try {
              std::rethrow_exception(what);
            } catch (const std::exception& error) {
              std::printf("line %u spawned it: %s\n", where.line(), error.what());
            }
          },
  }};
  ctx.block_on([]() -> faio::task<void> {
    faio::spawn(fails());
    for (int i = 0; i < 1000; ++i) co_await faio::yield();
  });
  const auto metrics = ctx.metrics();
  const auto total = metrics.total();
  std::printf("ran more than 1000 tasks: %s\n", total.tasks_run > 1000 ? "yes" : "no");
  std::printf("exceptions without a taker: %llu\n", static_cast<unsigned long long>(metrics.unhandled_exceptions));
}
