// tcp, unix -- making sockets, connecting, accepting.
#include "faio/net/tcp.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "acceptor.hpp"
#include "faio/context/sleep.hpp"
#include "faio/context/timeout.hpp"
#include "faio/net/resolve.hpp"
#include "faio/net/unix.hpp"

namespace faio::net {
namespace {

result<std::shared_ptr<descriptor>> make_socket(int family, int type) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) return last_error();
  return std::make_shared<descriptor>(fd);
}

task<result<void>> connect_socket(descriptor& on, const endpoint& to) {
  co_return co_await perform<void>(
      on, [&to](ioengine::operation& op, int fd) noexcept { op.prepare_connect(fd, to.data(), to.size()); });
}

/// A connection that was not made is closed: nobody knows what the peer has seen of it.
template <class Stream>
task<result<Stream>> connect_as(endpoint to, connect_options options) {
  auto made = make_socket(to.family(), SOCK_STREAM);
  if (!made) co_return std::unexpected(made.error());
  auto connecting = connect_socket(**made, to);
  const auto connected =
      options.timeout ? co_await timeout(*options.timeout, std::move(connecting)) : co_await std::move(connecting);
  if (!connected) co_return std::unexpected(connected.error());
  (*made)->home.settle_near(*scheduler::current_worker());
  co_return Stream(std::move(*made));
}

task<result<tcp_stream>> connect_to_any(std::string host, std::string service,
                                        std::optional<std::chrono::nanoseconds> limit) {
  constexpr std::chrono::seconds of_the_question{30};
  auto addresses = co_await resolve(std::move(host), std::move(service), limit.value_or(of_the_question));
  if (!addresses) co_return std::unexpected(addresses.error());
  result<tcp_stream> last = std::unexpected(make_error_code(errc::name_not_found));
  for (const endpoint& each : *addresses) {
    last = co_await connect_as<tcp_stream>(each, {});
    if (last || last.error() == std::errc::operation_canceled) break;
  }
  co_return last;
}

result<std::shared_ptr<descriptor>> listen_on(const endpoint& at, const listen_options& options) {
  auto made = make_socket(at.family(), SOCK_STREAM);
  if (!made) return made;
  const int fd = (*made)->fd();
  const int on = 1;
  const int only = options.ipv6_only ? 1 : 0;
  const bool inet = at.family() != AF_UNIX;
  if (inet && ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) return last_error();
  if (options.reuse_port && ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) return last_error();
  if (at.family() == AF_INET6 && ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) != 0)
    return last_error();
  if (::bind(fd, at.data(), at.size()) != 0) return last_error();
  if (::listen(fd, options.backlog) != 0) return last_error();
  return made;
}

bool out_of_descriptors(const std::error_code& error) noexcept {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system ||
         error == std::errc::no_buffer_space || error == std::errc::not_enough_memory;
}

template <class Stream>
task<result<Stream>> accept_as(std::shared_ptr<acceptor> from) {
  constexpr std::chrono::milliseconds pause{20};
  if (from == nullptr) co_return std::unexpected(std::make_error_code(std::errc::bad_file_descriptor));
  for (;;) {
    auto got = co_await acceptor::awaiter(*from);
    if (got) {
      auto connection = std::make_shared<descriptor>(*got);
      if (scheduler::worker* const home = scheduler::current_worker()->runtime().emptiest_home()) {
        connection->home.settle(*home);
      }
      co_return Stream(std::move(connection));
    }
    if (!out_of_descriptors(got.error())) co_return std::unexpected(got.error());
    if (auto slept = co_await sleep_for(pause); !slept) co_return std::unexpected(slept.error());
  }
}

}  // namespace

// ---- Streams.

task<result<tcp_stream>> tcp_stream::connect(endpoint to, connect_options options) {
  return connect_as<tcp_stream>(to, options);
}

task<result<tcp_stream>> tcp_stream::connect(std::string host, std::string service, connect_options options) {
  auto connecting = connect_to_any(std::move(host), std::move(service), options.timeout);
  if (!options.timeout) co_return co_await std::move(connecting);
  co_return co_await timeout(*options.timeout, std::move(connecting));  // for the question and all addresses together
}

result<void> tcp_stream::set_no_delay(bool on) { return set_option(IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0); }
void tcp_stream::receive_ahead() {
  if (_of != nullptr && _of->ahead == nullptr) _of->ahead = std::make_unique<receiver>(_of);
}

result<void> tcp_stream::set_keep_alive(bool on) { return set_option(SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0); }

task<result<unix_stream>> unix_stream::connect(endpoint to, connect_options options) {
  return connect_as<unix_stream>(to, options);
}

result<std::pair<unix_stream, unix_stream>> unix_stream::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return last_error();
  return std::pair(unix_stream(std::make_shared<descriptor>(ends[0])),
                   unix_stream(std::make_shared<descriptor>(ends[1])));
}

task<result<void>> unix_stream::send_fd(int fd) {
  std::byte one{};
  iovec body{&one, 1};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  co_return co_await perform<void>(
      descriptor::in(_of), [&message](ioengine::operation& op, int on) noexcept { op.prepare_sendmsg(on, message); });
}

namespace {

/// A byte and the descriptors that came with it: they are its own until they are taken.
class fd_message {
 public:
  fd_message() noexcept {
    _header.msg_iov = &_body;
    _header.msg_iovlen = 1;
    _header.msg_control = _control.data();
    _header.msg_controllen = _control.size();
  }
  fd_message(const fd_message&) = delete;
  fd_message& operator=(const fd_message&) = delete;
  ~fd_message() {
    for (;;) {
      const int fd = take();
      if (fd < 0) return;
      (void)::close(fd);
    }
  }
  [[nodiscard]] msghdr& header() noexcept { return _header; }
  /// The next one; -1: there is none.
  [[nodiscard]] int take() noexcept {
    for (cmsghdr* each = CMSG_FIRSTHDR(&_header); each != nullptr; each = CMSG_NXTHDR(&_header, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(each) + i * sizeof fd, sizeof fd);
        if (fd < 0) continue;
        const int taken = -1;
        std::memcpy(CMSG_DATA(each) + i * sizeof fd, &taken, sizeof taken);
        return fd;
      }
    }
    return -1;
  }

 private:
  std::byte _one{};
  iovec _body{&_one, 1};
  // All zero until the kernel writes into it: nothing is found in it. Who sent it may come first, if the socket was asked for that; what does
  // not fit the kernel keeps to itself.
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))> _control{};
  msghdr _header{};
};

}  // namespace

task<result<int>> unix_stream::recv_fd() {
  fd_message message;  // also when it came, and the stream was closed before this task went on
  auto got = co_await perform<std::size_t>(descriptor::in(_of), [&message](ioengine::operation& op, int on) noexcept {
    op.prepare_recvmsg(on, message.header(), MSG_CMSG_CLOEXEC);
  });
  if (!got) co_return std::unexpected(got.error());
  if (*got == 0) co_return std::unexpected(make_error_code(errc::end_of_stream));
  const int fd = message.take();
  if (fd < 0) co_return std::unexpected(std::make_error_code(std::errc::no_message_available));
  co_return fd;
}

// ---- Listeners.

endpoint listener::local() const { return detail::local_of(descriptor::in(_of)); }

listener::listener(std::shared_ptr<descriptor> of) : _of(std::move(of)), _acceptor(std::make_shared<acceptor>(_of)) {}

listener& listener::operator=(listener&& other) noexcept {
  close();
  _of = std::move(other._of);
  _acceptor = std::move(other._acceptor);
  return *this;
}

void listener::close() noexcept {
  if (_acceptor != nullptr) _acceptor->close();
}

result<int> listener::release() noexcept {
  return _acceptor != nullptr ? _acceptor->release() : descriptor::in(_of).release();
}

result<tcp_listener> tcp_listener::bind(const endpoint& at, const listen_options& options) {
  auto made = listen_on(at, options);
  if (!made) return std::unexpected(made.error());
  return tcp_listener(std::move(*made));
}

task<result<tcp_stream>> tcp_listener::accept() { return accept_as<tcp_stream>(_acceptor); }

result<unix_listener> unix_listener::bind(const endpoint& at, int backlog) {
  auto made = listen_on(at, {.backlog = backlog});
  if (!made) return std::unexpected(made.error());
  return unix_listener(std::move(*made));
}

task<result<unix_stream>> unix_listener::accept() { return accept_as<unix_stream>(_acceptor); }

}  // namespace faio::net
