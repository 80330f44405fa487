// spread_test -- connections are spread over the workers, and stay spread while thieves are at work.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "faio/net/net.hpp"
#include "net_fixture.hpp"
#include "receive_ahead.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

std::vector<std::size_t> residents(runtime_context& ctx) {
  std::vector<std::size_t> all;
  for (const auto& each : ctx.metrics().workers) all.push_back(each.residents);
  return all;
}

class SpreadTest : public NetTest {
 protected:
  static constexpr std::size_t workers = 4;
  SpreadTest() : NetTest(workers) {}
};
FAIO_ON_BOTH_ENGINES(SpreadTest);

/// Clients in a runtime of their own, each with a question at all times; so every connection always has something to do.
TEST_P(SpreadTest, AThousandBusyConnectionsOnFourWorkers) {
  constexpr std::size_t connections = 1000;
  constexpr int looks = 50;
  auto listener = listening();
  const endpoint where = listener.local();
  std::atomic<std::size_t> served = 0;
  auto serving = ctx().spawn(serve(listener, [&](tcp_stream peer) -> task<void> {
    std::array<std::byte, 64> piece;
    for (;;) {
      const auto got = co_await peer.read_some(piece);
      if (!got || *got == 0) co_return;
      if (!(co_await peer.write_all(std::span<const std::byte>(piece).first(*got)))) co_return;
      ++served;
    }
  }));
  runtime_context outside{{.workers = 1, .engine = GetParam()}};
  std::atomic<std::size_t> talking = 0;
  std::atomic<bool> enough = false;
  auto clients = outside.spawn([&]() -> task<void> {
    task_group all;
    for (std::size_t i = 0; i < connections; ++i) {
      all.spawn([&]() -> task<void> {
        auto peer = co_await tcp_stream::connect(where);
        EXPECT_TRUE(peer.has_value());
        if (!peer) co_return;
        std::array<std::byte, 1> one{};
        for (bool first = true; !enough; first = false) {
          if (!(co_await peer->write_all(std::span<const std::byte>(one)))) co_return;
          if (!(co_await peer->read_exactly(one))) co_return;
          if (first) ++talking;
        }
      });
    }
    co_await all.join();
  });
  while (talking < connections) std::this_thread::yield();
  for (int look = 0; look < looks; ++look) {
    const std::size_t before = served;
    while (served < before + connections) std::this_thread::yield();  // all of them have been busy since the last look
    const auto each = residents(ctx());
    ASSERT_EQ(each.size(), workers);
    const auto [fewest, most] = std::ranges::minmax(each);
    EXPECT_LE(static_cast<double>(most), 1.2 * static_cast<double>(fewest)) << testing::PrintToString(each);
  }
  const auto steals = ctx().metrics().total().steals_won;
  enough = true;
  clients.get();
  serving.request_stop();
  EXPECT_TRUE(serving.get().has_value());
  RecordProperty("steals", std::to_string(steals));
  const auto after = residents(ctx());
  EXPECT_EQ(std::ranges::count(after, 0U), static_cast<std::ptrdiff_t>(workers)) << testing::PrintToString(after);
}

TEST_P(SpreadTest, AnOperationOfAStolenTaskIsDoneAtHome) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    // Enough that all are even: nobody has room for another one's.
    std::vector<connection> many;
    for (std::size_t i = 0; i < 16 * workers; ++i) many.push_back(co_await connected(listener));
    auto& one = many.front().server;
    scheduler::worker* const home = one.home();
    EXPECT_NE(home, nullptr);
    std::size_t at_home = 0;
    constexpr std::size_t rounds = 25;
    for (std::size_t i = 0; i < rounds * workers; ++i) {
      co_await context::resume_on(home->home().station(i % workers));
      EXPECT_TRUE((co_await one.write_all("x")).has_value());
      // It went home, or lives here from now on.
      if (scheduler::current_worker() == one.home()) ++at_home;
    }
    EXPECT_GT(at_home,
              rounds * workers / 2);  // a quarter without that; not all, because a task can be stolen on its way
  });
}

TEST_P(SpreadTest, ConnectionsFindAHomeWhenTheirWorkerHasLeft) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    std::vector<connection> many;
    for (std::size_t i = 0; i < 4 * workers; ++i) many.push_back(co_await connected(listener));
    const std::size_t leaving = many.front().server.home()->id();
    EXPECT_TRUE(ctx().detach_worker(leaving).has_value());
    for (auto& each : many) {
      for (int round = 0; round < 3; ++round) {
        std::array<std::byte, 4> got{};
        EXPECT_TRUE((co_await each.client.write_all("ping")).has_value());
        EXPECT_TRUE((co_await each.server.read_exactly(got)).has_value());
      }
    }
  });
}

/// What decides whether they gather.
TEST_P(SpreadTest, AWorkerWithConnectionsKnowsHowMuchItRuns) {
  if (!scheduler::processor_time().read()) GTEST_SKIP() << "this kernel does not count it";
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    for (;;) {
      co_await exchange(both, 100);
      const auto* const home = both.server.home();
      if (home->recent_load(std::chrono::steady_clock::now()).ran > 0) break;
    }
  });
}

TEST_P(SpreadTest, NothingLivesWithAHost) {
  auto listener = listening();
  ctx().run_once();  // this thread is a worker from here on
  scheduler::worker& host = *scheduler::current_worker();
  std::size_t lived_here = 0;
  auto talking = ctx().spawn([&]() -> task<void> {
    co_await context::resume_on(host);
    auto both = co_await connected(listener);
    for (int round = 0; round < 20; ++round) {
      co_await context::resume_on(host);
      EXPECT_TRUE((co_await both.client.write_all("ping")).has_value());
      co_await context::resume_on(host);
      std::array<std::byte, 4> got{};
      EXPECT_TRUE((co_await both.server.read_exactly(got)).has_value());
      if (both.client.home() == &host || both.server.home() == &host) ++lived_here;
    }
  });
  while (!talking.done()) ctx().run_once(10ms);
  talking.get();
  EXPECT_EQ(lived_here, 0U);
}

TEST_P(SpreadTest, AStreamMayBeUsedByAnotherRuntimeAndOutliveItsOwn) {
  auto listener = listening();
  auto pair = ctx().block_on(connected(listener));
  runtime_context other{{.workers = 1, .engine = GetParam()}};
  const auto talk = [&]() -> task<void> {
    std::array<std::byte, 4> got{};
    EXPECT_TRUE((co_await pair.client.write_all("ping")).has_value());
    EXPECT_TRUE((co_await pair.server.read_exactly(got)).has_value());
  };
  other.block_on(talk);
  end_runtime();
  other.block_on(talk);
}

/// They gather and spread by the test's wish alone.
class GatherTest : public NetTest {
 protected:
  static constexpr std::size_t workers = 4;
  GatherTest() : NetTest(workers, false) {}
};
FAIO_ON_BOTH_ENGINES(GatherTest);

/// All connections that are in use, whichever way, are on the one worker that is left; and new ones.
TEST_P(GatherTest, ConnectionsLiveOnTheWorkersThatAreHomes) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    std::vector<connection> many;
    for (std::size_t i = 0; i < 4 * workers; ++i) {
      many.push_back(co_await connected(listener));
      if (i % 2 == 0) many.back().server.receive_ahead();
      co_await exchange(many.back(), 20);
    }
    auto& runtime = scheduler::current_worker()->runtime();
    for (std::size_t i = 1; i < workers; ++i) runtime.gather();
    const auto* const home = runtime.emptiest_home();
    // A receive that is armed follows with the next message.
    for (auto& each : many) co_await exchange(each, 2);
    for (const auto& each : many) {
      EXPECT_EQ(each.client.home(), home);
      EXPECT_EQ(each.server.home(), home);
    }
    const auto late = co_await connected(listener);
    EXPECT_EQ(late.client.home(), home);
    EXPECT_EQ(late.server.home(), home);
    EXPECT_EQ(runtime.residents->count(home->station()), 2 * many.size() + 2);
  });
}

/// Wherever its task runs: what it asks for is done at home.
TEST_P(GatherTest, AThiefThatIsNoHomeSendsOperationsHome) {
  auto listener = listening();
  ctx().block_on([&]() -> task<void> {
    auto both = co_await connected(listener);
    auto& runtime = scheduler::current_worker()->runtime();
    for (std::size_t i = 1; i < workers; ++i) runtime.gather();
    co_await exchange(both, 1);
    const auto* const home = runtime.emptiest_home();
    for (std::size_t i = 0; i < workers; ++i) {
      co_await context::resume_on(home->home().station(i));
      co_await exchange(both, 1);
      EXPECT_EQ(both.client.home(), home);
      EXPECT_EQ(both.server.home(), home);
    }
  });
}

}  // namespace
}  // namespace faio::net
