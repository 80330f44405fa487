// net_lines -- a protocol of lines with few system calls: a request may bring several lines, all answers leave in one write.
#include <cstdio>
#include <faio/context/context.hpp>
#include <faio/net/net.hpp>
#include <string>

using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

faio::task<void> answer(tcp_stream peer) {
  faio::net::buffered_reader in(peer);
  faio::net::buffered_writer out(peer);
  for (;;) {
    auto line = co_await in.read_line();  // without its "\n" or "\r\n"; good until the next read
    if (!line) co_return;
    const std::string reply = std::to_string(line->size()) + "\n";
    auto wrote = co_await out.write(reply);
    if (!wrote) co_return;
    if (!in.buffered().empty()) continue;  // there is more to answer first
    auto flushed = co_await out.flush();
    if (!flushed) co_return;
  }
}

faio::task<bool> program() {
  auto listener = tcp_listener::bind(endpoint::loopback(0));
  if (!listener) co_return false;
  auto serving = faio::spawn(faio::net::serve(*listener, answer));
  std::string all;
  {
    auto peer = co_await tcp_stream::connect(listener->local());
    if (!peer) co_return false;
    co_await peer->write_all("one\nthree\r\n\n");
    for (int i = 0; i < 3; ++i) {
      auto line = co_await peer->read_until("\n");
      if (line) all += *line;
    }
  }
  serving.request_stop();
  (void)co_await std::move(serving);
  std::printf("%s", all.c_str());
  co_return all == "3\n5\n0\n";
}

int main() {
  faio::runtime_context ctx{{.workers = 2}};
  return ctx.block_on(program()) ? 0 : 1;
}
