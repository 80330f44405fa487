// asio -- an echo server that hangs up on whoever is silent.
#include <boost/asio.hpp>
#include <boost/asio/experimental/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <cstdio>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
constexpr auto no_throw = asio::experimental::as_tuple(asio::use_awaitable);

asio::awaitable<void> session(tcp::socket peer) {
  asio::steady_timer limit(co_await asio::this_coro::executor);
  char room[1024];
  for (;;) {
    limit.expires_after(30s);
    auto first = co_await (peer.async_read_some(asio::buffer(room), no_throw) || limit.async_wait(no_throw));
    if (first.index() == 1) co_return;  // silent
    auto [error, count] = std::get<0>(first);
    if (error) co_return;
    auto [failed, sent] = co_await asio::async_write(peer, asio::buffer(room, count), no_throw);
    if (failed) co_return;
  }
}

asio::awaitable<void> serve_one(tcp::acceptor& acceptor) {
  tcp::socket peer = co_await acceptor.async_accept(asio::use_awaitable);
  asio::co_spawn(acceptor.get_executor(), session(std::move(peer)), asio::detached);
}

asio::awaitable<void> ask(tcp::endpoint where, std::string& heard) {
  tcp::socket server(co_await asio::this_coro::executor);
  co_await server.async_connect(where, asio::use_awaitable);
  co_await asio::async_write(server, asio::buffer("hello\n", 6), asio::use_awaitable);
  co_await asio::async_read_until(server, asio::dynamic_buffer(heard), '\n', asio::use_awaitable);
}

int main() {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  std::string heard;
  asio::co_spawn(io, serve_one(acceptor), asio::detached);
  asio::co_spawn(io, ask(acceptor.local_endpoint(), heard), asio::detached);
  io.run();
  std::printf("%s", heard.c_str());
  return heard == "hello\n" ? 0 : 1;
}
