// echo -- says back whatever it hears, to any number of clients at once.
//
//   echo [address]        127.0.0.1:7777 unless it is told otherwise; with port 0 the system chooses one
//   nc 127.0.0.1 7777     in another terminal
//
// Ctrl-C ends it in good order: no new clients, and five seconds for those who are there.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <faio/faio.hpp>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

// One client: everything that it sends goes back to it, until it ends.
faio::task<void> echo(tcp_stream client) { co_await faio::net::copy(client, client); }

faio::task<bool> run(endpoint where) {
  auto ctrl_c = faio::process::signal_set::listen({SIGINT, SIGTERM}).value();  // heard from here on
  auto listener = tcp_listener::bind(where);
  if (!listener) {
    std::fprintf(stderr, "echo: %s: %s\n", where.to_string().c_str(), listener.error().message().c_str());
    co_return false;
  }
  std::printf("echo: listening on %s\n", listener->local().to_string().c_str());

  auto serving = faio::spawn(faio::net::serve(*listener, echo, {.grace = 5s}));
  co_await ctrl_c.next();
  std::puts("echo: stopping");
  serving.request_stop();
  auto ended = co_await std::move(serving);
  co_return ended.has_value();
}

int main(int argc, char** argv) {
  const auto where = endpoint::parse(argc > 1 ? argv[1] : "127.0.0.1:7777");
  if (!where) {
    std::fprintf(stderr, "usage: %s [address:port]\n", argv[0]);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // whole lines, also into a pipe
  faio::runtime_context ctx;
  return ctx.block_on(run(*where)) ? 0 : 1;
}
