// responder -- a TCP server: a task for each connection, which reads a request and writes the reply.
#include "common/reply.hpp"

#include <array>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

#include "workloads.hpp"

namespace compare {
namespace {

using faio::net::endpoint, faio::net::tcp_listener, faio::net::tcp_stream, faio::task;

task<> answer_all(tcp_stream client, bool on_compute_workers, bool ahead) {
  (void)client.set_no_delay();  // refused: slower, no worse
  if (ahead) client.receive_ahead();
  std::array<std::byte, request_room> room;
  for (;;) {
    auto got = co_await client.read_some(room);
    if (!got || *got == 0) co_return;
    const std::string_view bytes(reinterpret_cast<const char*>(room.data()), *got);
    if (!ends_request(bytes)) continue;
    if (asks_to_compute(bytes)) {
      if (on_compute_workers) {
        co_await faio::compute(compute_for_a_millisecond);
      } else {
        compute_for_a_millisecond();
      }
    }
    auto sent = co_await client.write_all(reply);
    if (!sent) co_return;
  }
}

}  // namespace

/// Prints its port and serves until it is ended. compute=here: in the task itself; compute=workers: by faio::compute. ahead=0: each read asks the system anew.
void responder(options& wanted) {
  auto listener = tcp_listener::bind(endpoint::loopback(static_cast<std::uint16_t>(wanted.number("port", 0))));
  if (!listener) fail("responder: " + listener.error().message());
  const bool on_compute_workers = wanted.text("compute", "here") == "workers";
  const bool ahead = wanted.number("ahead", 1) != 0;
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  report().add("port", listener->local().port()).print();
  ctx.block_on([&]() -> task<> {
    const auto handler = [=](tcp_stream client) { return answer_all(std::move(client), on_compute_workers, ahead); };
    auto served = co_await faio::net::serve(*listener, handler);
    if (!served) fail("responder: " + served.error().message());
  });
}

}  // namespace compare
