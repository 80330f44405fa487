// net_fixture -- a runtime on each engine, a check that no descriptor is left open, and two streams that are connected.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "faio/context/context.hpp"
#include "faio/net/tcp.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FAIO_TEST_NEEDS_DESCRIPTORS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define FAIO_TEST_NEEDS_DESCRIPTORS 1
#endif
#endif

namespace faio::net {

/// The undefined behaviour sanitizer looks whether memory is there by writing it into a pipe: without a free descriptor everything is wrong.
#if defined(FAIO_TEST_NEEDS_DESCRIPTORS)
inline constexpr bool can_do_without_descriptors = false;
#else
inline constexpr bool can_do_without_descriptors = true;
#endif

inline std::size_t open_descriptors() {
  constexpr std::string_view for_a_moment = "/sys/";  // glibc's look at how many processors there are, on any thread
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* const each = ::readdir(folder)) {
    std::array<char, for_a_moment.size()> begins{};
    const ssize_t length = ::readlinkat(::dirfd(folder), each->d_name, begins.data(), begins.size());
    if (std::string_view(begins.data(), length > 0 ? static_cast<std::size_t>(length) : 0) != for_a_moment) ++count;
  }
  ::closedir(folder);
  return count;
}

/// Both engines; every test ends with as many open descriptors as it began with.
class NetTest : public testing::TestWithParam<engine_kind> {
 protected:
  explicit NetTest(std::size_t workers = 2, bool gather_connections = true)
      : _before(open_descriptors()),
        _ctx(std::make_unique<runtime_context>(
            config{.workers = workers, .engine = GetParam(), .gather_connections = gather_connections})) {}
  ~NetTest() override {
    _ctx.reset();
    EXPECT_EQ(open_descriptors(), _before);
  }
  runtime_context& ctx() { return *_ctx; }
  /// For tests that end it by themselves.
  void end_runtime() { _ctx.reset(); }

 private:
  std::size_t _before;
  std::unique_ptr<runtime_context> _ctx;
};

struct connection {
  tcp_stream client;
  tcp_stream server;
};

inline task<connection> connected(tcp_listener& listener) {
  auto [client, server] = co_await when_all(tcp_stream::connect(listener.local()), listener.accept());
  co_return connection{std::move(client.value()), std::move(server.value())};
}

inline tcp_listener listening() { return std::move(tcp_listener::bind(endpoint::loopback(0)).value()); }

template <class From>
task<std::string> read_to_end(From& from) {
  std::string all;
  std::array<std::byte, 1000> piece;
  for (;;) {
    const auto got = co_await from.read_some(piece);
    if (!got || *got == 0) co_return all;
    all.append(reinterpret_cast<const char*>(piece.data()), *got);
  }
}

#define FAIO_ON_BOTH_ENGINES(Suite)                                                                     \
  INSTANTIATE_TEST_SUITE_P(Engines, Suite, testing::Values(engine_kind::automatic, engine_kind::epoll), \
                           [](const auto& each) { return std::string(to_string(each.param)); })

}  // namespace faio::net
