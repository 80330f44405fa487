// misuse_test -- an answer with a sentence that says what to do instead, never a hang or a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

task<int> one() { co_return 1; }

/// What it threw; empty: nothing.
template <class Error>
std::string sentence(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(MisuseTest, BlockingAWorkerOfTheSameRuntime) {
  gate go;  // outlives the task: block_on waits for it, whose handle is gone
  runtime_context ctx{{.workers = 2}};
  ctx.block_on([&] {
    EXPECT_THAT(sentence<std::system_error>([&] { (void)ctx.block_on(one()); }), testing::HasSubstr("co_await"));
    EXPECT_THAT(sentence<std::system_error>([&] { (void)ctx.wait_all(one()); }), testing::HasSubstr("co_await"));
    auto handle = ctx.spawn([&]() -> task<void> { co_await go.pass(); });
    EXPECT_THAT(sentence<std::system_error>([&] { handle.get(); }), testing::HasSubstr("co_await"));
    EXPECT_THAT(sentence<std::system_error>([&] { (void)wait(std::move(handle)); }), testing::HasSubstr("co_await"));
    go.open();
  });
}

TEST(MisuseTest, BlockingAComputeWorkerOrAHelperThreadOfTheSameRuntime) {
  runtime_context ctx{{.workers = 1}};
  ctx.block_on([&]() -> task<void> {
    const auto blocks = [&] { return sentence<std::system_error>([&] { (void)ctx.block_on(one()); }); };
    EXPECT_THAT(co_await compute(blocks), testing::HasSubstr("co_await"));
    EXPECT_THAT(co_await blocking(blocks), testing::HasSubstr("co_await"));
  });
}

TEST(MisuseTest, AnEmptyTask) {
  runtime_context ctx{{.workers = 1}};
  const auto says = testing::HasSubstr("call its function again");
  EXPECT_THAT(sentence<std::logic_error>([&] { (void)ctx.block_on(task<int>()); }), says);
  EXPECT_THAT(sentence<std::logic_error>([&] { (void)ctx.spawn(task<int>()); }), says);
  EXPECT_THAT(sentence<std::logic_error>([&] { (void)ctx.wait_all(task<int>(), one()); }), says);
  auto used = one();
  EXPECT_EQ(ctx.block_on(std::move(used)), 1);
  EXPECT_THAT(sentence<std::logic_error>([&] { (void)ctx.block_on(std::move(used)); }), says);  // NOLINT
  EXPECT_EQ(ctx.block_on(one()), 1) << "the runtime is as it was";
}

TEST(MisuseTest, AnEmptyHandle) {
  runtime_context ctx{{.workers = 1}};
  join_handle<int> handle;
  EXPECT_FALSE(handle.valid());
  EXPECT_THAT(sentence<std::logic_error>([&] { (void)handle.get(); }), testing::HasSubstr("taken once"));
  EXPECT_THROW((void)handle.done(), std::logic_error);
  EXPECT_THROW((void)handle.request_stop(), std::logic_error);
  handle = ctx.spawn(one());
  EXPECT_EQ(handle.get(), 1);
  EXPECT_THROW((void)handle.get(), std::logic_error);
  ctx.block_on([]() -> task<void> {
    join_handle<int> none;
    EXPECT_THROW((void)co_await std::move(none), std::logic_error);
  });
}

TEST(MisuseTest, AStoppedRuntime) {
  runtime_context ctx{{.workers = 1}};
  EXPECT_TRUE(ctx.stop().finished);
  const auto says = testing::HasSubstr("make a new runtime_context");
  EXPECT_THAT(sentence<std::system_error>([&] { (void)ctx.spawn(one()); }), says);
  EXPECT_THAT(sentence<std::system_error>([&] { (void)ctx.spawn(priority::low, one()); }), says);
  EXPECT_THAT(sentence<std::system_error>([&] { (void)ctx.block_on(one()); }), says);
  EXPECT_THAT(sentence<std::system_error>([&] { (void)ctx.wait_all(one(), one()); }), says);
  EXPECT_THAT(sentence<std::system_error>([&] { ctx.post([] {}); }), says);
  EXPECT_THAT(sentence<std::system_error>([&] { const task_group group{ctx}; }), says);
  EXPECT_FALSE(ctx.attach_worker().has_value());
}

task<int> awaits_in_a_condition_without_a_local() {
  if (co_await one() == 1) co_return 2;
  co_return 3;
}
TEST(MisuseTest, AFrameThatTheCompilerLaidOutWrongly) {
  runtime_context ctx{{.workers = 1}};
  try {
    EXPECT_EQ(ctx.block_on(awaits_in_a_condition_without_a_local()), 2) << "a compiler without the bug";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("name what was awaited"));
  }
}

TEST(MisuseTest, ANonsensicalConfigNamesTheField) {
  const auto refused = [](const config& wanted) {
    return sentence<std::invalid_argument>([&] { const runtime_context ctx{wanted}; });
  };
  EXPECT_THAT(refused({.workers = 5000}), testing::HasSubstr("config.workers"));
  EXPECT_THAT(refused({.workers = 1, .compute_workers = 5000}), testing::HasSubstr("config.compute_workers"));
  EXPECT_THAT(refused({.workers = 1, .ring_entries = 0}), testing::HasSubstr("config.ring_entries"));
  EXPECT_THAT(refused({.workers = 1, .io_interval = 0}), testing::HasSubstr("config.io_interval"));
  EXPECT_THAT(refused({.workers = 1, .global_queue_interval = 0}), testing::HasSubstr("config.global_queue_interval"));
  EXPECT_THAT(refused({.workers = 1, .local_queue_capacity = 1}), testing::HasSubstr("config.local_queue_capacity"));
  EXPECT_THAT(refused({.workers = 1, .thread_name = "much too long a name"}), testing::HasSubstr("config.thread_name"));
  EXPECT_THAT(refused({.workers = 1, .stop_grace = -1s}), testing::HasSubstr("config.stop_grace"));
  EXPECT_THAT(refused({.workers = 1, .engine = engine_kind::thread}), testing::HasSubstr("config.engine"));
}

TEST(MisuseDeathTest, ARuntimeDestroyedOnItsOwnWorkerSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto* const ctx = new runtime_context{{.workers = 1}};
        (void)ctx->spawn([&] { delete ctx; });
        std::this_thread::sleep_for(generous);  // ends with the program
      },
      "let the thread that made it destroy it");
}

TEST(MisuseDeathTest, ExitInsideATaskOfTheDefaultRuntimeEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        (void)spawn([] { std::exit(7); });
        std::this_thread::sleep_for(generous);  // ends with the program
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace faio::tests
