// receive_ahead -- connections whose server receives ahead, for the tests of that.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"

namespace faio::net {

inline task<void> exchange(connection& both, int messages) {
  for (int i = 0; i < messages; ++i) {
    std::array<std::byte, 2> got{};
    EXPECT_TRUE((co_await both.client.write_all("hi")).has_value());
    EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
  }
}

/// So long that its receive stays where it is, unless a thief takes this task.
inline task<connection> connected_ahead(tcp_listener& listener) {
  auto both = co_await connected(listener);
  both.server.receive_ahead();
  co_await exchange(both, 40);
  co_return both;
}

inline std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T, class Code>
bool is_error(const result<T>& gave, Code expected) {
  return !gave && gave.error() == expected;
}

/// As many as are wanted, by reads of at most a few bytes.
inline task<std::string> read_by_few(tcp_stream& from, std::size_t wanted) {
  std::string all;
  std::array<std::byte, 3> few{};
  while (all.size() < wanted) {
    const auto got = co_await from.read_some(few);
    if (!got || *got == 0) break;
    all.append(text(std::span(few).first(*got)));
  }
  co_return all;
}

}  // namespace faio::net
