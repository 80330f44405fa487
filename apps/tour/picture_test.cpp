// picture_test -- nothing that is drawn is wider or taller than the terminal.
#include "picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::ElementsAre;
using tour::clipped, tour::fitted, tour::picture, tour::terminal_size;

TEST(Picture, ALineIsCutAtTheLastColumn) {
  EXPECT_EQ(clipped("worker", 10), "worker");
  EXPECT_EQ(clipped("worker", 6), "worker");
  EXPECT_EQ(clipped("worker", 4), "work");
  EXPECT_EQ(clipped("worker", 0), "");
}

TEST(Picture, ALetterOfSeveralBytesIsOneCellAndIsNotCutInTwo) {
  EXPECT_EQ(clipped("█▌··", 3), "█▌·");
  EXPECT_EQ(clipped("12 µs", 4), "12 µ");
}

TEST(Picture, ColoursTakeNoCellAndAreSwitchedOffThoughTheLineIsCut) {
  EXPECT_EQ(clipped("\x1b[1mHTTP\x1b[0m  x", 4), "\x1b[1mHTTP\x1b[0m");
  EXPECT_EQ(clipped("\x1b[2mworker\x1b[0m", 2), "\x1b[2mwo\x1b[0m");
}

const picture small{.above = {"head", ""}, .workers = {"0", "1", "2", "3"}, .below = {"", "HTTP", "timers"}};

TEST(Picture, AllOfItWhereThereIsRoom) {
  EXPECT_THAT(fitted(small, {.rows = 10, .columns = 80}),
              ElementsAre("head", "", "0", "1", "2", "3", "", "HTTP", "timers"));
}

TEST(Picture, EmptyLinesGoFirst) {
  EXPECT_THAT(fitted(small, {.rows = 9, .columns = 80}), ElementsAre("head", "0", "1", "2", "3", "HTTP", "timers"));
  EXPECT_THAT(fitted(small, {.rows = 8, .columns = 80}), ElementsAre("head", "0", "1", "2", "3", "HTTP", "timers"));
}

TEST(Picture, ThenWorkersAreFolded) {
  EXPECT_THAT(fitted(small, {.rows = 7, .columns = 80}),
              ElementsAre("head", "0", "1", "   ... and 2 more", "HTTP", "timers"));
  EXPECT_THAT(fitted(small, {.rows = 5, .columns = 80}), ElementsAre("head", "   ... and 4 more", "HTTP", "timers"));
  EXPECT_THAT(fitted(small, {.rows = 4, .columns = 80}), ElementsAre("head", "HTTP", "timers"));
}

TEST(Picture, AtLastWhatIsLowest) {
  EXPECT_THAT(fitted(small, {.rows = 3, .columns = 80}), ElementsAre("head", "HTTP"));
  EXPECT_THAT(fitted(small, {.rows = 1, .columns = 2}), ElementsAre("he"));
}

TEST(Picture, NeverTallerNorWiderThanTheTerminal) {
  picture many{
      .above = {"head", "engine", "", "worker"}, .workers = {}, .below = {"", "HTTP", "", "timers", "compute"}};
  for (std::size_t workers = 0; workers < 40; ++workers) {
    for (std::size_t rows = 1; rows < 60; ++rows) {
      const auto lines = fitted(many, {.rows = rows, .columns = 5});
      EXPECT_LE(lines.size() + 1, std::max<std::size_t>(rows, 2)) << workers << " workers in " << rows << " rows";
      for (const auto& line : lines) EXPECT_LE(line.size(), 5u);
    }
    many.workers.push_back("worker " + std::to_string(workers));
  }
}

}  // namespace
