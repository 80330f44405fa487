// load -- each part as a user would write it.
#include "load.hpp"

#include <array>
#include <chrono>
#include <random>
#include <span>
#include <string_view>
#include <utility>

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

/// Clients come in waves: between them the workers have time, and share the bursts below.
task<faio::result<void>> wait_for_wave() {
  constexpr auto wave = 250ms;
  constexpr auto long_as = 200ms;
  const auto in_it = faio::clock::now().time_since_epoch() % wave;
  if (in_it < long_as) co_return faio::result<void>();
  co_return co_await faio::sleep_for(wave - in_it);
}

/// Ends when a request fails, or it is stopped.
task<void> ask(tcp_stream stream, figures& notes) {
  (void)stream.set_no_delay();
  std::array<std::byte, answer.size()> heard{};
  for (;;) {
    auto came = co_await wait_for_wave();
    if (!came) co_return;
    const auto began = faio::clock::now();
    auto sent = co_await stream.write_all(question);
    if (!sent) co_return;
    auto got = co_await stream.read_exactly(heard);
    if (!got) co_return;
    notes.requests.note(faio::clock::now() - began);
  }
}

task<void> ask_for_ever(endpoint server, figures& notes) {
  auto stream = co_await tcp_stream::connect(server);
  if (stream) {
    ++notes.connected;
    co_await ask(std::move(*stream), notes);
  }
  const auto token = co_await faio::current_stop_token();
  if (!token.stop_requested()) ++notes.failures;
}

// ---- Work that forks and joins, in bursts: it begins on one worker, and the others steal from it.

std::uint64_t count_primes(std::uint64_t from, std::uint64_t to) {
  std::uint64_t found = 0;
  for (std::uint64_t n = from; n < to; ++n) {
    bool prime = true;
    for (std::uint64_t d = 2; d * d <= n && prime; ++d) prime = n % d != 0;
    found += prime ? 1 : 0;
  }
  return found;
}

task<std::uint64_t> fork_primes(std::uint64_t from, std::uint64_t to, figures& notes) {
  ++notes.forks;
  if (to - from <= 250) co_return count_primes(from, to);
  const auto middle = from + (to - from) / 2;
  auto [low, high] = co_await faio::when_all(fork_primes(from, middle, notes), fork_primes(middle, to, notes));
  co_return low + high;
}

task<void> burst_for_ever(figures& notes) {
  faio::interval every(10ms);
  for (;;) {
    auto beat = co_await every.tick();
    if (!beat) co_return;
    co_await fork_primes(2, 16'000, notes);
  }
}

// ---- Calculations, on the compute workers: the others go on serving.

task<void> calculate_for_ever(figures& notes) {
  for (;;) {
    co_await faio::compute([] { return count_primes(2, 20'000); });
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
  all.spawn(burst_for_ever(notes));
  for (int i = 0; i < 2; ++i) all.spawn(calculate_for_ever(notes));
  for (std::size_t i = 0; i < timers; ++i) all.spawn(sleep_for_ever(static_cast<std::uint32_t>(i + 1), notes));
  co_await all.join();
}

}  // namespace tour
