// chat -- a room: what one says, all hear.
//
//   chat [address]        127.0.0.1:7000 unless it is told otherwise
//   nc 127.0.0.1 7000     in as many terminals as you like; the first line is your name
//
// Each guest is two tasks: one reads lines and says them to the room, the other one hears the room and writes. They share nothing but the
// connection's two halves. Whoever reads too slowly misses some, and is told so; nobody else waits for it.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <faio/faio.hpp>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;
using chat_room = faio::sync::broadcast<std::string>;

template <class Reader>
faio::task<void> speak(Reader& in, chat_room& all, const std::string& name) {
  for (;;) {
    auto line = co_await in.read_line();
    if (!line) co_return;                                     // gone, or a line longer than anybody wants to read
    (void)all.send(name + ": " + std::string(*line) + "\n");  // refused: the room has closed
  }
}

faio::task<void> listen(faio::net::write_half& out, chat_room::receiver& heard) {
  for (;;) {
    auto said = co_await heard.recv();
    if (!said && said.error() != faio::sync::errc::lagged) co_return;
    const std::string text = said ? *said : "* you missed " + std::to_string(heard.missed()) + " lines\n";
    auto sent = co_await out.write_all(text);
    if (!sent) co_return;
  }
}

faio::task<void> be_guest(tcp_stream client, chat_room& all) {
  auto [in_half, out] = std::move(client).split();
  faio::net::buffered_reader in(in_half, 4096);
  co_await out.write_all("* what is your name?\n");
  const auto line = co_await in.read_line();
  if (!line) co_return;
  const std::string name(*line);
  auto heard = all.subscribe();
  (void)all.send("* " + name + " is here\n");
  // Whichever ends first ends both.
  co_await faio::when_any(speak(in, all, name), listen(out, heard));
  (void)all.send("* " + name + " has left\n");
}

faio::task<bool> run(endpoint where) {
  auto ctrl_c = faio::process::signal_set::listen({SIGINT, SIGTERM}).value();  // heard from here on
  auto listener = tcp_listener::bind(where);
  if (!listener) {
    std::fprintf(stderr, "chat: %s: %s\n", where.to_string().c_str(), listener.error().message().c_str());
    co_return false;
  }
  std::printf("chat: listening on %s\n", listener->local().to_string().c_str());
  std::fflush(stdout);
  chat_room all(256);
  const auto handler = [&](tcp_stream client) { return be_guest(std::move(client), all); };
  auto serving = faio::spawn(faio::net::serve(*listener, handler, {.grace = 1s}));
  co_await ctrl_c.next();
  (void)all.send("* the room closes\n");
  all.close();  // guests hear what is left, then their connection ends
  serving.request_stop();
  auto ended = co_await std::move(serving);
  co_return ended.has_value();
}

int main(int argc, char** argv) {
  const auto where = endpoint::parse(argc > 1 ? argv[1] : "127.0.0.1:7000");
  if (!where) {
    std::fprintf(stderr, "usage: %s [address:port]\n", argv[0]);
    return 2;
  }
  faio::runtime_context ctx;
  return ctx.block_on(run(*where)) ? 0 : 1;
}
