// directory_test -- names: remove, rename, create_directories, list.
#include "faio/fs/directory.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "fs_fixture.hpp"

namespace faio::fs {
namespace {

class DirectoryTest : public FsTest {};
FAIO_ON_BOTH_ENGINES(DirectoryTest);

TEST_P(DirectoryTest, ListsNamesWithTheirTypes) {
  using std::filesystem::file_type;
  put(in_folder("file"), "x");
  std::filesystem::create_directory(in_folder("folder"));
  std::filesystem::create_symlink("nowhere", in_folder("link"));
  ::mkfifo(in_folder("fifo").c_str(), 0600);
  const auto got = ctx().block_on(fs::list(in_folder("")));
  ASSERT_TRUE(got.has_value());
  std::map<std::string, file_type> types;
  for (const auto& each : *got) types[each.name] = each.type;
  EXPECT_EQ(types, (std::map<std::string, file_type>{{"file", file_type::regular},
                                                     {"folder", file_type::directory},
                                                     {"link", file_type::symlink},
                                                     {"fifo", file_type::fifo}}));
  EXPECT_TRUE(std::any_of(got->begin(), got->end(), [](const entry& each) { return each.is_file(); }));
  EXPECT_TRUE(std::any_of(got->begin(), got->end(), [](const entry& each) { return each.is_directory(); }));
}

TEST_P(DirectoryTest, ListsManyNames) {
  for (int i = 0; i < 2000; ++i) put(in_folder(std::to_string(i)), "");
  EXPECT_EQ(ctx().block_on(fs::list(in_folder("")))->size(), 2000U);
}

TEST_P(DirectoryTest, TellsWhyThereIsNothingToList) {
  put(in_folder("file"), "x");
  const auto missing = ctx().block_on(fs::list(in_folder("missing")));
  EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(missing.error().message(), "list " + in_folder("missing").string() + ": No such file or directory");
  EXPECT_EQ(ctx().block_on(fs::list(in_folder("file"))).error(), std::errc::not_a_directory);
}

TEST_P(DirectoryTest, CreatesDirectoriesWithThoseAbove) {
  const auto deep = in_folder("a") / "b" / "c";
  EXPECT_TRUE(ctx().block_on(fs::create_directories(deep)).has_value());
  EXPECT_TRUE(std::filesystem::is_directory(deep));
  EXPECT_TRUE(ctx().block_on(fs::create_directories(deep)).has_value()) << "it is there: as good";
  put(in_folder("file"), "x");
  const auto blocked = ctx().block_on(fs::create_directories(in_folder("file") / "below"));
  EXPECT_EQ(blocked.error(), std::errc::not_a_directory);
  EXPECT_EQ(blocked.error().path(), in_folder("file") / "below");
}

TEST_P(DirectoryTest, RemovesFilesAndEmptyDirectories) {
  put(in_folder("file"), "x");
  std::filesystem::create_directories(in_folder("folder") / "inner");
  EXPECT_TRUE(ctx().block_on(fs::remove(in_folder("file"))).has_value());
  EXPECT_EQ(ctx().block_on(fs::remove(in_folder("file"))).error(), std::errc::no_such_file_or_directory);
  const auto full = ctx().block_on(fs::remove(in_folder("folder")));
  EXPECT_EQ(full.error(), std::errc::directory_not_empty);
  EXPECT_EQ(full.error().path(), in_folder("folder"));
  EXPECT_TRUE(ctx().block_on(fs::remove(in_folder("folder") / "inner")).has_value());
  EXPECT_TRUE(ctx().block_on(fs::remove(in_folder("folder"))).has_value());
}

TEST_P(DirectoryTest, RenamesOverWhatIsThere) {
  put(in_folder("from"), "new");
  put(in_folder("to"), "old");
  EXPECT_TRUE(ctx().block_on(fs::rename(in_folder("from"), in_folder("to"))).has_value());
  EXPECT_EQ(contents(in_folder("to")), "new");
  const auto missing = ctx().block_on(fs::rename(in_folder("from"), in_folder("to")));
  EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(missing.error().message(),
            "rename " + in_folder("from").string() + " to " + in_folder("to").string() + ": No such file or directory");
}

}  // namespace
}  // namespace faio::fs
