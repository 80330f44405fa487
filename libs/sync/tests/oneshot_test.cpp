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

}  // namespace
}  // namespace faio::sync
