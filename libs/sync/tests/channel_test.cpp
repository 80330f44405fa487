// channel_test -- order, room, closing, giving up, threads.
#include "faio/sync/channel.hpp"

#include <memory>
#include <string>
#include <thread>

#include "faio/context/timeout.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

class ChannelTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Capacity, ChannelTest, testing::Values(0, 1, 3, 100));

task<> send_numbers(channel<int>& to, int count) {
  for (int i = 0; i < count; ++i) EXPECT_TRUE(co_await to.send(i));
  to.close();
}

TEST_P(ChannelTest, ValuesArriveInTheOrderOfSending) {
  runtime_context ctx{{.workers = 2}};
  channel<int> numbers(GetParam());
  EXPECT_EQ(numbers.capacity(), GetParam());
  ctx.wait_all(send_numbers(numbers, 1000), [](channel<int>& from) -> task<> {
    for (int i = 0; i < 1000; ++i) {
      const auto got = co_await from.recv();
      EXPECT_TRUE(got && *got == i);
    }
    EXPECT_TRUE(failed_with(co_await from.recv(), errc::closed));
  }(numbers));
}

TEST_P(ChannelTest, EachValueGoesToOneOfManyReceivers) {
  runtime_context ctx{{.workers = 3}};
  channel<int> numbers(GetParam());
  std::vector<int> seen(4000, 0);
  ctx.block_on([&]() -> task<> {
    task_group senders;
    task_group receivers;
    for (int s = 0; s < 4; ++s) {
      senders.spawn([](channel<int>& to, int from) -> task<> {
        for (int i = from; i < from + 1000; ++i) EXPECT_TRUE(co_await to.send(i));
      }(numbers, s * 1000));
    }
    for (int r = 0; r < 3; ++r) {
      receivers.spawn([](channel<int>& from, std::vector<int>& into) -> task<> {
        while (const auto got = co_await from.recv()) ++into[static_cast<std::size_t>(*got)];
      }(numbers, seen));
    }
    co_await senders.join();
    numbers.close();
    co_await receivers.join();
  });
  for (const int each : seen) EXPECT_EQ(each, 1);
}

TEST_P(ChannelTest, ThreadsAndTasksExchangeValues) {
  runtime_context ctx{{.workers = 2}};
  channel<int> there(GetParam());
  channel<int> back(GetParam());
  std::jthread thread([&] {
    while (const auto got = there.blocking_recv()) EXPECT_TRUE(back.blocking_send(*got + 1));
    back.close();
  });
  ctx.block_on([&]() -> task<> {
    for (int i = 0; i < 500; ++i) {
      EXPECT_TRUE(co_await there.send(i));
      const auto got = co_await back.recv();
      EXPECT_TRUE(got && *got == i + 1);
    }
    there.close();
    EXPECT_TRUE(failed_with(co_await back.recv(), errc::closed));
  });
}

TEST(OneChannelTest, HoldsAsManyAsItHasRoomFor) {
  channel<int> two(2);
  EXPECT_TRUE(failed_with(two.try_recv(), errc::would_block));
  EXPECT_TRUE(two.try_send(1));
  EXPECT_TRUE(two.try_send(2));
  EXPECT_EQ(two.size(), 2U);
  EXPECT_TRUE(failed_with(two.try_send(3), errc::would_block));
  EXPECT_EQ(two.try_recv(), 1);
  EXPECT_TRUE(two.try_send(4));
  EXPECT_EQ(two.try_recv(), 2);
  EXPECT_EQ(two.try_recv(), 4);
}

TEST(OneChannelTest, ARendezvousHoldsNothing) {
  runtime_context ctx{{.workers = 1}};
  channel<int> meeting(0);
  EXPECT_TRUE(failed_with(meeting.try_send(1), errc::would_block));
  auto sender =
      spawn_until_it_waits(ctx, [](channel<int>& to) -> task<> { EXPECT_TRUE(co_await to.send(7)); }(meeting));
  EXPECT_FALSE(sender.done());
  EXPECT_EQ(meeting.size(), 0U);
  EXPECT_EQ(meeting.try_recv(), 7);
  sender.get();
  auto receiver =
      spawn_until_it_waits(ctx, [](channel<int>& from) -> task<int> { co_return *co_await from.recv(); }(meeting));
  EXPECT_TRUE(meeting.try_send(8));
  EXPECT_EQ(receiver.get(), 8);
}

TEST(OneChannelTest, SendersInLineAreServedInTheirOrder) {
  runtime_context ctx{{.workers = 1}};
  channel<int> one(1);
  std::vector<join_handle<void>> senders;
  for (int i = 0; i < 10; ++i) {
    senders.push_back(spawn_until_it_waits(
        ctx, [](channel<int>& to, int value) -> task<> { EXPECT_TRUE(co_await to.send(value)); }(one, i)));
  }
  for (int i = 0; i < 10; ++i) EXPECT_EQ(one.try_recv(), i);
  for (auto& each : senders) each.get();
}

TEST(OneChannelTest, ReceiversInLineAreServedInTheirOrder) {
  runtime_context ctx{{.workers = 1}};
  channel<int> one(1);
  std::vector<join_handle<int>> receivers;
  for (int i = 0; i < 10; ++i) {
    receivers.push_back(
        spawn_until_it_waits(ctx, [](channel<int>& from) -> task<int> { co_return *co_await from.recv(); }(one)));
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(one.try_send(i));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(receivers[static_cast<std::size_t>(i)].get(), i);
}

TEST(OneChannelTest, AClosedOneIsDrainedFirst) {
  runtime_context ctx{{.workers = 1}};
  channel<int> numbers(5);
  EXPECT_TRUE(numbers.try_send(1));
  EXPECT_TRUE(numbers.try_send(2));
  numbers.close();
  numbers.close();
  EXPECT_TRUE(numbers.closed());
  EXPECT_TRUE(failed_with(numbers.try_send(3), errc::closed));
  EXPECT_TRUE(failed_with(numbers.blocking_send(3), errc::closed));
  EXPECT_EQ(numbers.try_recv(), 1);
  EXPECT_EQ(numbers.blocking_recv(), 2);
  EXPECT_TRUE(failed_with(numbers.try_recv(), errc::closed));
  EXPECT_TRUE(failed_with(numbers.blocking_recv(), errc::closed));
  ctx.block_on([&]() -> task<> {
    EXPECT_TRUE(failed_with(co_await numbers.recv(), errc::closed));
    EXPECT_TRUE(failed_with(co_await numbers.send(4), errc::closed));
  });
}

TEST(OneChannelTest, CloseTellsThoseInLine) {
  runtime_context ctx{{.workers = 1}};
  channel<int> full(1);
  channel<int> empty(1);
  EXPECT_TRUE(full.try_send(1));
  auto sender = spawn_until_it_waits(
      ctx, [](channel<int>& to) -> task<> { EXPECT_TRUE(failed_with(co_await to.send(2), errc::closed)); }(full));
  auto receiver = spawn_until_it_waits(
      ctx, [](channel<int>& from) -> task<> { EXPECT_TRUE(failed_with(co_await from.recv(), errc::closed)); }(empty));
  std::jthread blocked([&] { EXPECT_TRUE(failed_with(empty.blocking_recv(), errc::closed)); });
  full.close();
  empty.close();
  sender.get();
  receiver.get();
  EXPECT_EQ(full.try_recv(), 1);  // what the sender in line had is its own still
  EXPECT_TRUE(failed_with(full.try_recv(), errc::closed));
}

TEST(OneChannelTest, MovesWhatCannotBeCopiedAndKeepsItWhenItIsNotSent) {
  runtime_context ctx{{.workers = 1}};
  channel<std::unique_ptr<int>> boxes(1);
  auto box = std::make_unique<int>(1);
  EXPECT_TRUE(boxes.try_send(std::move(box)));
  box = std::make_unique<int>(2);
  EXPECT_TRUE(failed_with(boxes.try_send(std::move(box)), errc::would_block));
  ASSERT_TRUE(box != nullptr && *box == 2);  // NOLINT(bugprone-use-after-move): it was not sent
  ctx.block_on([&]() -> task<> {
    const auto got = co_await boxes.recv();
    EXPECT_TRUE(got && **got == 1);
    EXPECT_TRUE(co_await timeout(10s, boxes.send(std::move(box))));
    const auto next = co_await timeout(10s, boxes.recv());
    EXPECT_TRUE(next && **next == 2);
  });
}

TEST(OneChannelTest, CopiesAnLvalueThatItIsGiven) {
  channel<std::string> words(2);
  const std::string word = "twice";
  EXPECT_TRUE(words.try_send(word));
  EXPECT_TRUE(words.try_send(word));
  EXPECT_EQ(words.try_recv(), "twice");
  EXPECT_EQ(words.try_recv(), word);
}

TEST(OneChannelTest, TakesWhatCanBeMovedButNotAssigned) {
  struct fixed {
    const int value;
  };
  channel<fixed> one(1);
  EXPECT_TRUE(one.try_send(fixed{3}));
  EXPECT_EQ(one.try_recv()->value, 3);
}

TEST(OneChannelTest, AReceiverThatGivesUpTakesNothing) {
  runtime_context ctx{{.workers = 1}};
  channel<int> numbers(1);
  auto receiver = spawn_until_it_waits(ctx, [](channel<int>& from) -> task<> {
    EXPECT_TRUE(failed_with(co_await from.recv(), std::errc::operation_canceled));
  }(numbers));
  receiver.request_stop();
  receiver.get();
  EXPECT_TRUE(numbers.try_send(1));
  EXPECT_EQ(numbers.size(), 1U);
  EXPECT_EQ(numbers.try_recv(), 1);
}

TEST(OneChannelTest, ASenderThatGivesUpHasSentNothing) {
  runtime_context ctx{{.workers = 1}};
  channel<int> numbers(1);
  EXPECT_TRUE(numbers.try_send(1));
  auto gives_up = spawn_until_it_waits(ctx, [](channel<int>& to) -> task<> {
    EXPECT_TRUE(failed_with(co_await to.send(2), std::errc::operation_canceled));
  }(numbers));
  auto behind =
      spawn_until_it_waits(ctx, [](channel<int>& to) -> task<> { EXPECT_TRUE(co_await to.send(3)); }(numbers));
  gives_up.request_stop();
  gives_up.get();
  EXPECT_EQ(numbers.try_recv(), 1);
  EXPECT_EQ(numbers.try_recv(), 3);
  behind.get();
}

TEST(OneChannelTest, ATimeoutTakesOneOutOfTheLine) {
  runtime_context ctx{{.workers = 2}};
  channel<int> numbers(0);
  ctx.block_on([&]() -> task<> {
    EXPECT_TRUE(failed_with(co_await timeout(1ms, numbers.recv()), std::errc::timed_out));
    EXPECT_TRUE(failed_with(co_await timeout(1ms, numbers.send(1)), std::errc::timed_out));
  });
  EXPECT_TRUE(failed_with(numbers.try_recv(), errc::would_block));
  EXPECT_TRUE(failed_with(numbers.try_send(1), errc::would_block));
}

TEST(OneChannelTest, BlockingOnAWorkerIsAnErrorInsteadOfAHang) {
  runtime_context ctx{{.workers = 1}};
  channel<int> numbers(1);
  ctx.block_on([&] {
    EXPECT_THROW((void)numbers.blocking_recv(), std::system_error);
    EXPECT_TRUE(numbers.blocking_send(1));  // there is room: it does not block
    EXPECT_THROW((void)numbers.blocking_send(2), std::system_error);
  });
}

TEST(OneChannelTest, WhatIsLeftIsDestroyedWithIt) {
  auto watched = std::make_shared<int>(0);
  {
    channel<std::shared_ptr<int>> boxes(3);
    EXPECT_TRUE(boxes.try_send(watched));
    EXPECT_TRUE(boxes.try_send(watched));
    EXPECT_TRUE(boxes.try_recv());
    EXPECT_EQ(watched.use_count(), 2);  // none is left behind in a slot
  }
  EXPECT_EQ(watched.use_count(), 1);
}

}  // namespace
}  // namespace faio::sync
