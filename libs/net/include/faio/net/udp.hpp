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

struct datagram {
  std::size_t size;
  endpoint from;
};

/// Move-only. Destroyed: closed. One task reads, one writes, at a time.
class FAIO_NET_API udp_socket {
 public:
  explicit udp_socket(std::shared_ptr<descriptor> of) noexcept : _of(std::move(of)) {}
  udp_socket(udp_socket&&) noexcept = default;
  udp_socket& operator=(udp_socket&& other) noexcept {
    close();
    _of = std::move(other._of);
    return *this;
  }
  ~udp_socket() { close(); }

  static result<udp_socket> bind(const endpoint& at, bool reuse_port = false);
  /// From now on send and recv are for this peer only.
  result<void> connect(const endpoint& to);

  /// Call from: a task. Longer than `into`: cut.
  task<result<datagram>> recv_from(std::span<std::byte> into);
  task<result<std::size_t>> send_to(std::span<const std::byte> what, endpoint to);
  /// With a peer.
  task<result<std::size_t>> recv(std::span<std::byte> into);
  task<result<std::size_t>> send(std::span<const std::byte> what);

  /// IPv4 and IPv6 groups, on the interface with this index; 0: the system's choice.
  result<void> join_multicast(const endpoint& group, unsigned interface_index = 0);
  result<void> leave_multicast(const endpoint& group, unsigned interface_index = 0);

  [[nodiscard]] endpoint local() const;
  /// Any thread. What another task receives or sends ends with bad_file_descriptor; for that it is shut down, as a stream is.
  void close() noexcept { descriptor::in(_of).close(); }
  /// Any thread. Gives the descriptor up: it is the caller's to close. device_or_resource_busy: a task uses it, and nothing was done.
  [[nodiscard]] result<int> release() noexcept { return descriptor::in(_of).release(); }
  [[nodiscard]] int native_handle() const noexcept { return descriptor::in(_of).fd(); }

 private:
  result<void> change_membership(const endpoint& group, unsigned interface_index, bool join);
  std::shared_ptr<descriptor> _of;
};

}  // namespace faio::net
