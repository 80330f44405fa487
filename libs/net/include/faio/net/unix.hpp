// unix -- unix_listener and unix_stream: connections within the machine, by a path or an abstract name; they carry descriptors too.
#pragma once

#include "faio/net/tcp.hpp"

namespace faio::net {

class FAIO_NET_API unix_stream : public stream {
 public:
  using stream::stream;
  static task<result<unix_stream>> connect(endpoint to, connect_options options = {});
  /// Two that are connected with each other.
  static result<std::pair<unix_stream, unix_stream>> pair();

  /// Sends a copy of the descriptor, with one byte.
  task<result<void>> send_fd(int fd);
  /// The next descriptor, which is the caller's to close; close-on-exec. Of several that came with one byte: the first, the others are closed.
  /// no_message_available: the next byte came without one.
  task<result<int>> recv_fd();
};

class FAIO_NET_API unix_listener : public listener {
 public:
  using listener::listener;
  /// A path that exists is address_in_use: remove it first.
  static result<unix_listener> bind(const endpoint& at, int backlog = 1024);
  task<result<unix_stream>> accept();
};

}  // namespace faio::net
