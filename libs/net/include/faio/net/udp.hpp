// udp -- udp_socket: datagrams, to anyone or to one peer.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "faio/context/task.hpp"
#include "faio/net/descriptor.hpp"
#include "faio/net/endpoint.hpp"

namespace faio::net {

/// What recv_from gives.
struct datagram {
  std::size_t size;  ///< bytes, as many as there was room for
  endpoint from;     ///< who sent it
};

/// Move-only. Destroyed: closed. One task reads, one writes, at a time.
class FAIO_NET_API udp_socket {
 public:
  /// For the library: takes it over.
  explicit udp_socket(std::shared_ptr<descriptor> of) noexcept : _of(std::move(of)) {}
  udp_socket(udp_socket&&) noexcept = default;
  udp_socket& operator=(udp_socket&& other) noexcept {
    close();
    _of = std::move(other._of);
    return *this;
  }
  ~udp_socket() { close(); }

  /// Effect: a socket at this place; port 0: the system chooses, local() tells. With `reuse_port` several may share it. Any thread. Errors: address_in_use, ...
  static result<udp_socket> bind(const endpoint& at, bool reuse_port = false);
  /// From now on send and recv are for this peer only.
  result<void> connect(const endpoint& to);

  /// Call from: a task. Longer than `into`: cut.
  task<result<datagram>> recv_from(std::span<std::byte> into);
  /// Effect: sends one datagram; gives its size. Call from: a task. Stopped: operation_canceled. Errors: message_size, network_unreachable, ...
  task<result<std::size_t>> send_to(std::span<const std::byte> what, endpoint to);
  /// As recv_from, from the peer of connect(). Errors: connection_refused when nobody is there.
  task<result<std::size_t>> recv(std::span<std::byte> into);
  /// As send_to, to the peer of connect().
  task<result<std::size_t>> send(std::span<const std::byte> what);

  /// IPv4 and IPv6 groups, on the interface with this index; 0: the system's choice.
  result<void> join_multicast(const endpoint& group, unsigned interface_index = 0);
  /// Ends a join_multicast.
  result<void> leave_multicast(const endpoint& group, unsigned interface_index = 0);

  /// Where it is bound.
  [[nodiscard]] endpoint local() const;
  /// Any thread, any number of times. What another task receives or sends ends with bad_file_descriptor; for that it is shut down, as a stream is.
  void close() noexcept { descriptor::in(_of).close(); }
  /// Any thread. Gives the descriptor up: it is the caller's to close. device_or_resource_busy: a task uses it, and nothing was done.
  [[nodiscard]] result<int> release() noexcept { return descriptor::in(_of).release(); }
  /// For options that have no name here. The socket's: do not close it.
  [[nodiscard]] int native_handle() const noexcept { return descriptor::in(_of).fd(); }

 private:
  result<void> change_membership(const endpoint& group, unsigned interface_index, bool join);
  std::shared_ptr<descriptor> _of;
};

}  // namespace faio::net
