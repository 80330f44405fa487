// compare_libuv -- a TCP server with libuv: one loop in one thread, as libuv is used; tries to write at once.
#include <uv.h>

#include <array>
#include <string_view>

#include "common/program.hpp"
#include "common/reply.hpp"

namespace compare {
namespace {

struct connection {
  uv_tcp_t socket;
  uv_write_t writing;
  std::array<char, request_room> room;
};

void closed(uv_handle_t* handle) { delete static_cast<connection*>(handle->data); }

void give_room(uv_handle_t* handle, std::size_t, uv_buf_t* room) {
  auto& of = *static_cast<connection*>(handle->data);
  *room = uv_buf_init(of.room.data(), static_cast<unsigned>(of.room.size()));
}

void got(uv_stream_t* stream, ssize_t count, const uv_buf_t* room) {
  if (count < 0) {
    uv_close(reinterpret_cast<uv_handle_t*>(stream), closed);
    return;
  }
  const std::string_view bytes(room->base, static_cast<std::size_t>(count));
  if (!ends_request(bytes)) return;
  if (asks_to_compute(bytes)) compute_for_a_millisecond();
  uv_buf_t answer = uv_buf_init(const_cast<char*>(reply.data()), static_cast<unsigned>(reply.size()));
  if (uv_try_write(stream, &answer, 1) == static_cast<int>(reply.size())) return;
  auto& of = *static_cast<connection*>(stream->data);
  uv_write(&of.writing, stream, &answer, 1, nullptr);
}

void came(uv_stream_t* listener, int failed) {
  if (failed != 0) return;
  auto* const of = new connection;
  uv_tcp_init(listener->loop, &of->socket);
  of->socket.data = of;
  auto* const stream = reinterpret_cast<uv_stream_t*>(&of->socket);
  if (uv_accept(listener, stream) != 0) {
    uv_close(reinterpret_cast<uv_handle_t*>(stream), closed);
    return;
  }
  uv_tcp_nodelay(&of->socket, 1);
  uv_read_start(stream, give_room, got);
}

}  // namespace
}  // namespace compare

int main(int argc, char** argv) {
  using namespace compare;
  options wanted(argc, argv);
  if (wanted.workload != "responder") fail("no workload " + wanted.workload);
  const int port = static_cast<int>(wanted.number("port", 0));
  wanted.all_asked();
  uv_loop_t* const loop = uv_default_loop();
  uv_tcp_t listener;
  uv_tcp_init(loop, &listener);
  sockaddr_in at{};
  uv_ip4_addr("127.0.0.1", port, &at);
  uv_tcp_bind(&listener, reinterpret_cast<const sockaddr*>(&at), 0);
  if (uv_listen(reinterpret_cast<uv_stream_t*>(&listener), 1024, came) != 0) fail("cannot listen");
  int size = sizeof at;
  uv_tcp_getsockname(&listener, reinterpret_cast<sockaddr*>(&at), &size);
  report().add("port", ntohs(at.sin_port)).print();
  uv_run(loop, UV_RUN_DEFAULT);
}
