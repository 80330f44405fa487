#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/net/net.hpp>

using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

faio::task<void> answer_one(tcp_listener& listener) {
  auto client = co_await listener.accept();
  if (!client) co_return;
  auto line = co_await client->read_until("\n");
  if (line) co_await client->write_all("you said: " + *line);
}

faio::task<bool> ask(endpoint where) {
  auto server = co_await tcp_stream::connect(where);
  if (!server) co_return false;
  co_await server->write_all("hello\n");
  auto reply = co_await server->read_until("\n");
  if (reply) std::printf("%s", reply->c_str());
  co_return reply.has_value();
}

int main() {
  auto listener = tcp_listener::bind(endpoint::loopback(0));
  if (!listener) return 1;
  faio::runtime_context ctx;
  const auto both = ctx.wait_all(answer_one(*listener), ask(listener->local()));
  return std::get<1>(both) ? 0 : 1;
}
