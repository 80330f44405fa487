// asio -- the same with faio.
#include <array>
#include <chrono>
#include <cstdio>
#include <faio/faio.hpp>
#include <span>
#include <string>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

faio::task<void> session(tcp_stream peer) {
  std::array<std::byte, 1024> room;
  for (;;) {
    auto count = co_await faio::timeout(30s, peer.read_some(room));
    if (!count || *count == 0) co_return;  // silent, an error; or it has ended
    auto sent = co_await peer.write_all(std::span(room).first(*count));
    if (!sent) co_return;
  }
}

faio::task<void> serve_one(tcp_listener& listener) {
  auto peer = co_await listener.accept();
  if (peer) faio::spawn(session(std::move(*peer)));
}

faio::task<std::string> ask(endpoint where) {
  auto server = co_await tcp_stream::connect(where);
  if (!server) co_return "";
  co_await server->write_all("hello\n");
  auto line = co_await server->read_until("\n");
  co_return line.value_or("");
}

int main() {
  auto listener = tcp_listener::bind(endpoint::loopback(0));
  if (!listener) return 1;
  faio::runtime_context ctx;
  auto [served, heard] = ctx.wait_all(serve_one(*listener), ask(listener->local()));
  std::printf("%s", heard.c_str());
  return heard == "hello\n" ? 0 : 1;
}
