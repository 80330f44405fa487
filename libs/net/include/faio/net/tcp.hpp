// tcp -- tcp_listener and tcp_stream.
//
//   auto listener = faio::net::tcp_listener::bind(endpoint::loopback(8080));
//   for (;;) { auto client = co_await listener->accept(); ... }                               // tests/tcp_test.cpp
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "faio/context/task.hpp"
#include "faio/net/descriptor.hpp"
#include "faio/net/endpoint.hpp"
#include "faio/net/stream.hpp"

namespace faio::net {

/// For tcp_stream::connect.
struct connect_options {
  /// Empty: as long as the system tries.
  std::optional<std::chrono::nanoseconds> timeout = {};
};

/// A TCP connection; what can be done with it is what every stream can do.
class FAIO_NET_API tcp_stream : public stream {
 public:
  using stream::stream;

  /// Call from: a task. connection_refused, timed_out, network_unreachable, ...; operation_canceled: there is no connection.
  static task<result<tcp_stream>> connect(endpoint to, connect_options options = {});
  /// All addresses of a name in turn, until one answers. The time limit is for finding them and all of them together.
  static task<result<tcp_stream>> connect(std::string host, std::string service, connect_options options = {});

  /// Small pieces leave at once.
  result<void> set_no_delay(bool on = true);
  result<void> set_keep_alive(bool on = true);

  /// Call from: the task that reads, or before anybody does. From now on its worker receives before a read asks: one request to the system serves all
  /// messages, where otherwise each read is one. For a peer that sends little at a time, and often; what is large is copied once more.
  /// That begins after a few messages. From then on the connection must not be read past the stream (send_fd, native_handle); release() gives
  /// device_or_resource_busy; and close() shuts duplicates down. Nothing happens to a stream that is closed.
  void receive_ahead();
};

/// For tcp_listener::bind.
struct listen_options {
  /// Several sockets may listen on one port; the system spreads the connections over them.
  bool reuse_port = false;
  /// Connections that wait to be accepted.
  int backlog = 1024;
  /// An IPv6 socket that takes no IPv4 connections.
  bool ipv6_only = false;
};

class acceptor;

/// What listeners share. Destroyed: closed. Any number of tasks may accept at once: each connection goes to one of them, in the order in
/// which they came.
/// The system is asked once for all connections (a multishot accept, where it has one), from the first accept() on: a few may have been
/// accepted before anybody takes them. An accept() that is stopped has taken none; those that nobody took are closed with the listener.
class FAIO_NET_API listener {
 public:
  explicit listener(std::shared_ptr<descriptor> of);
  listener(listener&&) noexcept = default;
  listener& operator=(listener&& other) noexcept;
  ~listener() { close(); }

  /// Where it listens; the port that the system chose, if 0 was asked for.
  [[nodiscard]] endpoint local() const;
  /// Any thread. A task that accepts ends with bad_file_descriptor. A duplicate of the descriptor goes on listening. The accept that is in
  /// flight is cancelled by its worker: until then the address is in use, and who connects is accepted and closed.
  void close() noexcept;
  /// Any thread. Gives the descriptor up: it is the caller's to close, and the listener is as if closed. device_or_resource_busy: an accept is in
  /// flight, as it is from the first accept() on; nothing was done: pass on a duplicate, and close this one.
  [[nodiscard]] result<int> release() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return _of != nullptr && !_of->closed(); }
  [[nodiscard]] int native_handle() const noexcept { return descriptor::in(_of).fd(); }

 protected:
  std::shared_ptr<descriptor> _of;
  std::shared_ptr<acceptor> _acceptor;
};

/// Takes TCP connections. With serve(): a task for each of them.
class FAIO_NET_API tcp_listener : public listener {
 public:
  using listener::listener;
  /// address_in_use, permission_denied, ...
  static result<tcp_listener> bind(const endpoint& at, const listen_options& options = {});
  /// Call from: a task. A new connection, at home on the worker that has the fewest. operation_canceled, bad_file_descriptor: none was taken.
  /// Too many open files: waits a little and tries again, so that it recovers when some are closed, and does not spin meanwhile. The listener
  /// may be moved or go away meanwhile.
  task<result<tcp_stream>> accept();
};

}  // namespace faio::net
