// endpoint -- where a socket is: an IPv4 or IPv6 address with its port, or a unix path.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "faio/context/result.hpp"
#include "faio/net/errors.hpp"
#include "faio/net/export.hpp"

namespace faio::net {

/// A value: copied, compared, hashed, printed. Any thread.
class FAIO_NET_API endpoint {
 public:
  /// No address: family() is AF_UNSPEC.
  endpoint() noexcept;
  /// Of the system's own kind.
  endpoint(const sockaddr* address, socklen_t length) noexcept;

  /// "127.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80", "unix:/run/x.sock", "unix:@abstract". errc::bad_address.
  [[nodiscard]] static result<endpoint> parse(std::string_view text);
  /// 127.0.0.1 and ::1, with this port; 0: any free one.
  [[nodiscard]] static endpoint loopback(std::uint16_t port) noexcept;
  [[nodiscard]] static endpoint loopback6(std::uint16_t port) noexcept;
  /// All addresses of this machine.
  [[nodiscard]] static endpoint any(std::uint16_t port) noexcept;
  [[nodiscard]] static endpoint any6(std::uint16_t port) noexcept;
  /// A path, or with a leading '@' a name in the abstract namespace. errc::bad_address: empty or too long.
  [[nodiscard]] static result<endpoint> unix_path(std::string_view path);

  [[nodiscard]] int family() const noexcept { return _storage.base.sa_family; }
  /// 0 for unix.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// What parse() reads.
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] const sockaddr* data() const noexcept { return &_storage.base; }
  [[nodiscard]] sockaddr* data() noexcept { return &_storage.base; }
  [[nodiscard]] socklen_t size() const noexcept { return _length; }
  /// Room for whatever the system fills in; it writes the size through size_pointer().
  static constexpr socklen_t capacity = sizeof(sockaddr_storage);
  [[nodiscard]] socklen_t* size_pointer() noexcept { return &_length; }

  friend bool operator==(const endpoint& a, const endpoint& b) noexcept {
    return a._length == b._length && std::memcmp(&a._storage, &b._storage, a._length) == 0;
  }
  [[nodiscard]] std::size_t hash() const noexcept {
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(&_storage), _length});
  }

 private:
  union storage {
    sockaddr base;
    sockaddr_in v4;
    sockaddr_in6 v6;
    sockaddr_un un;
    sockaddr_storage all;
  };
  storage _storage;
  socklen_t _length = sizeof(sa_family_t);
};

}  // namespace faio::net

template <>
struct std::hash<faio::net::endpoint> {
  std::size_t operator()(const faio::net::endpoint& one) const noexcept { return one.hash(); }
};
