// proxy -- hands connections on to another server, both ways, within limits.
//
//   proxy 127.0.0.1:8000 example.org 80
//   proxy 127.0.0.1:8000 127.0.0.1 8080 --most 100 --connect-limit 2 --idle-limit 60        seconds
//
// A client that ends its direction is heard out: the other direction goes on until the server has ended too. Nothing is read that cannot be
// handed on: a slow reader on one side slows the other side down, and costs 16 KiB.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <faio/faio.hpp>
#include <memory>
#include <string>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

struct options {
  endpoint listen;
  std::string host;
  std::string service;
  unsigned most = 1000;                       // connections at once; more are turned away
  std::chrono::seconds connect_limit = 5s;    // how long the server may take to answer
  std::chrono::seconds idle_limit = 5 * 60s;  // how long both sides may be silent
};

faio::task<void> hand_on(tcp_stream client, const options& set, faio::sync::semaphore& room) {
  if (!room.try_acquire()) co_return;  // full: the client sees the end at once
  const auto give_back = [](faio::sync::semaphore* taken) { taken->release(); };
  const std::unique_ptr<faio::sync::semaphore, decltype(give_back)> seat(&room, give_back);

  auto server = co_await tcp_stream::connect(set.host, set.service, {.timeout = set.connect_limit});
  if (!server) {
    std::fprintf(stderr, "proxy: %s: %s\n", set.host.c_str(), server.error().message().c_str());
    co_return;
  }
  (void)client.set_no_delay();  // both refused only when the peer is gone, which the copy will find out
  (void)server->set_no_delay();
  co_await faio::net::copy_both(client, *server, {.idle = set.idle_limit});
}

faio::task<bool> run(const options& set) {
  auto ctrl_c = faio::process::signal_set::listen({SIGINT, SIGTERM}).value();  // heard from here on
  auto listener = tcp_listener::bind(set.listen);
  if (!listener) {
    std::fprintf(stderr, "proxy: %s: %s\n", set.listen.to_string().c_str(), listener.error().message().c_str());
    co_return false;
  }
  std::printf("proxy: listening on %s\n", listener->local().to_string().c_str());
  std::fflush(stdout);
  faio::sync::semaphore room(set.most);
  const auto handler = [&](tcp_stream client) { return hand_on(std::move(client), set, room); };
  auto serving = faio::spawn(faio::net::serve(*listener, handler, {.grace = 2s}));
  co_await ctrl_c.next();
  serving.request_stop();
  auto ended = co_await std::move(serving);
  co_return ended.has_value();
}

// False: it says so nowhere else.
bool parse(int argc, char** argv, options& set) {
  if (argc < 4 || argc % 2 != 0) return false;
  const auto listen = endpoint::parse(argv[1]);
  if (!listen) return false;
  set.listen = *listen;
  set.host = argv[2];
  set.service = argv[3];
  for (int at = 4; at + 1 < argc; at += 2) {
    const std::string_view name = argv[at];
    const char* const text = argv[at + 1];
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error != std::errc() || *end != '\0') return false;
    if (name == "--most") {
      set.most = value;
    } else if (name == "--connect-limit") {
      set.connect_limit = std::chrono::seconds(value);
    } else if (name == "--idle-limit") {
      set.idle_limit = std::chrono::seconds(value);
    } else {
      return false;
    }
  }
  return true;
}

int main(int argc, char** argv) {
  options set;
  if (!parse(argc, argv, set)) {
    std::fprintf(stderr,
                 "usage: %s listen-address:port host service [--most connections] [--connect-limit seconds] "
                 "[--idle-limit seconds]\n",
                 argv[0]);
    return 2;
  }
  faio::runtime_context ctx;
  return ctx.block_on(run(set)) ? 0 : 1;
}
