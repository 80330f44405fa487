// task_test -- what a task gives, and when.
#include "faio/context/task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<int> add(int a, int b) { co_return a + b; }
task<void> touch(int& number) {
  ++number;
  co_return;
}
task<int&> same(int& number) { co_return number; }
task<const std::string&> same_const(const std::string& text) { co_return text; }
task<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }
task<int> fails(const char* why) {
  co_await yield();
  throw std::runtime_error(why);
}

struct no_default {
  explicit no_default(int given) : value(given) {}
  int value;
};
task<no_default> without_default() { co_return no_default(7); }

TEST(TaskTest, GivesAValue) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_EQ(ctx.block_on(add(1, 2)), 3);
}

TEST(TaskTest, GivesVoidAReferenceAndWhatCanOnlyBeMoved) {
  runtime_context ctx{{.workers = 1}};
  int number = 1;
  const std::string text = "text";
  ctx.block_on(touch(number));
  EXPECT_EQ(number, 2);
  int& again = ctx.block_on(same(number));
  EXPECT_EQ(&again, &number);
  EXPECT_EQ(&ctx.block_on(same_const(text)), &text);
  EXPECT_EQ(*ctx.block_on(boxed(5)), 5);
  EXPECT_EQ(ctx.block_on(without_default()).value, 7);
}

TEST(TaskTest, GivesThemToTheTaskThatAwaits) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<void> {
    int number = 1;
    co_await touch(number);
    EXPECT_EQ(number, 2);
    EXPECT_EQ(&co_await same(number), &number);
    EXPECT_EQ(*co_await boxed(5), 5);
    EXPECT_EQ((co_await without_default()).value, 7);
  });
}

TEST(TaskTest, DoesNothingUntilItIsAwaited) {
  runtime_context ctx{{.workers = 1}};
  int number = 1;
  {
    auto never = touch(number);
    EXPECT_TRUE(static_cast<bool>(never));
  }
  EXPECT_EQ(number, 1);
  ctx.block_on([&]() -> task<void> {
    auto later = touch(number);
    co_await yield();
    EXPECT_EQ(number, 1);
    co_await std::move(later);
    EXPECT_EQ(number, 2);
  });
}

TEST(TaskTest, AnExceptionArrivesAtTheAwait) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<void> {
    try {
      (void)co_await fails("here");
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "here");
    }
    EXPECT_EQ(co_await add(1, 1), 2) << "and the task goes on";
  });
  EXPECT_THROW((void)ctx.block_on(fails("there")), std::runtime_error);
}

/// The value was there already.
struct throws_at_end {
  ~throws_at_end() noexcept(false) { throw std::runtime_error("destructor"); }
};
task<std::string> fails_after_return() {
  const throws_at_end last;
  co_return std::string(1000, 'x');
}
TEST(TaskTest, ADestructorThatThrowsAfterReturnHasTheLastWord) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_THROW((void)ctx.block_on(fails_after_return()), std::runtime_error);
}

struct throws_when_made {
  explicit throws_when_made(int) { throw std::runtime_error("made"); }
};
task<throws_when_made> fails_in_return() { co_return 1; }
TEST(TaskTest, AValueThatCannotBeMadeIsAnException) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_THROW((void)ctx.block_on(fails_in_return()), std::runtime_error);
}

TEST(TaskTest, AMovedFromTaskIsRefusedWithASentence) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([]() -> task<void> {
    auto first = add(1, 2);
    auto second = std::move(first);
    EXPECT_FALSE(static_cast<bool>(first));  // NOLINT(bugprone-use-after-move): that is what is asked
    try {
      (void)co_await first;
      ADD_FAILURE() << "an empty task ran";
    } catch (const std::logic_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("call its function again"));
    }
    EXPECT_EQ(co_await second, 3);
    EXPECT_THROW((void)co_await second, std::logic_error) << "a second await";
  });
}

TEST(TaskTest, MoveAssignmentDropsWhatWasThere) {
  std::atomic<int> alive{0};
  const auto holds = [](tracked) -> task<void> { co_return; };
  auto one = holds(tracked(alive));
  auto other = holds(tracked(alive));
  EXPECT_EQ(alive.load(), 2);
  one = std::move(other);
  EXPECT_EQ(alive.load(), 1);
  one = {};
  EXPECT_EQ(alive.load(), 0);
}

TEST(TaskTest, IsDestroyedBeforeTheOneThatWaitsGoesOn) {
  runtime_context ctx{{.workers = 1}};
  std::atomic<int> alive{0};
  ctx.block_on([&]() -> task<void> {
    co_await [](tracked) -> task<void> { co_return; }(tracked(alive));
    EXPECT_EQ(alive.load(), 0);
  });
}

}  // namespace
}  // namespace faio::tests
