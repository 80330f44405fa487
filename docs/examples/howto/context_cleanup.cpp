// context_cleanup -- a task that is asked to stop ends in good order, with awaits of its own.
#include <chrono>
#include <cstdio>
#include <faio/context/context.hpp>

using namespace std::chrono_literals;

faio::task<faio::result<void>> say_goodbye() {
  co_return co_await faio::sleep_for(1ms);  // a last message, a commit
}

faio::task<bool> session() {
  auto slept = co_await faio::sleep_for(1h);  // ends at once when we are asked to stop ...
  if (slept) co_return false;
  // ... and so would every wait after it. A shield keeps the request away; the limit is for a goodbye that hangs.
  auto bye = faio::timeout(10s, say_goodbye());
  auto said = co_await faio::shield(std::move(bye));
  co_return said.has_value();
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  auto running = ctx.spawn(session());
  running.request_stop();
  const bool in_good_order = running.get();
  std::printf("said goodbye: %s\n", in_good_order ? "yes" : "no");
  return in_good_order ? 0 : 1;
}
