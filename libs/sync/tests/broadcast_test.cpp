// broadcast_test -- all to all; the slow are told how much they missed.
#include "faio/sync/broadcast.hpp"

#include <optional>
#include <stdexcept>
#include <thread>

#include "faio/context/timeout.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

TEST(BroadcastTest, EveryReceiverGetsEveryValue) {
  runtime_context ctx{{.workers = 2}};
  broadcast<int> news(2000);
  ctx.block_on([&]() -> task<> {
    task_group group;
    for (int r = 0; r < 4; ++r) {
      group.spawn([](broadcast<int>::receiver from) -> task<> {
        for (int i = 0; i < 1000; ++i) {
          const auto got = co_await from.recv();
          EXPECT_TRUE(got && *got == i);
        }
        EXPECT_TRUE(failed_with(co_await from.recv(), errc::closed));
      }(news.subscribe()));
    }
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(news.send(i));
      if (i % 16 == 0) co_await yield();
    }
    news.close();
    co_await group.join();
  });
}

TEST(BroadcastTest, GetsWhatIsSentAfterItsSubscription) {
  broadcast<int> news(4);
  EXPECT_TRUE(news.send(1));
  auto late = news.subscribe();
  EXPECT_TRUE(failed_with(late.try_recv(), errc::would_block));
  EXPECT_TRUE(news.send(2));
  EXPECT_EQ(late.try_recv(), 2);
}

TEST(BroadcastTest, TellsASlowReceiverHowManyItMissed) {
  broadcast<int> news(3);
  auto slow = news.subscribe();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(news.send(i));
  EXPECT_TRUE(failed_with(slow.try_recv(), errc::lagged));
  EXPECT_EQ(slow.missed(), 7U);
  EXPECT_EQ(slow.try_recv(), 7);
  EXPECT_EQ(slow.try_recv(), 8);
  EXPECT_EQ(slow.try_recv(), 9);
  EXPECT_TRUE(failed_with(slow.try_recv(), errc::would_block));
}

TEST(BroadcastTest, WhatWasMissedAndWhatCameIsAllThatWasSent) {
  runtime_context ctx{{.workers = 2}};
  broadcast<int> news(8);
  constexpr std::uint64_t sent = 20000;
  std::jthread sender;
  ctx.block_on([&]() -> task<> {
    auto from = news.subscribe();
    sender = std::jthread([&] {
      for (std::uint64_t i = 0; i < sent; ++i) EXPECT_TRUE(news.send(static_cast<int>(i)));
      news.close();
    });
    std::uint64_t got = 0;
    std::uint64_t missed = 0;
    int last = -1;
    for (;;) {
      const auto next = co_await from.recv();
      if (next) {
        EXPECT_GT(*next, last);
        last = *next;
        ++got;
      } else if (next.error() == errc::lagged) {
        missed += from.missed();
      } else {
        EXPECT_EQ(next.error(), errc::closed);
        break;
      }
    }
    EXPECT_EQ(got + missed, sent);
    EXPECT_EQ(last, static_cast<int>(sent) - 1);
  });
}

TEST(BroadcastTest, AClosedOneIsDrainedFirstAlsoWhenTheBroadcastIsGone) {
  std::optional<broadcast<int>> news(std::in_place, 4U);
  auto from = news->subscribe();
  EXPECT_TRUE(news->send(1));
  news->close();
  EXPECT_TRUE(failed_with(news->send(2), errc::closed));
  news.reset();
  EXPECT_EQ(from.try_recv(), 1);
  EXPECT_TRUE(failed_with(from.try_recv(), errc::closed));
}

TEST(BroadcastTest, AStopRequestOrATimeoutEndsTheWaitAndSkipsNothing) {
  runtime_context ctx{{.workers = 1}};
  broadcast<int> news(4);
  auto from = news.subscribe();
  auto waiting = spawn_until_it_waits(ctx, [](broadcast<int>::receiver& one) -> task<> {
    EXPECT_TRUE(failed_with(co_await one.recv(), std::errc::operation_canceled));
  }(from));
  waiting.request_stop();
  waiting.get();
  ctx.block_on([&]() -> task<> { EXPECT_TRUE(failed_with(co_await timeout(1ms, from.recv()), std::errc::timed_out)); });
  EXPECT_TRUE(news.send(1));
  EXPECT_EQ(from.try_recv(), 1);
}

TEST(BroadcastTest, WithoutRoomIsAnError) { EXPECT_THROW(broadcast<int>(0), std::invalid_argument); }

}  // namespace
}  // namespace faio::sync
