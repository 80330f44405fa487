// net_client -- a client that does not hang: a limit on connecting, one on the whole exchange, and errors told apart.
#include <chrono>
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/net/net.hpp>
#include <string>
#include <system_error>

using namespace std::chrono_literals;
using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

faio::task<faio::result<std::string>> exchange(endpoint with, std::string question) {
  auto peer = co_await tcp_stream::connect(with, {.timeout = 2s});  // a host by its name: connect("localhost", "80", …)
  if (!peer) co_return std::unexpected(peer.error());
  auto sent = co_await peer->write_all(question);
  if (!sent) co_return std::unexpected(sent.error());
  co_return co_await peer->read_until("\n");
}

const char* in_words(const faio::result<std::string>& answer) {
  if (answer) return "an answer";
  if (answer.error() == std::errc::connection_refused) return "nobody is there";
  if (answer.error() == std::errc::timed_out) return "no answer in time";
  if (answer.error() == faio::net::errc::end_of_stream) return "it hung up";
  return "something else";
}

faio::task<bool> program() {
  auto silent = tcp_listener::bind(endpoint::loopback(0));  // takes connections, and says nothing
  auto gone = tcp_listener::bind(endpoint::loopback(0));
  if (!silent || !gone) co_return false;
  const endpoint nobody = gone->local();
  gone->close();

  auto refused = co_await exchange(nobody, "hello\n");
  auto late = co_await faio::timeout(20ms, exchange(silent->local(), "hello\n"));  // all of it, not each step
  std::printf("%s; %s\n", in_words(refused), in_words(late));
  co_return refused.error() == std::errc::connection_refused&& late.error() == std::errc::timed_out;
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  return ctx.block_on(program()) ? 0 : 1;
}
