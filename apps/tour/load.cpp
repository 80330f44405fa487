// load -- each part as a user would write it.
#include "load.hpp"

#include <array>
#include <chrono>
#include <random>
#include <span>
#include <string_view>

namespace tour {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using faio::task;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

constexpr auto question = "GET / HTTP/1.1\r\nHost: tour\r\n\r\n"sv;
constexpr auto answer = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nHello, world!\n"sv;

// ---- A web server, and those who ask it.

task<void> serve_one(tcp_stream client) {
  (void)client.set_no_delay();
  faio::net::buffered_reader in(client);
  for (;;) {
    auto head = co_await in.read_until("\r\n\r\n");
    if (!head || head->empty()) co_return;
    auto sent = co_await client.write_all(answer);
    if (!sent) co_return;
  }
}

task<void> ask_for_ever(endpoint server, figures& notes) {
  auto connected = co_await tcp_stream::connect(server);
  if (!connected) co_return;
  auto& stream = *connected;
  (void)stream.set_no_delay();
  std::array<std::byte, answer.size()> heard{};
  for (;;) {
    const auto began = faio::clock::now();
    auto sent = co_await stream.write_all(question);
    if (!sent) break;
    auto got = co_await stream.read_exactly(heard);
    if (!got) break;
    notes.requests.note(faio::clock::now() - began);
  }
  const auto token = co_await faio::current_stop_token();
  if (!token.stop_requested()) ++notes.failures;
}

// ---- Calculations, on the compute workers: the others go on serving.

std::uint64_t count_primes_below(std::uint64_t limit) {
  std::uint64_t found = 0;
  for (std::uint64_t n = 2; n < limit; ++n) {
    bool prime = true;
    for (std::uint64_t d = 2; d * d <= n && prime; ++d) prime = n % d != 0;
    found += prime ? 1 : 0;
  }
  return found;
}

task<void> calculate_for_ever(figures& notes) {
  for (;;) {
    co_await faio::compute([] { return count_primes_below(20'000); });
    ++notes.calculations;
    auto rested = co_await faio::sleep_for(10ms);
    if (!rested) co_return;
  }
}

// ---- Timers: each a task that sleeps, and notes how late it was woken.

task<void> sleep_for_ever(std::uint32_t seed, figures& notes) {
  std::minstd_rand random(seed);
  for (;;) {
    const auto due = faio::clock::now() + std::chrono::milliseconds(100 + random() % 1900);
    auto slept = co_await faio::sleep_until(due);
    if (!slept) co_return;
    notes.lateness.note(faio::clock::now() - due);
  }
}

}  // namespace

task<void> run_load(figures& notes) {
  auto listener = tcp_listener::bind(endpoint::loopback(0)).value();
  faio::task_group all;
  all.spawn(faio::net::serve(listener, serve_one, {.grace = 1s}));
  for (std::size_t i = 0; i < connections; ++i) all.spawn(ask_for_ever(listener.local(), notes));
  for (int i = 0; i < 2; ++i) all.spawn(calculate_for_ever(notes));
  for (std::size_t i = 0; i < timers; ++i) all.spawn(sleep_for_ever(static_cast<std::uint32_t>(i + 1), notes));
  co_await all.join();
}

}  // namespace tour
