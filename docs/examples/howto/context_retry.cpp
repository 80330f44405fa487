// context_retry -- try again with a time limit for each attempt and a growing pause between them.
#include <chrono>
#include <cstdio>
#include <faio/context/context.hpp>
#include <string>
#include <system_error>

using namespace std::chrono_literals;

// `attempt()` makes a task<result<T>>, a new one each time: a task runs once.
template <class Attempt>
auto retry(int times, std::chrono::nanoseconds limit, Attempt attempt) -> decltype(attempt()) {
  std::chrono::nanoseconds pause = 1ms;
  for (int i = 1;; ++i, pause *= 2) {
    auto got = co_await faio::timeout(limit, attempt());  // out of time: it was stopped and has ended
    if (got || i == times || got.error() == std::errc::operation_canceled) co_return got;
    auto slept = co_await faio::sleep_for(pause);
    if (!slept) co_return std::unexpected(slept.error());  // we were asked to stop
  }
}

int main() {
  int calls = 0;
  auto flaky = [&]() -> faio::task<faio::result<std::string>> {
    ++calls;
    if (calls == 1) co_return std::unexpected(std::make_error_code(std::errc::connection_refused));
    if (calls == 2) {  // hangs, until the limit stops it
      auto slept = co_await faio::sleep_for(1h);
      if (!slept) co_return std::unexpected(slept.error());
    }
    co_return "an answer";
  };
  faio::runtime_context ctx{{.workers = 2}};
  const auto got = ctx.block_on(retry(5, 20ms, flaky));
  std::printf("%s after %d calls\n", got ? got->c_str() : got.error().message().c_str(), calls);
  return got && calls >= 3 ? 0 : 1;
}
