// receive_ahead_test -- a stream that receives before it is asked gives the same bytes, and keeps the same promises, as one that does not.
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faio/context/hop.hpp"
#include "faio/net/net.hpp"
#include "faio/scheduler/shared_state.hpp"
#include "net_fixture.hpp"

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

task<void> exchange(connection& both, int messages) {
  for (int i = 0; i < messages; ++i) {
    std::array<std::byte, 2> got{};
    EXPECT_TRUE((co_await both.client.write_all("hi")).has_value());
    EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
  }
}

/// So long that its receive stays where it is, unless a thief takes this task.
task<connection> connected_ahead(tcp_listener& listener) {
  auto both = co_await connected(listener);
  both.server.receive_ahead();
  co_await exchange(both, 40);
  co_return both;
}

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

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

template <class T, class Code>
bool is_error(const result<T>& gave, Code expected) {
  return !gave && gave.error() == expected;
}

/// As many as are wanted, by reads of at most a few bytes.
task<std::string> read_by_few(tcp_stream& from, std::size_t wanted) {
  std::string all;
  std::array<std::byte, 3> few{};
  while (all.size() < wanted) {
    const auto got = co_await from.read_some(few);
    if (!got || *got == 0) break;
    all.append(text(std::span(few).first(*got)));
  }
  co_return all;
}

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

TEST_P(ReceiveAheadTest, ServesEveryKindOfRead) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    EXPECT_TRUE((co_await both.client.write_all("line one\nexactlyand two buffersrest")).has_value());
    EXPECT_EQ((co_await both.server.read_until("\n")).value_or(""), "line one\n");
    std::array<std::byte, 7> exactly{};
    EXPECT_TRUE((co_await both.server.read_exactly(exactly)).has_value());
    EXPECT_EQ(text(exactly), "exactly");
    std::string vectored;
    while (vectored.size() < 15) {
      std::array<std::byte, 4> first{};
      std::array<std::byte, 11> second{};
      const std::array<iovec, 3> into{iovec{nullptr, 0}, iovec{first.data(), first.size()},
                                      iovec{second.data(), std::min(second.size(), 15 - vectored.size())}};
      const auto got = co_await both.server.read_vectored(std::span(into).first(vectored.size() + 4 < 15 ? 3 : 2));
      EXPECT_TRUE(got.has_value());
      if (!got || *got == 0) break;
      vectored.append(text(first).substr(0, *got));
      if (*got > first.size()) vectored.append(text(second).substr(0, *got - first.size()));
    }
    EXPECT_EQ(vectored.substr(0, 15), "and two buffers");
    EXPECT_EQ(vectored.substr(15) + co_await read_by_few(both.server, 4 - (vectored.size() - 15)), "rest");
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

// ---- Stopped, closed, released.

TEST_P(ReceiveAheadTest, AReadThatIsStoppedHasTakenNothing) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    for (int round = 0; round < 20; ++round) {
      std::array<std::byte, 4> got{};
      const auto none = co_await timeout(1ms, both.server.read_some(got));
      EXPECT_FALSE(none.has_value());
      EXPECT_TRUE((co_await both.client.write_all("data")).has_value());
      EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
      EXPECT_EQ(text(got), "data");
    }
  });
}

TEST_P(ReceiveAheadTest, ATaskThatWasStoppedBeforeReadsNothing) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    auto reading = spawn([&]() -> task<result<std::size_t>> {
      while (!(co_await current_stop_token()).stop_requested()) co_await yield();
      std::array<std::byte, 4> got{};
      co_return co_await both.server.read_some(got);
    });
    reading.request_stop();
    EXPECT_TRUE(is_error(co_await reading, std::errc::operation_canceled));
  });
}

/// Whatever a stop request and a message do to each other, the bytes are given once.
TEST_P(ReceiveAheadTest, StopRequestsAndMessagesRace) {
  constexpr int messages = 2000;
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    auto writing = spawn([&]() -> task<void> {
      for (int i = 0; i < messages; ++i) {
        const auto number = std::to_string(100'000 + i);
        EXPECT_TRUE((co_await both.client.write_all(number)).has_value());
        if (i % 7 == 0) co_await sleep_for(100us);
      }
      both.client.close();
    });
    std::string all;
    for (;;) {
      std::array<std::byte, 64> got{};
      auto reading = spawn([&]() -> task<result<std::size_t>> { co_return co_await both.server.read_some(got); });
      co_await yield();
      reading.request_stop();
      const auto count = co_await reading;
      if (count && *count == 0) break;
      if (count) {
        all.append(text(std::span(got).first(*count)));
      } else {
        EXPECT_EQ(count.error(), std::errc::operation_canceled);
      }
    }
    co_await writing;
    std::string expected;
    for (int i = 0; i < messages; ++i) expected.append(std::to_string(100'000 + i));
    EXPECT_EQ(all, expected);
  });
}

TEST_P(OneWorkerReceivesAheadTest, AWholeReadThatIsStoppedInTheMiddleClosesTheStream) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    std::array<std::byte, 8> got{};
    auto reading = spawn([&]() -> task<result<void>> { co_return co_await both.server.read_exactly(got); });
    EXPECT_TRUE((co_await both.client.write_all("half")).has_value());
    while (text(got).substr(0, 4) != "half") co_await yield();
    reading.request_stop();
    EXPECT_FALSE((co_await reading).has_value());
    EXPECT_FALSE(both.server.is_open());
  });
}

TEST_P(OneWorkerReceivesAheadTest, ClosingTellsTheTaskThatReads) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    auto reading = spawn([&]() -> task<result<std::size_t>> {
      std::array<std::byte, 8> got{};
      co_return co_await both.server.read_some(got);
    });
    co_await yield();
    both.server.close();
    const auto gave = co_await reading;
    EXPECT_TRUE(is_error(gave, std::errc::bad_file_descriptor));
    std::array<std::byte, 8> none{};
    const auto after = co_await both.server.read_some(none);
    EXPECT_TRUE(is_error(after, std::errc::bad_file_descriptor));
    EXPECT_EQ((co_await both.client.read_some(none)).value_or(1), 0U);  // the peer sees the end
  });
}

TEST_P(OneWorkerReceivesAheadTest, ASecondTaskThatReadsIsRefused) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    std::array<std::byte, 4> got{};
    auto reading = spawn([&]() -> task<bool> { co_return (co_await both.server.read_exactly(got)).has_value(); });
    co_await yield();
    std::array<std::byte, 4> none{};
    const auto second = co_await both.server.read_some(none);
    EXPECT_TRUE(is_error(second, std::errc::device_or_resource_busy));
    EXPECT_TRUE((co_await both.client.write_all("mine")).has_value());
    EXPECT_TRUE(co_await reading);
    EXPECT_EQ(text(got), "mine");
  });
}

/// A connection of a few messages is not worth a receive that stays, and one that has just moved may move again.
TEST_P(OneWorkerReceivesAheadTest, CanBeReleasedUntilItsReceiveStays) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    const auto busy = both.server.release();
    EXPECT_TRUE(is_error(busy, std::errc::device_or_resource_busy));
    auto another = co_await connected(listener);
    another.server.receive_ahead();
    co_await exchange(another, 4);
    const auto number = another.server.release();
    EXPECT_TRUE(number.has_value());
    if (number) ::close(*number);
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

// ---- Workers and runtimes come and go.

/// A worker that stands still has none of what belongs to a stream that has moved away from it.
TEST_P(ReceiveAheadTest, MovesAlongWithItsStream) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected_ahead(listener);
    const auto message_on = [&](scheduler::worker& there) -> task<bool> {
      co_await context::resume_on(there);
      std::array<std::byte, 4> got{};
      EXPECT_TRUE((co_await both.client.write_all("ping")).has_value());
      co_await context::resume_on(there);
      const bool is_there = scheduler::current_worker() == &there;
      EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
      co_return is_there&& both.server.home() == &there;
    };
    const auto settle_on = [&](scheduler::worker& there) -> task<void> {
      for (int in_a_row = 0; in_a_row < 20;) in_a_row = co_await message_on(there) ? in_a_row + 1 : 0;
    };
    auto& stations = scheduler::current_worker()->runtime().io;
    co_await settle_on(stations.station(0));
    co_await settle_on(stations.station(1));
    std::latch standing(1);
    std::latch enough(1);
    auto still = spawn([&]() -> task<void> {
      while (scheduler::current_worker() != &stations.station(0)) co_await context::resume_on(stations.station(0));
      standing.count_down();
      enough.wait();
    });
    while (!standing.try_wait()) co_await yield();
    std::array<std::byte, 4> got{};
    EXPECT_TRUE((co_await both.client.write_all("ping")).has_value());
    EXPECT_TRUE((co_await timeout(10s, both.server.read_exactly(got))).has_value());
    enough.count_down();
    co_await still;
  });
}

TEST_P(ReceiveAheadTest, GoesOnElsewhereWhenItsWorkerLeaves) {
  auto listener = listening();
  auto both = ctx().block_on(connected_ahead(listener));
  for (int round = 0; round < 4; ++round) {
    ctx().block_on([&]() -> task<void> { EXPECT_TRUE((co_await both.client.write_all("first")).has_value()); });
    std::atomic<std::size_t> where = 0;
    std::latch waiting(1);
    auto reading = ctx().spawn([&]() -> task<std::string> {
      std::array<std::byte, 5> got{};
      EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
      where = *this_worker::id();
      waiting.count_down();
      std::array<std::byte, 6> next{};
      EXPECT_TRUE((co_await both.server.read_exactly(next)).has_value());
      co_return std::string(text(next));
    });
    waiting.wait();
    ASSERT_TRUE(ctx().attach_worker().has_value());
    ASSERT_TRUE(ctx().detach_worker(where).has_value());
    ctx().block_on([&]() -> task<void> { EXPECT_TRUE((co_await both.client.write_all("second")).has_value()); });
    EXPECT_EQ(reading.get(), "second");
  }
}

TEST_P(ReceiveAheadTest, AStreamMayBeUsedByAnotherRuntimeAndOutliveItsOwn) {
  auto listener = listening();
  auto pair = ctx().block_on(connected_ahead(listener));
  runtime_context other{{.workers = 1, .engine = GetParam()}};
  const auto talk = [&]() -> task<void> {
    const auto* const runtime = &scheduler::current_worker()->runtime();
    std::array<std::byte, 4> got{};
    EXPECT_TRUE((co_await pair.client.write_all("ping")).has_value());
    EXPECT_TRUE((co_await pair.server.read_exactly(got)).has_value());
    EXPECT_EQ(text(got), "ping");
    EXPECT_EQ(&scheduler::current_worker()->runtime(), runtime);
  };
  for (int round = 0; round < 3; ++round) {
    ctx().block_on(talk);
    other.block_on(talk);
  }
  end_runtime();
  other.block_on(talk);
}

TEST_P(ReceiveAheadTest, TheEndOfTheRuntimeFindsAReadThatWaits) {
  auto listener = listening();
  auto both = ctx().block_on(connected_ahead(listener));
  std::latch waiting(1);
  auto never = ctx().spawn([&]() -> task<result<std::size_t>> {
    std::array<std::byte, 4> got{};
    waiting.count_down();
    co_return co_await both.server.read_some(got);
  });
  waiting.wait();
  end_runtime();
  EXPECT_EQ(never.get().error(), std::errc::operation_canceled);
}

TEST_P(ReceiveAheadTest, DoesNothingToAStreamThatIsClosed) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    tcp_stream moved = std::move(both.server);
    both.server.receive_ahead();
    moved.close();
    moved.receive_ahead();
    std::array<std::byte, 4> got{};
    EXPECT_EQ((co_await moved.read_some(got)).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await both.server.read_some(got)).error(), std::errc::bad_file_descriptor);
  });
}

}  // namespace
}  // namespace faio::net
