// endpoint -- reading and printing addresses.
#include "faio/net/endpoint.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace faio::net {
namespace {

bool read_port(std::string_view text, std::uint16_t& port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "faio.net"; }
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::end_of_stream:
        return "the peer has ended before all that was asked for had come";
      case errc::too_long:
        return "no delimiter within the limit";
      case errc::bad_address:
        return "not an address; write 127.0.0.1:80, [::1]:80, unix:/path or unix:@name";
      case errc::name_not_found:
        return "there is no such host or service";
      case errc::resolver_failed:
        return "the name service could not answer; try again";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const category one;
  return one;
}

endpoint::endpoint() noexcept : _storage{} { _storage.base.sa_family = AF_UNSPEC; }

endpoint::endpoint(const sockaddr* address, socklen_t length) noexcept : _storage{} {
  _length = std::min(length, capacity);
  std::memcpy(&_storage, address, _length);
}

endpoint endpoint::any(std::uint16_t port) noexcept {
  endpoint made;
  made._storage.v4.sin_family = AF_INET;
  made._storage.v4.sin_port = htons(port);
  made._length = sizeof(sockaddr_in);
  return made;
}

endpoint endpoint::any6(std::uint16_t port) noexcept {
  endpoint made;
  made._storage.v6.sin6_family = AF_INET6;
  made._storage.v6.sin6_port = htons(port);
  made._length = sizeof(sockaddr_in6);
  return made;
}

endpoint endpoint::loopback(std::uint16_t port) noexcept {
  endpoint made = any(port);
  made._storage.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return made;
}

endpoint endpoint::loopback6(std::uint16_t port) noexcept {
  endpoint made = any6(port);
  made._storage.v6.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  return made;
}

result<endpoint> endpoint::unix_path(std::string_view path) {
  endpoint made;
  if (path.empty() || path.size() >= sizeof made._storage.un.sun_path || path.find('\0') != path.npos) {
    return std::unexpected(make_error_code(errc::bad_address));
  }
  made._storage.un.sun_family = AF_UNIX;
  std::memcpy(made._storage.un.sun_path, path.data(), path.size());
  const bool abstract = path.front() == '@';
  if (abstract) made._storage.un.sun_path[0] = '\0';
  // A path ends with a null character that counts, an abstract name is exactly as long as it is.
  made._length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  return made;
}

result<endpoint> endpoint::parse(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:";
  const auto bad = std::unexpected(make_error_code(errc::bad_address));
  if (text.starts_with(unix_prefix)) return unix_path(text.substr(unix_prefix.size()));
  const auto colon = text.rfind(':');
  if (colon == text.npos) return bad;
  std::uint16_t port = 0;
  if (!read_port(text.substr(colon + 1), port)) return bad;
  std::string host(text.substr(0, colon));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    endpoint made = any6(port);
    if (const auto percent = host.find('%'); percent != host.npos) {
      const std::string zone = host.substr(percent + 1);
      host.resize(percent);
      std::uint32_t index = ::if_nametoindex(zone.c_str());
      if (index == 0) {
        const auto [end, error] = std::from_chars(zone.data(), zone.data() + zone.size(), index);
        if (error != std::errc() || end != zone.data() + zone.size()) return bad;
      }
      made._storage.v6.sin6_scope_id = index;
    }
    if (::inet_pton(AF_INET6, host.c_str(), &made._storage.v6.sin6_addr) != 1) return bad;
    return made;
  }
  endpoint made = any(port);
  if (::inet_pton(AF_INET, host.c_str(), &made._storage.v4.sin_addr) != 1) return bad;
  return made;
}

std::uint16_t endpoint::port() const noexcept {
  if (family() == AF_INET) return ntohs(_storage.v4.sin_port);
  if (family() == AF_INET6) return ntohs(_storage.v6.sin6_port);
  return 0;
}

std::string endpoint::to_string() const {
  char text[INET6_ADDRSTRLEN] = {};
  std::string printed;  // piece by piece: g++ 12 warns of what it makes of a chain of operator+
  if (family() == AF_INET) {
    ::inet_ntop(AF_INET, &_storage.v4.sin_addr, text, sizeof text);
    printed.append(text).append(":").append(std::to_string(port()));
    return printed;
  }
  if (family() == AF_INET6) {
    ::inet_ntop(AF_INET6, &_storage.v6.sin6_addr, text, sizeof text);
    printed.append("[").append(text);
    if (const std::uint32_t zone = _storage.v6.sin6_scope_id; zone != 0)
      printed.append("%").append(std::to_string(zone));
    printed.append("]:").append(std::to_string(port()));
    return printed;
  }
  if (family() == AF_UNIX) {
    constexpr std::size_t header = offsetof(sockaddr_un, sun_path);
    std::string path(_storage.un.sun_path, _length > header ? _length - header : 0);
    if (!path.empty() && path.front() == '\0') {
      path.front() = '@';
    } else if (const auto end = path.find('\0'); end != path.npos) {
      path.resize(end);
    }
    printed.append("unix:").append(path);
    return printed;
  }
  return "none";
}

}  // namespace faio::net
