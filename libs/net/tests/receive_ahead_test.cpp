// receive_ahead_test -- a stream that receives before it is asked gives the same bytes as one that does not, and no more than are taken.
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "receive_ahead.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

class ReceiveAheadTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(ReceiveAheadTest);

/// One worker: what is spawned has begun to wait when the task that spawned it comes back from yield().
class OneWorkerReceivesAheadTest : public NetTest {
 protected:
  OneWorkerReceivesAheadTest() : NetTest(1) {}
};
FAIO_ON_BOTH_ENGINES(OneWorkerReceivesAheadTest);

#if defined(FAIO_TEST_NEEDS_DESCRIPTORS) || defined(__SANITIZE_THREAD__)
constexpr bool can_limit_memory = false;
#else
constexpr bool can_limit_memory = true;
#endif

/// The process gets no more memory from the system while it is there.
class memory_limit {
 public:
  memory_limit() {
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &_before), 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = _before.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
  }
  memory_limit(const memory_limit&) = delete;
  memory_limit& operator=(const memory_limit&) = delete;
  ~memory_limit() { EXPECT_EQ(::setrlimit(RLIMIT_AS, &_before), 0); }

 private:
  rlimit _before{};
};

// ---- The same bytes.

TEST_P(ReceiveAheadTest, GivesEachMessageAndThenTheEnd) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    both.server.receive_ahead();
    for (int round = 0; round < 100; ++round) {
      std::array<std::byte, 16> got{};
      EXPECT_TRUE((co_await both.client.write_all("ping")).has_value());
      const auto count = co_await both.server.read_some(got);
      EXPECT_EQ(count.value_or(0), 4U);
      EXPECT_TRUE((co_await both.server.write_all("pong")).has_value());
      EXPECT_TRUE((co_await both.client.read_exactly(std::span(got).first(4))).has_value());
      EXPECT_EQ(text(std::span(got).first(4)), "pong");
    }
    EXPECT_TRUE(both.client.shutdown().has_value());
    std::array<std::byte, 16> none{};
    EXPECT_EQ((co_await both.server.read_some(none)).value_or(1), 0U);
    EXPECT_EQ((co_await both.server.read_some(none)).value_or(1), 0U);
  });
}

TEST_P(ReceiveAheadTest, KeepsWhatAReadHadNoRoomFor) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    EXPECT_TRUE((co_await both.client.write_all("abcdefghij")).has_value());
    EXPECT_EQ(co_await read_by_few(both.server, 10), "abcdefghij");
  });
}

/// Each from a message of its own: what read_until has read ahead would be for the others.
TEST_P(ReceiveAheadTest, ServesEveryKindOfRead) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    EXPECT_TRUE((co_await both.client.write_all("two buffers")).has_value());
    std::array<std::byte, 11> all{};
    std::size_t have = 0;
    while (have < all.size()) {
      const auto rest = std::span(all).subspan(have);
      const std::array<iovec, 3> into{iovec{nullptr, 0}, iovec{rest.data(), 1},
                                      iovec{rest.data() + 1, rest.size() - 1}};
      const auto got = co_await timeout(10s, both.server.read_vectored(into));
      EXPECT_TRUE(got.has_value());
      if (!got || *got == 0) break;
      have += *got;
    }
    EXPECT_EQ(text(all), "two buffers");
    EXPECT_TRUE((co_await both.client.write_all("exactly")).has_value());
    std::array<std::byte, 7> exactly{};
    EXPECT_TRUE((co_await both.server.read_exactly(exactly)).has_value());
    EXPECT_EQ(text(exactly), "exactly");
    EXPECT_TRUE((co_await both.client.write_all("a line\nrest")).has_value());
    EXPECT_EQ((co_await both.server.read_until("\n")).value_or(""), "a line\n");
    EXPECT_EQ(co_await read_by_few(both.server, 4), "rest");
  });
}

TEST_P(ReceiveAheadTest, GathersAWholeBufferFromManyMessages) {
  constexpr std::size_t size = 100'000;
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    std::string sent;
    for (std::size_t i = 0; sent.size() < size; ++i) sent.append(std::to_string(i)).append(" ");
    std::vector<std::byte> got(sent.size());
    auto [wrote, read] = co_await when_all(
        [](tcp_stream& to, std::string_view all) -> task<bool> {
          while (!all.empty()) {
            const auto piece = all.substr(0, 777);
            if (!co_await to.write_all(piece)) co_return false;
            all.remove_prefix(piece.size());
          }
          co_return true;
        }(both.client, sent),
        [](tcp_stream& from, std::span<std::byte> into) -> task<bool> {
          co_return (co_await from.read_exactly(into)).has_value();
        }(both.server, got));
    EXPECT_TRUE(wrote);
    EXPECT_TRUE(read);
    EXPECT_EQ(text(got), sent);
  });
}

TEST_P(ReceiveAheadTest, AStreamThatEndsInTheMiddleOfAWholeReadSaysSo) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    EXPECT_TRUE((co_await both.client.write_all("half")).has_value());
    both.client.close();
    std::array<std::byte, 8> all{};
    const auto got = co_await both.server.read_exactly(all);
    EXPECT_TRUE(is_error(got, make_error_code(errc::end_of_stream)));
  });
}

/// More connections than there are buffers, all at once, and workers that steal.
TEST_P(ReceiveAheadTest, HundredsAtOnceLoseNothing) {
  constexpr std::size_t connections = 400;
  constexpr int rounds = 20;
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    task_group serving;
    std::vector<tcp_stream> clients;
    for (std::size_t i = 0; i < connections; ++i) {
      auto both = co_await connected_ahead(listener);
      clients.push_back(std::move(both.client));
      serving.spawn([](tcp_stream server) -> task<void> {
        std::array<std::byte, 8> got{};
        while ((co_await server.read_exactly(got)).has_value()) {
          co_await yield();
          if (!co_await server.write_all(got)) co_return;
        }
      }(std::move(both.server)));
    }
    for (int round = 0; round < rounds; ++round) {
      const auto name = [&](std::size_t i) {
        return std::to_string(10'000'000 + i * 100 + static_cast<std::size_t>(round));
      };
      for (std::size_t i = 0; i < connections; ++i) EXPECT_TRUE((co_await clients[i].write_all(name(i))).has_value());
      for (std::size_t i = 0; i < connections; ++i) {
        std::array<std::byte, 8> got{};
        EXPECT_TRUE((co_await clients[i].read_exactly(got)).has_value());
        EXPECT_EQ(text(got), name(i));
      }
    }
    clients.clear();
    co_await serving.join();
  });
}

// ---- Nobody reads.

TEST_P(ReceiveAheadTest, ThePeerWaitsWhenNobodyTakesWhatComes) {
  constexpr std::size_t size = std::size_t{32} << 20;
  constexpr std::size_t in_between = std::size_t{4} << 20;  // both sockets' buffers, and what is kept
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    const int small = 64 * 1024;
    for (const auto* each : {&both.client, &both.server}) {
      EXPECT_EQ(::setsockopt(each->native_handle(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
      EXPECT_EQ(::setsockopt(each->native_handle(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    }
    std::atomic<std::size_t> written = 0;
    auto writing = spawn([&]() -> task<bool> {
      const std::vector<std::byte> piece(16 * 1024);
      while (written < size) {
        if (!co_await both.client.write_all(piece)) co_return false;
        written += piece.size();
      }
      co_return true;
    });
    std::size_t read = 0;
    std::size_t furthest = 0;
    std::vector<std::byte> into(64 * 1024);
    for (std::size_t slowly = 0; read < size; ++slowly) {
      const auto got = co_await both.server.read_some(std::span(into).first(slowly < 100 ? 100 : into.size()));
      EXPECT_TRUE(got.has_value());
      if (!got) break;
      read += *got;
      for (int turn = 0; slowly < 100 && turn < 300; ++turn) co_await yield();
      furthest = std::max(furthest, written.load() - std::min(written.load(), read));
    }
    EXPECT_EQ(read, size);
    EXPECT_LE(furthest, in_between);
    EXPECT_TRUE(co_await writing);
  });
}

TEST_P(ReceiveAheadTest, AnErrorThatCameWhenNobodyReadIsToldToTheNextRead) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    std::array<std::byte, 4> got{};
    EXPECT_TRUE((co_await both.client.write_all("data")).has_value());
    EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    EXPECT_EQ(::setsockopt(both.client.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    both.client.close();  // a reset
    for (int turn = 0; turn < 1000; ++turn) co_await yield();
    const auto gave = co_await both.server.read_some(got);
    EXPECT_TRUE(is_error(gave, std::errc::connection_reset));
  });
}

TEST_P(OneWorkerReceivesAheadTest, ATaskThatNeverHasToWaitLetsOthersRun) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    const std::string much(1000, 'x');
    EXPECT_TRUE((co_await both.client.write_all(much)).has_value());
    std::array<std::byte, 1> one{};
    EXPECT_TRUE((co_await both.server.read_exactly(one)).has_value());  // and the rest has come, too
    bool has_run = false;
    auto other = spawn([&]() -> task<void> {
      has_run = true;
      co_return;
    });
    for (int i = 0; i < 100; ++i) EXPECT_TRUE((co_await both.server.read_exactly(one)).has_value());
    EXPECT_TRUE(has_run);
    co_await other;
  });
}

/// One allocation fails, that of a megabyte: each wait is a receive of its own then.
TEST_P(OneWorkerReceivesAheadTest, DoesWithoutBuffers) {
  if (!can_limit_memory) GTEST_SKIP() << "a sanitizer needs its own memory";
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    for (int round = 0; round < 10; ++round) {
      EXPECT_TRUE((co_await both.client.write_all("some bytes")).has_value());
      std::string got;
      {
        const memory_limit none;
        got = co_await read_by_few(both.server, 10);
      }
      EXPECT_EQ(got, "some bytes");
    }
  });
}

}  // namespace
}  // namespace faio::net
