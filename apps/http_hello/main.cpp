// http_hello -- a web server that says hello: what a load generator can measure.
//
//   http_hello [address]                                  127.0.0.1:8080 unless it is told otherwise
//   curl http://127.0.0.1:8080/
//   wrk -t2 -c64 -d10 http://127.0.0.1:8080/
//
// Connections stay open and requests may come one behind the other without waiting (HTTP/1.1 keep-alive and pipelining). All requests
// that have arrived are answered with one write: under load that is one read and one write for each batch.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <faio/faio.hpp>
#include <string>
#include <string_view>

#include "request.hpp"

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

constexpr auto hello =
    "HTTP/1.1 200 OK\r\nServer: faio\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n"sv;
constexpr auto hello_and_goodbye =
    "HTTP/1.1 200 OK\r\nServer: faio\r\nContent-Type: text/plain\r\nContent-Length: 14\r\nConnection: close\r\n\r\n"
    "Hello, world!\n"sv;
constexpr auto bad_request = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"sv;
constexpr auto too_large =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"sv;

// The body belongs to GET and the like; whoever asks for the head alone gets the head alone.
std::string_view answer_to(const request& one) {
  if (!one.valid) return bad_request;
  const auto whole = one.keep_alive ? hello : hello_and_goodbye;
  return one.head_only ? whole.substr(0, whole.find("\r\n\r\n") + 4) : whole;
}

faio::task<void> talk(tcp_stream client) {
  (void)client.set_no_delay();  // refused: slower, no worse
  faio::net::buffered_reader in(client);
  std::string answers;
  std::size_t body = 0;  // what is still to come of the last request, and of no interest
  for (bool open = true;;) {
    answers.clear();
    while (open) {
      const auto skipped = std::min(body, in.buffered().size());
      in.consume(skipped);
      body -= skipped;
      const auto head = body == 0 ? in.take_until("\r\n\r\n") : std::nullopt;
      if (!head) break;
      const auto one = parse_request(*head);
      answers += answer_to(one);
      body = one.body;
      open = one.keep_alive;
    }
    if (!answers.empty()) {
      auto sent = co_await client.write_all(answers);
      if (!sent) co_return;
    }
    if (!open) co_return;
    auto more = co_await in.fill();
    if (!more && more.error() == faio::net::errc::too_long) co_await client.write_all(too_large);
    if (!more || *more == 0) co_return;
  }
}

faio::task<bool> run(endpoint where) {
  auto ctrl_c = faio::process::signal_set::listen({SIGINT, SIGTERM}).value();  // heard from here on
  auto listener = tcp_listener::bind(where);
  if (!listener) {
    std::fprintf(stderr, "http_hello: %s: %s\n", where.to_string().c_str(), listener.error().message().c_str());
    co_return false;
  }
  std::printf("http_hello: listening on %s\n", listener->local().to_string().c_str());
  std::fflush(stdout);
  auto serving = faio::spawn(faio::net::serve(*listener, talk, {.grace = 1s}));
  co_await ctrl_c.next();
  serving.request_stop();
  auto ended = co_await std::move(serving);
  co_return ended.has_value();
}

int main(int argc, char** argv) {
  const auto where = endpoint::parse(argc > 1 ? argv[1] : "127.0.0.1:8080");
  if (!where) {
    std::fprintf(stderr, "usage: %s [address:port]\n", argv[0]);
    return 2;
  }
  faio::runtime_context ctx;
  return ctx.block_on(run(*where)) ? 0 : 1;
}
