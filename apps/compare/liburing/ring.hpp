// ring -- a thread's io_uring, set up as the kernel serves one thread best, and its listening socket on a shared port.
#pragma once

#include <arpa/inet.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "common/program.hpp"

namespace compare {

inline void make_ring(io_uring& ring, unsigned entries) {
  io_uring_params how{};
  how.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
  how.cq_entries = entries * 4;
  const int failed = io_uring_queue_init_params(entries, &ring, &how);
  if (failed != 0) fail(std::string("io_uring: ") + std::strerror(-failed));
}

/// Submits when there is no free entry.
inline io_uring_sqe& next_entry(io_uring& ring) {
  io_uring_sqe* entry = io_uring_get_sqe(&ring);
  while (entry == nullptr) {
    io_uring_submit(&ring);
    entry = io_uring_get_sqe(&ring);
  }
  return *entry;
}

/// Every thread has one on the same port: the kernel spreads the connections.
inline int listen_on(std::uint16_t& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(port);
  if (bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 || listen(fd, 1024) != 0) fail("cannot listen");
  socklen_t size = sizeof at;
  getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  port = ntohs(at.sin_port);
  return fd;
}

inline void set_no_delay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace compare
