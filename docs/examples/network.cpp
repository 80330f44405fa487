// network -- the fourth chapter of docs/tutorial.md.
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>
#include <string>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

// One connection: lines in, lines out in capitals.
faio::task<void> shout(tcp_stream peer) {
  for (;;) {
    auto line = co_await peer.read_until("\n");
    if (!line) co_return;  // the peer has ended, or we were stopped
    for (char& each : *line) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    auto sent = co_await peer.write_all(*line);
    if (!sent) co_return;
  }
}

faio::task<void> ask(endpoint server) {
  auto peer = co_await tcp_stream::connect(server, {.timeout = 1s});
  if (!peer) {
    std::printf("connect: %s\n", peer.error().message().c_str());
    co_return;
  }
  co_await peer->write_all("is anybody there?\n");
  auto answer = co_await faio::timeout(1s, peer->read_until("\n"));
  std::printf("%s", answer ? answer->c_str() : "no answer\n");
}

faio::task<void> program() {
  auto listener = tcp_listener::bind(endpoint::loopback(0));  // 0: any free port
  if (!listener) co_return;
  auto server = faio::spawn(faio::net::serve(*listener, shout, {.grace = 100ms}));
  co_await ask(listener->local());
  server.request_stop();  // accepts no more, lets connections finish within the grace
  (void)co_await std::move(server);
}

int main() {
  faio::runtime_context ctx;
  ctx.block_on(program());
}
