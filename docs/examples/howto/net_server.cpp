// net_server -- a server with limits: on connections, on the length of a line, on silence; it ends in good order.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/net/net.hpp>
#include <string>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

constexpr int most_connections = 2;
constexpr std::size_t longest_line = 1024;
constexpr auto longest_silence = 30s;

faio::task<void> talk(tcp_stream& peer) {
  for (;;) {
    auto line = co_await faio::timeout(longest_silence, peer.read_until("\n", longest_line));
    if (!line) co_return;  // it ended, was silent, sent too long a line; or our grace is over
    auto sent = co_await faio::timeout(longest_silence, peer.write_all(*line));
    if (!sent) co_return;
  }
}

faio::task<std::string> ask(tcp_stream& server, std::string line) {
  auto sent = co_await server.write_all(line);
  if (!sent) co_return "";
  auto answer = co_await server.read_until("\n");
  co_return answer.value_or("");
}

faio::task<bool> program() {
  auto listener = tcp_listener::bind(endpoint::loopback(0));
  if (!listener) co_return false;
  std::atomic<int> open{0};
  auto handle = [&open](tcp_stream peer) -> faio::task<void> {
    const bool welcome = ++open <= most_connections;
    if (welcome) co_await talk(peer);
    if (!welcome) co_await peer.write_all("busy, come again\n");
    --open;
  };
  auto serving = faio::spawn(faio::net::serve(*listener, handle, {.grace = 1s}));

  bool right = false;
  {
    auto one = co_await tcp_stream::connect(listener->local(), {.timeout = 5s});
    auto two = co_await tcp_stream::connect(listener->local(), {.timeout = 5s});
    if (!one || !two) co_return false;
    const auto first = co_await ask(*one, "hello\n");
    const auto second = co_await ask(*two, "hello\n");
    auto three = co_await tcp_stream::connect(listener->local(), {.timeout = 5s});
    if (!three) co_return false;
    auto third = co_await three->read_until("\n");
    const auto endless = co_await ask(*two, std::string(2 * longest_line, 'x'));  // it hangs up
    right = first == "hello\n" && second == "hello\n" && third == "busy, come again\n" && endless.empty();
  }
  serving.request_stop();  // no new connections; those that are there have the grace; then they are stopped
  auto ended = co_await std::move(serving);
  std::puts(right ? "within the limits" : "something is wrong");
  co_return right&& ended&& open == 0;
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  return ctx.block_on(program()) ? 0 : 1;
}
