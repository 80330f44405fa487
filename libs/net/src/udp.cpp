// udp -- datagrams.
#include "faio/net/udp.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "faio/net/stream.hpp"

namespace faio::net {

result<udp_socket> udp_socket::bind(const endpoint& at, bool reuse_port) {
  const int fd = ::socket(at.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return last_error();
  auto of = std::make_shared<descriptor>(fd);
  const int on = 1;
  if (reuse_port && ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) return last_error();
  if (::bind(fd, at.data(), at.size()) != 0) return last_error();
  return udp_socket(std::move(of));
}

result<void> udp_socket::connect(const endpoint& to) {
  const auto note = [&to](int fd) { return ::connect(fd, to.data(), to.size()); };  // of datagrams: only the peer
  if (descriptor::in(_of).call(note) != 0) return last_error();
  return {};
}

task<result<datagram>> udp_socket::recv_from(std::span<std::byte> into) {
  datagram got{};
  iovec body{into.data(), into.size()};
  msghdr message{};
  message.msg_name = got.from.data();
  message.msg_namelen = endpoint::capacity;
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  auto size = co_await perform<std::size_t>(
      descriptor::in(_of), [&message](ioengine::operation& op, int fd) noexcept { op.prepare_recvmsg(fd, message); });
  if (!size) co_return std::unexpected(size.error());
  got.size = *size;
  *got.from.size_pointer() = message.msg_namelen;
  co_return got;
}

task<result<std::size_t>> udp_socket::send_to(std::span<const std::byte> what, endpoint to) {
  iovec body{const_cast<std::byte*>(what.data()), what.size()};
  msghdr message{};
  message.msg_name = to.data();
  message.msg_namelen = to.size();
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  co_return co_await perform<std::size_t>(
      descriptor::in(_of), [&message](ioengine::operation& op, int fd) noexcept { op.prepare_sendmsg(fd, message); });
}

task<result<std::size_t>> udp_socket::recv(std::span<std::byte> into) {
  co_return co_await perform<std::size_t>(
      descriptor::in(_of), [into](ioengine::operation& op, int fd) noexcept { op.prepare_recv(fd, into); });
}

task<result<std::size_t>> udp_socket::send(std::span<const std::byte> what) {
  co_return co_await perform<std::size_t>(
      descriptor::in(_of), [what](ioengine::operation& op, int fd) noexcept { op.prepare_send(fd, what); });
}

result<void> udp_socket::change_membership(const endpoint& group, unsigned interface_index, bool join) {
  group_req request{};
  request.gr_interface = interface_index;
  std::memcpy(&request.gr_group, group.data(), group.size());
  const int level = group.family() == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
  const int what = join ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP;
  const auto change = [&](int fd) { return ::setsockopt(fd, level, what, &request, sizeof request); };
  if (descriptor::in(_of).call(change) != 0) return last_error();
  return {};
}

result<void> udp_socket::join_multicast(const endpoint& group, unsigned interface_index) {
  return change_membership(group, interface_index, true);
}
result<void> udp_socket::leave_multicast(const endpoint& group, unsigned interface_index) {
  return change_membership(group, interface_index, false);
}

endpoint udp_socket::local() const { return detail::local_of(descriptor::in(_of)); }

}  // namespace faio::net
