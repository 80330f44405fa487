// place_test -- every way to start a task remembers the line that the user wrote, whatever arguments it has.
#include "faio/context/place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <source_location>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

using testing::ElementsAreArray;
using testing::UnorderedElementsAreArray;

using file_and_line = std::pair<std::string, std::uint_least32_t>;

file_and_line shown(const std::source_location& where) {
  const std::string path = where.file_name();
  return {path.substr(path.rfind('/') + 1), where.line()};
}
std::uint_least32_t this_line(std::source_location where = std::source_location::current()) { return where.line(); }

/// The `many` lines of this file that follow `line`.
std::vector<file_and_line> lines_after(std::uint_least32_t line, std::uint_least32_t many) {
  std::vector<file_and_line> all;
  for (std::uint_least32_t each = 1; each <= many; ++each) all.emplace_back("place_test.cpp", line + each);
  return all;
}

/// Where on_unhandled was told that exceptions came from.
class reports {
 public:
  auto handler() {
    return [this](const std::exception_ptr&, const std::source_location& where) {
      const std::lock_guard lock(_mutex);
      _places.push_back(shown(where));
    };
  }
  std::vector<file_and_line> places() {
    const std::lock_guard lock(_mutex);
    return _places;
  }

 private:
  std::mutex _mutex;
  std::vector<file_and_line> _places;
};

task<void> fails() {
  throw std::runtime_error("lost");
  co_return;
}
/// With whatever arguments: a callable, and one that makes a task.
constexpr auto throws = [](auto...) { throw std::runtime_error("lost"); };
constexpr auto fails_with = [](auto...) { return fails(); };

template <class T>
void lose(join_handle<T> handle) {
  handle.wait_until_done();
}

TEST(PlaceTest, ASpawnOntoARuntimeIsReportedWithItsLine) {
  reports told;
  runtime_context ctx{{.workers = 2, .on_unhandled = told.handler()}};
  const int two = 2;
  std::string three = "three";
  const auto line = this_line();
  lose(ctx.spawn(fails()));
  lose(ctx.spawn(throws));
  lose(ctx.spawn(throws, 1));
  lose(ctx.spawn(fails_with, 1, two));
  lose(ctx.spawn(throws, 1, two, three));
  lose(ctx.spawn(fails_with, 1, two, three, "four"));
  lose(ctx.spawn(throws, 1, two, three, "four", 5.0));
  lose(ctx.spawn(fails_with, 1, two, three, "four", 5.0, std::string("six")));
  lose(ctx.spawn(priority::low, fails()));
  lose(ctx.spawn(priority::low, throws));
  lose(ctx.spawn(priority::low, throws, 1));
  lose(ctx.spawn(priority::low, fails_with, 1, two));
  lose(ctx.spawn(priority::normal, throws, 1, two, three, "four", 5.0, '6', 7, 8));
  (void)ctx.stop();
  EXPECT_THAT(told.places(), UnorderedElementsAreArray(lines_after(line, 13)));
}

TEST(PlaceTest, ACallableOrAWatchIsReportedWithItsLine) {
  reports told;
  runtime_context ctx{{.workers = 1, .on_unhandled = told.handler()}};
  const int fd = ::eventfd(1, 0);
  const auto ready = [fd](int) {
    std::uint64_t count = 0;
    EXPECT_EQ(::read(fd, &count, sizeof count), static_cast<ssize_t>(sizeof count));  // or it is ready again
    throw std::runtime_error("lost");
  };
  const auto line = this_line();
  ctx.post(throws);
  ctx.post_compute(throws);
  ctx.post_to(0, throws);
  ctx.post_after(0s, throws);
  auto watching = ctx.watch(fd, POLLIN, ready);
  ASSERT_TRUE(watching);
  while (told.places().size() < 5) std::this_thread::yield();
  EXPECT_THAT(told.places(), UnorderedElementsAreArray(lines_after(line, 5)));
  watching->reset();
  ::close(fd);
}

TEST(PlaceTest, ASpawnInATaskIsReportedWithItsLine) {
  reports told;
  runtime_context ctx{{.workers = 2, .on_unhandled = told.handler()}};
  std::uint_least32_t line = 0;
  ctx.block_on([&line]() -> task<void> {
    const int two = 2;
    std::string three = "three";
    line = this_line();
    (void)spawn(fails());
    (void)spawn(throws);
    (void)spawn(throws, 1);
    (void)spawn(fails_with, 1, two);
    (void)spawn(throws, 1, two, three);
    (void)spawn(fails_with, 1, two, three, "four");
    (void)spawn(throws, 1, two, three, "four", 5.0);
    (void)spawn(fails_with, 1, two, three, "four", 5.0, std::string("six"));
    (void)spawn(priority::low, fails());
    (void)spawn(priority::low, throws);
    (void)spawn(priority::low, throws, 1);
    (void)spawn(priority::low, fails_with, 1, two);
    (void)spawn(priority::normal, throws, 1, two, three, "four", 5.0, '6', 7, 8);
    co_return;
  });
  EXPECT_THAT(told.places(), UnorderedElementsAreArray(lines_after(line, 13)));
}

TEST(PlaceTest, ASpawnIntoAGroupIsReportedWithItsLine) {
  reports told;
  std::uint_least32_t line = 0;
  runtime_context ctx{{.workers = 2, .on_unhandled = told.handler()}};
  ctx.block_on([&line]() -> task<void> {
    const int two = 2;
    std::string three = "three";
    task_group none_joins[8];  // so each reports its first exception
    line = this_line();
    none_joins[0].spawn(fails());
    none_joins[1].spawn(throws);
    none_joins[2].spawn(throws, 1);
    none_joins[3].spawn(fails_with, 1, two);
    none_joins[4].spawn(throws, 1, two, three);
    none_joins[5].spawn(fails_with, 1, two, three, "four");
    none_joins[6].spawn(throws, 1, two, three, "four", 5.0);
    none_joins[7].spawn(fails_with, 1, two, three, "four", 5.0, std::string("six"));
    co_return;
  });
  EXPECT_THAT(told.places(), UnorderedElementsAreArray(lines_after(line, 8)));
}

/// What a stop report would name: the places of the live tasks of the runtime that it is called on.
constexpr auto live_place = [](auto...) {
  const auto all = context::runtime_core::current().live.places();
  return all.size() == 1 ? shown(all.front()) : file_and_line("places", all.size());
};
task<file_and_line> live_place_in_a_task() { co_return live_place(); }
task<void> nothing() { co_return; }

TEST(PlaceTest, AStopReportNamesTheLineOfABlockOn) {
  runtime_context ctx{{.workers = 1}};
  std::vector<file_and_line> got;
  const int two = 2;
  const auto line = this_line();
  got.push_back(ctx.block_on(live_place_in_a_task()));
  got.push_back(ctx.block_on(live_place));
  got.push_back(ctx.block_on(live_place, 1));
  got.push_back(ctx.block_on(live_place, 1, two, 3, 4, 5, std::string("six")));
  got.push_back(block_on(ctx, live_place_in_a_task()));
  got.push_back(block_on(ctx, live_place));
  got.push_back(block_on(ctx, live_place, 1, two, 3, 4, 5, 6, 7, 8));
  got.push_back(block_on(std::ref(ctx), live_place, 1));
  got.push_back(std::get<0>(ctx.wait_all(live_place_in_a_task())));
  got.push_back(std::get<1>(ctx.wait_all(nothing(), live_place_in_a_task(), nothing())));
  got.push_back(std::get<1>(wait_all(ctx, nothing(), live_place_in_a_task())));
  got.push_back(block_on(live_place_in_a_task()));
  got.push_back(block_on(live_place));
  got.push_back(block_on(live_place, 1));
  got.push_back(block_on(live_place, 1, two, 3, 4, 5, std::string("six")));
  got.push_back(std::get<0>(wait_all(live_place_in_a_task())));
  got.push_back(std::get<1>(wait_all(nothing(), live_place_in_a_task(), nothing())));
  EXPECT_THAT(got, ElementsAreArray(lines_after(line, 17)));
}

TEST(PlaceTest, APlaceMayBeHandedOn) {
  reports told;
  runtime_context ctx{{.workers = 1, .on_unhandled = told.handler()}};
  const auto where = std::source_location::current();
  lose(ctx.spawn(fails(), where));
  lose(ctx.spawn([] { throw std::runtime_error("lost"); }, where));
  lose(ctx.spawn(priority::low, fails(), where));
  (void)ctx.stop();
  EXPECT_THAT(told.places(), testing::Each(shown(where)));
  EXPECT_EQ(told.places().size(), 3U);
}

/// More than there is room for beside a place: the report names a header, and all else is the same.
TEST(PlaceTest, AnyNumberOfArgumentsIsTaken) {
  runtime_context ctx{{.workers = 1}};
  const auto sum = [](auto... each) { return (each + ...); };
  EXPECT_EQ(ctx.spawn(sum, 1, 2, 3, 4, 5, 6, 7, 8).get(), 36);
  EXPECT_EQ(ctx.block_on(sum, 1, 2, 3, 4, 5, 6, 7, 8), 36);
  EXPECT_EQ(spawn(sum, 1, 2, 3, 4, 5, 6, 7, 8).get(), 36);
  EXPECT_EQ(block_on(sum, 1, 2, 3, 4, 5, 6, 7, 8), 36);
  EXPECT_EQ(ctx.wait_all(nothing(), nothing(), nothing(), nothing(), nothing(), nothing(), nothing()),
            std::tuple_cat(std::array<std::monostate, 7>{}));
  EXPECT_EQ(ctx.wait_all(), std::tuple<>());
  int total = 0;
  ctx.block_on([&]() -> task<void> {
    task_group group;
    group.spawn([&](auto... each) { total = (each + ...); }, 1, 2, 3, 4, 5, 6, 7, 8);
    co_await group.join();
  });
  EXPECT_EQ(total, 36);
}

/// Counts how it came here.
struct traveller {
  traveller() = default;
  traveller(const traveller& from) : copies(from.copies + 1), moves(from.moves) {}
  traveller(traveller&& from) noexcept : copies(from.copies), moves(from.moves + 1) {}
  int copies = 0;
  int moves = 0;
};

TEST(PlaceTest, ArgumentsAreCopiedOnceIfAtAll) {
  runtime_context ctx{{.workers = 1}};
  const auto look = [](const traveller& it, auto&&...) { return std::pair(it.copies, it.moves); };
  const traveller kept;
  const std::pair one_copy(1, 1);  // into a parameter, and from there into the coroutine
  const std::pair no_copy(0, 2);
  EXPECT_EQ(ctx.spawn(look, kept).get(), one_copy);
  EXPECT_EQ(ctx.spawn(look, traveller()).get(), no_copy);
  EXPECT_EQ(ctx.spawn(look, traveller(), 2, 3, 4, 5, 6).get(), no_copy);
  EXPECT_EQ(ctx.spawn(look, traveller(), 2, 3, 4, 5, 6, 7).get(), no_copy);
  EXPECT_EQ(ctx.spawn(priority::low, look, traveller()).get(), no_copy);
  EXPECT_EQ(ctx.block_on(look, kept), one_copy);
  EXPECT_EQ(block_on(ctx, look, traveller()), no_copy);
  EXPECT_EQ(spawn(look, traveller()).get(), no_copy);
  const auto itself = [it = traveller()](int) { return std::pair(it.copies, it.moves); };
  EXPECT_EQ(ctx.spawn(itself, 1).get(), one_copy) << "the callable";
}

}  // namespace
}  // namespace faio::tests
