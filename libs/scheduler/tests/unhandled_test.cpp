// unhandled -- an exception that leaves a posted callable, or that of a watch, reaches the handler, with the place of the post, and is counted.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <latch>

#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {
namespace {

class UnhandledTest : public scheduler_fixture {
 protected:
  static std::string what(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& caught) {
      return caught.what();
    }
  }
};

TEST_P(UnhandledTest, TheHandlerLearnsWhatAndWhere) {
  std::mutex guard;
  std::vector<std::pair<std::string, unsigned>> reported;
  runtime rt(with({.workers = 2,
                   .compute_workers = 1,
                   .on_unhandled = [&](const std::exception_ptr& error, const std::source_location& where) {
                     const std::lock_guard lock(guard);
                     EXPECT_NE(std::string(where.file_name()).find("unhandled_test.cpp"), std::string::npos);
                     reported.emplace_back(what(error), where.line());
                   }}));
  std::vector<std::pair<std::string, unsigned>> expected;
  const auto raise = [](const char* text) { return [text] { throw std::runtime_error(text); }; };
  const unsigned first = std::source_location::current().line() + 1;
  rt.post(raise("post"));
  rt.post_to(0, raise("post_to"));
  rt.post_compute(raise("post_compute"));
  rt.post_after(1ms, raise("post_after"));
  ASSERT_TRUE(becomes_true([&] { return rt.metrics().unhandled_exceptions == 4; }));
  const unsigned second = std::source_location::current().line() + 2;
  on_a_worker(rt, [&] {
    this_worker::post_local(raise("post_local"));
    this_worker::post_self(raise("post_self"));
    this_worker::post_self_after(1ms, raise("post_self_after"));
  });
  ASSERT_TRUE(becomes_true([&] {
    const std::lock_guard lock(guard);
    return reported.size() == 7;
  }));
  EXPECT_EQ(rt.metrics().unhandled_exceptions, 7U);
  for (const auto& [text, line] : {std::pair{"post", first},
                                   {"post_to", first + 1},
                                   {"post_compute", first + 2},
                                   {"post_after", first + 3},
                                   {"post_local", second},
                                   {"post_self", second + 1},
                                   {"post_self_after", second + 2}}) {
    EXPECT_NE(std::ranges::find(reported, std::pair{std::string(text), line}), reported.end()) << text << ':' << line;
  }
}

TEST_P(UnhandledTest, WhatACallbackOfAWatchThrowsIsReportedWithThePlaceOfTheWatch) {
  std::promise<std::pair<std::string, std::source_location>> reported;
  runtime rt(
      with({.workers = 1, .on_unhandled = [&](const std::exception_ptr& error, const std::source_location& where) {
              reported.set_value({what(error), where});
            }}));
  const int fd = ::eventfd(1, EFD_NONBLOCK);
  const auto raise = [fd](int) {
    std::uint64_t count = 0;
    EXPECT_EQ(::read(fd, &count, sizeof count), static_cast<ssize_t>(sizeof count));  // or it is ready again
    throw std::runtime_error("watch");
  };
  const unsigned line = std::source_location::current().line() + 1;
  auto watching = rt.watch(fd, POLLIN, raise);
  ASSERT_TRUE(watching);
  const auto [text, where] = reported.get_future().get();
  EXPECT_EQ(text, "watch");
  EXPECT_EQ(where.line(), line);
  EXPECT_NE(std::string(where.file_name()).find("unhandled_test.cpp"), std::string::npos) << where.file_name();
  watching->reset();
  ::close(fd);
}

TEST_P(UnhandledTest, AHandlerMayTakeTheExceptionAlone) {
  std::promise<std::string> reported;
  runtime rt(
      with({.workers = 1, .on_unhandled = [&](const std::exception_ptr& error) { reported.set_value(what(error)); }}));
  rt.post([] { throw std::runtime_error("alone"); });
  EXPECT_EQ(reported.get_future().get(), "alone");
}

TEST_P(UnhandledTest, TheDefaultIsOneLineOnStderr) {
  ::testing::internal::CaptureStderr();
  {
    runtime rt(with({.workers = 1}));
    rt.post([] { throw std::runtime_error("lost and found"); });
    rt.post([] { throw 42; });
    ASSERT_TRUE(becomes_true([&] { return rt.metrics().unhandled_exceptions == 2; }));
  }
  const std::string out = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(out, '\n'), 2) << out;
  EXPECT_NE(out.find("unhandled_test.cpp:"), std::string::npos) << out;
  EXPECT_NE(out.find("lost and found"), std::string::npos) << out;
  EXPECT_NE(out.find("of a type that says nothing"), std::string::npos) << out;
}

TEST_P(UnhandledTest, TheWorkerGoesOn) {
  constexpr int times = 100;
  std::latch reported(times);
  runtime rt(with({.workers = 1, .on_unhandled = [&](const std::exception_ptr&) { reported.count_down(); }}));
  for (int i = 0; i < times; ++i) rt.post([] { throw std::runtime_error("again"); });
  reported.wait();
  EXPECT_EQ(rt.metrics().unhandled_exceptions, std::uint64_t{times});
}

FAIO_FOR_IO_KINDS(UnhandledTest);

}  // namespace
}  // namespace faio::scheduler::testing
