// receive_ahead_ends_test -- a stream that receives before it is asked is stopped, closed, released, moved, and outlives workers and runtimes.
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <latch>
#include <span>
#include <string>
#include <utility>

#include "faio/context/hop.hpp"
#include "faio/scheduler/shared_state.hpp"
#include "receive_ahead.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

class ReceiveAheadEndsTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(ReceiveAheadEndsTest);

/// One worker: what is spawned has begun to wait when the task that spawned it comes back from yield().
class OneWorkerReceiveAheadEndsTest : public NetTest {
 protected:
  OneWorkerReceiveAheadEndsTest() : NetTest(1) {}
};
FAIO_ON_BOTH_ENGINES(OneWorkerReceiveAheadEndsTest);

// ---- Stopped, closed, released.

TEST_P(ReceiveAheadEndsTest, AReadThatIsStoppedHasTakenNothing) {
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

TEST_P(ReceiveAheadEndsTest, ATaskThatWasStoppedBeforeReadsNothing) {
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
TEST_P(ReceiveAheadEndsTest, StopRequestsAndMessagesRace) {
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

TEST_P(OneWorkerReceiveAheadEndsTest, AWholeReadThatIsStoppedInTheMiddleClosesTheStream) {
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

TEST_P(OneWorkerReceiveAheadEndsTest, ClosingTellsTheTaskThatReads) {
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

TEST_P(OneWorkerReceiveAheadEndsTest, ASecondTaskThatReadsIsRefused) {
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
TEST_P(OneWorkerReceiveAheadEndsTest, CanBeReleasedUntilItsReceiveStays) {
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

// ---- Workers and runtimes come and go.

/// A worker that stands still has none of what belongs to a stream that has moved away from it.
TEST_P(ReceiveAheadEndsTest, MovesAlongWithItsStream) {
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

TEST_P(ReceiveAheadEndsTest, GoesOnElsewhereWhenItsWorkerLeaves) {
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

TEST_P(ReceiveAheadEndsTest, AStreamMayBeUsedByAnotherRuntimeAndOutliveItsOwn) {
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

TEST_P(ReceiveAheadEndsTest, TheEndOfTheRuntimeFindsAReadThatWaits) {
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

TEST_P(ReceiveAheadEndsTest, DoesNothingToAStreamThatIsClosed) {
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
