// oneshot_test -- one value, once; either end that goes away tells the other.
#include "faio/sync/oneshot.hpp"

#include <memory>
#include <thread>

#include "faio/context/timeout.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

using namespace std::chrono_literals;

TEST(OneshotTest, BringsOneValueFromATaskToATask) {
  runtime_context ctx{{.workers = 2}};
  for (int round = 0; round < 500; ++round) {
    const int got = ctx.block_on([&]() -> task<int> {
      oneshot<int> answer;
      spawn([to = answer.sender()]() mutable { EXPECT_TRUE(to.send(42)); });
      co_return *co_await answer.recv();
    });
    EXPECT_EQ(got, 42);
  }
}

TEST(OneshotTest, ASenderThatGoesWithoutSendingClosesIt) {
  runtime_context ctx{{.workers = 1}};
  oneshot<int> answer;
  auto sender = std::make_unique<oneshot<int>::sender_type>(answer.sender());
  auto waiting = spawn_until_it_waits(
      ctx, [](oneshot<int>& from) -> task<> { EXPECT_TRUE(failed_with(co_await from.recv(), errc::closed)); }(answer));
  EXPECT_TRUE(failed_with(answer.try_recv(), errc::would_block));
  sender.reset();
  waiting.get();
  EXPECT_TRUE(failed_with(answer.blocking_recv(), errc::closed));
}

TEST(OneshotTest, AReceiverThatIsGoneIsAnErrorForTheSender) {
  auto answer = std::make_unique<oneshot<int>>();
  auto sender = answer->sender();
  answer.reset();
  EXPECT_TRUE(failed_with(sender.send(1), errc::closed));
}

TEST(OneshotTest, IsForOneValue) {
  oneshot<int> answer;
  EXPECT_TRUE(answer.send(1));
  EXPECT_TRUE(failed_with(answer.send(2), errc::closed));
  EXPECT_EQ(answer.try_recv(), 1);
  EXPECT_TRUE(failed_with(answer.try_recv(), errc::closed));
}

TEST(OneshotTest, CanBeMovedAndTakesWhatCannotBeCopied) {
  oneshot<std::unique_ptr<int>> first;
  auto sender = first.sender();
  oneshot<std::unique_ptr<int>> second = std::move(first);
  std::jthread thread([to = std::move(sender)]() mutable { EXPECT_TRUE(to.send(std::make_unique<int>(5))); });
  const auto got = second.blocking_recv();
  ASSERT_TRUE(got);
  EXPECT_EQ(**got, 5);
}

TEST(OneshotTest, AReceiverThatGivesUpCanAskAgain) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<> {
    oneshot<int> answer;
    auto sender = answer.sender();
    EXPECT_TRUE(failed_with(co_await timeout(1ms, answer.recv()), std::errc::timed_out));
    EXPECT_TRUE(sender.send(3));
    EXPECT_EQ(co_await answer.recv(), 3);
  });
}

TEST(OneshotTest, CloseTellsTheSender) {
  oneshot<int> answer;
  auto sender = answer.sender();
  answer.close();
  EXPECT_TRUE(failed_with(sender.send(1), errc::closed));
}

TEST(OneshotTest, ASenderThatIsReplacedClosesWhatItHad) {
  oneshot<int> first;
  oneshot<int> second;
  auto sender = first.sender();
  sender = second.sender();
  EXPECT_TRUE(failed_with(first.try_recv(), errc::closed));
  EXPECT_TRUE(sender.send(2));
  EXPECT_EQ(second.try_recv(), 2);
  EXPECT_TRUE(failed_with(sender.send(3), errc::closed)) << "it has sent";
}

TEST(OneshotTest, AReceiverThatIsReplacedIsGone) {
  oneshot<int> answer;
  auto first = answer.sender();
  answer = oneshot<int>();
  auto second = answer.sender();
  EXPECT_TRUE(failed_with(first.send(1), errc::closed));
  EXPECT_TRUE(second.send(2));
  EXPECT_EQ(answer.try_recv(), 2);
}

TEST(OneshotTest, OneOfManyWhoReceiveGetsItAndTheOthersAreTold) {
  runtime_context ctx{{.workers = 1}};
  oneshot<int> answer;
  int got = 0;
  int told = 0;
  auto wait = [&]() -> task<> {
    const auto came = co_await answer.recv();
    came ? ++got : ++told;
    EXPECT_TRUE(came || came.error() == errc::closed);
  };
  auto first = spawn_until_it_waits(ctx, wait());
  auto second = spawn_until_it_waits(ctx, wait());
  auto third = spawn_until_it_waits(ctx, wait());
  EXPECT_TRUE(answer.send(1));
  first.get();
  second.get();
  third.get();
  EXPECT_EQ(got, 1);
  EXPECT_EQ(told, 2);
}

TEST(OneshotTest, AValueThatWasSentIsThereAfterClose) {
  oneshot<int> answer;
  EXPECT_TRUE(answer.sender().send(1));
  answer.close();
  EXPECT_EQ(answer.blocking_recv(), 1);
  EXPECT_TRUE(failed_with(answer.blocking_recv(), errc::closed));
}

/// Sent and never received, or on its way back: destroyed once.
TEST(OneshotTest, AValueThatNobodyReceivesGoesWithIt) {
  const auto value = std::make_shared<int>(1);
  {
    oneshot<std::shared_ptr<int>> answer;
    auto sender = answer.sender();
    EXPECT_TRUE(sender.send(value));
    EXPECT_EQ(value.use_count(), 2);
  }
  EXPECT_EQ(value.use_count(), 1);
  {
    oneshot<std::shared_ptr<int>> answer;
    auto sender = answer.sender();
    answer.close();
    EXPECT_TRUE(failed_with(sender.send(value), errc::closed));
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(OneshotTest, AValueMayWantMoreAlignmentThanAFrameHas) {
  struct alignas(128) line {
    int n = 0;
  };
  oneshot<line> answer;
  EXPECT_TRUE(answer.sender().send(line{5}));
  const auto got = answer.try_recv();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->n, 5);
}

/// Both ends go at the same moment, on two threads: one of them frees what they share, and the sanitizers see that it does.
TEST(OneshotTest, BothEndsMayGoAtOnce) {
  const std::uint64_t rounds = rounds_of_this_run(2000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    auto answer = std::make_unique<oneshot<std::unique_ptr<int>>>();
    auto sender = answer->sender();
    std::jthread thread([to = std::move(sender), sends = round % 2 == 0]() mutable {
      if (sends) (void)to.send(std::make_unique<int>(1));
    });
    if (round % 4 < 2) {
      EXPECT_EQ(answer->blocking_recv().has_value(), round % 2 == 0);
    }
    answer.reset();
  }
}

}  // namespace
}  // namespace faio::sync
