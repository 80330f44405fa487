// runtime -- something of each library, so that each is linked, loaded and works: a program's output goes through a channel
// and a socket into a file.
#include <cstdio>
#include <cstdlib>
#include <faio/faio.hpp>
#include <string>

using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream;

faio::task<> produce(faio::sync::channel<std::string>& lines) {
  auto sorted = co_await faio::process::output(faio::process::command("sort"), "b\na\n");
  if (sorted) co_await lines.send(sorted->out);
  lines.close();
}

faio::task<> send_all(faio::sync::channel<std::string>& lines, endpoint where) {
  auto server = co_await tcp_stream::connect(where);
  if (!server) co_return;
  while (auto line = co_await lines.recv()) co_await server->write_all(*line);
}

faio::task<bool> save(tcp_listener& listener, std::string path) {
  auto client = co_await listener.accept();
  if (!client) co_return false;
  auto first = co_await client->read_until("\n");
  auto second = co_await client->read_until("\n");
  if (!first || !second) co_return false;
  auto wrote = co_await faio::fs::write_file(path, *first + *second);
  auto read = co_await faio::fs::read_file(path);
  auto removed = co_await faio::fs::remove(path);
  co_return wrote&& removed&& read && read->size() == 4;
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "runtime: takes the path of a file that it may write\n"), EXIT_FAILURE;
  auto listener = tcp_listener::bind(endpoint::loopback(0));
  if (!listener) return std::fprintf(stderr, "runtime: %s\n", listener.error().message().c_str()), EXIT_FAILURE;

  faio::sync::channel<std::string> lines(1);
  faio::runtime_context ctx{{.workers = 2}};
  const auto done = ctx.wait_all(produce(lines), send_all(lines, listener->local()), save(*listener, argv[1]));
  std::printf("runtime: %s\n", std::get<2>(done) ? "all parts work" : "a part does not work");
  return std::get<2>(done) ? EXIT_SUCCESS : EXIT_FAILURE;
}
