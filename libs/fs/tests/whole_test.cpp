// whole_test -- read_file; and write_file, after which there is the old content or the new one, whatever happened.
#include "faio/fs/whole.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "faio/context/stream_errors.hpp"
#include "fs_fixture.hpp"

namespace {
bool directories_cannot_be_synced = false;  // of this process
}

/// The library's calls come by here: a disk that fails when a directory is written to it cannot be had otherwise.
extern "C" int fsync(int fd) {
  struct stat of{};
  if (directories_cannot_be_synced && ::fstat(fd, &of) == 0 && S_ISDIR(of.st_mode)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace faio::fs {
namespace {

std::size_t names_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

class WholeTest : public FsTest {};
FAIO_ON_BOTH_ENGINES(WholeTest);

TEST_P(WholeTest, ReadsAllOfAFile) {
  for (const std::size_t size : {0UL, 1UL, 16UL * 1024 - 1, 16UL * 1024, 16UL * 1024 + 1, 5'000'000UL}) {
    const std::string text = pattern(size);
    put(in_folder("file"), text);
    const auto got = ctx().block_on(read_file(in_folder("file")));
    EXPECT_TRUE(got == text) << size;
  }
}

TEST_P(WholeTest, ReadsFilesThatDoNotKnowTheirSize) {
  const auto status = ctx().block_on(read_file("/proc/self/status"));
  ASSERT_TRUE(status.has_value());
  EXPECT_TRUE(status->starts_with("Name:"));
}

TEST_P(WholeTest, ReadsNoMoreThanTheLimit) {
  put(in_folder("file"), "12345");
  EXPECT_EQ(ctx().block_on(read_file(in_folder("file"), 5)), "12345");
  const auto longer = ctx().block_on(read_file(in_folder("file"), 4));
  EXPECT_EQ(longer.error(), stream_errc::too_long);
  EXPECT_EQ(longer.error().path(), in_folder("file"));
  EXPECT_EQ(ctx().block_on(read_file(in_folder("file"), 0)).error(), stream_errc::too_long);
  put(in_folder("empty"), "");
  EXPECT_EQ(ctx().block_on(read_file(in_folder("empty"), 0)), "");
}

TEST_P(WholeTest, WritesAllOfAFile) {
  for (const std::size_t size : {0UL, 1UL, 5'000'000UL}) {
    const std::string text = pattern(size);
    ASSERT_TRUE(ctx().block_on(write_file(in_folder("file"), text)).has_value());
    EXPECT_TRUE(contents(in_folder("file")) == text) << size;
    EXPECT_EQ(names_in(in_folder("")), 1U) << "nothing is left beside it";
  }
  ASSERT_TRUE(ctx().block_on(write_file(in_folder("file"), "quick", {.durable = false})).has_value());
  EXPECT_EQ(contents(in_folder("file")), "quick");
}

TEST_P(WholeTest, WritesIntoTheCurrentDirectoryToo) {
  const std::string name = "faio-whole-test-" + std::to_string(::getpid());
  EXPECT_TRUE(ctx().block_on(write_file(name, "here")).has_value());
  EXPECT_EQ(contents(name), "here");
  std::filesystem::remove(name);
}

TEST_P(WholeTest, KeepsTheModeAndFollowsALink) {
  put(in_folder("real"), "old");
  ::chmod(in_folder("real").c_str(), 0640);
  std::filesystem::create_symlink("real", in_folder("link"));
  ASSERT_TRUE(ctx().block_on(write_file(in_folder("link"), "new")).has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(in_folder("link")));
  EXPECT_EQ(contents(in_folder("real")), "new");
  struct stat status{};
  ASSERT_EQ(::stat(in_folder("real").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);

  const mode_t before = ::umask(022);
  ASSERT_TRUE(ctx().block_on(write_file(in_folder("fresh"), "new", {.mode = 0660})).has_value());
  ::umask(before);
  ASSERT_EQ(::stat(in_folder("fresh").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

TEST_P(WholeTest, ErrorsNameThePath) {
  const auto missing = ctx().block_on(read_file(in_folder("missing")));
  EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(missing.error().path(), in_folder("missing"));
  const auto folder = ctx().block_on(read_file(in_folder("")));
  EXPECT_EQ(folder.error(), std::errc::is_a_directory);
  const auto nowhere = ctx().block_on(write_file(in_folder("no") / "where", "x"));
  EXPECT_EQ(nowhere.error(), std::errc::no_such_file_or_directory);
  EXPECT_NE(nowhere.error().message().find((in_folder("no") / "where").string()), std::string::npos);
  std::filesystem::create_directory(in_folder("folder"));
  const auto over = ctx().block_on(write_file(in_folder("folder"), "x"));
  EXPECT_EQ(over.error(), std::errc::is_a_directory);
  EXPECT_EQ(names_in(in_folder("")), 1U);
}

TEST_P(WholeTest, AStoppedWriteLeavesTheOldContent) {
  put(in_folder("file"), "old");
  ctx().block_on([&]() -> task<void> {
    const std::string much = pattern(4 << 20);
    auto writes = spawn([&]() -> task<fs::result<void>> {
      const auto token = co_await current_stop_token();
      while (!token.stop_requested()) co_await yield();
      co_return co_await write_file(in_folder("file"), much);
    });
    writes.request_stop();
    const auto wrote = co_await std::move(writes);
    EXPECT_EQ(wrote.error(), std::errc::operation_canceled);
  });
  EXPECT_EQ(contents(in_folder("file")), "old");
  EXPECT_EQ(names_in(in_folder("")), 1U);
}

TEST_P(WholeTest, ReadersSeeTheOldOrTheNew) {
  const std::string a(300'000, 'a');
  const std::string b(200'000, 'b');
  put(in_folder("file"), a);
  std::atomic<bool> over{false};
  ctx().block_on([&]() -> task<void> {
    auto reads = spawn([&]() -> task<void> {
      while (!over) {
        const auto got = co_await read_file(in_folder("file"));
        EXPECT_TRUE(got == a || got == b);
      }
    });
    for (int i = 0; i < 30; ++i) {
      const auto wrote = co_await write_file(in_folder("file"), i % 2 == 0 ? b : a, {.durable = false});
      EXPECT_TRUE(wrote.has_value());
    }
    over = true;
    co_await std::move(reads);
  });
}

// ---- In processes of their own.

class WholeProcessTest : public FsProcessTest {};
FAIO_ON_BOTH_ENGINES(WholeProcessTest);

TEST_P(WholeProcessTest, AWriteThatFailsLeavesTheOldContent) {
  put(in_folder("file"), "old");
  in_a_process(
      [] {
        const rlimit small{100'000, 100'000};
        ::signal(SIGXFSZ, SIG_IGN);  // an error instead
        return ::setrlimit(RLIMIT_FSIZE, &small) == 0 ? "" : "no limit can be set here";
      },
      [this](runtime_context& ctx) {
        const auto wrote = ctx.block_on(write_file(in_folder("file"), pattern(1 << 20)));
        EXPECT_EQ(wrote.error(), std::errc::file_too_large);
        EXPECT_EQ(wrote.error().path(), in_folder("file"));
      });
  EXPECT_EQ(contents(in_folder("file")), "old");
  EXPECT_EQ(names_in(folder().path()), 1U) << "the temporary file is gone";
}

TEST_P(WholeProcessTest, AFullDiskLeavesTheOldContent) {
  in_a_process(
      [this] {
        if (::unshare(::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0)
          return "no mount namespace here";
        if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
          return "mounts cannot be made private here";
        if (::mount("tmpfs", folder().path().c_str(), "tmpfs", 0, "size=64k") != 0)
          return "no tmpfs may be mounted here";
        return "";
      },
      [this](runtime_context& ctx) {
        ASSERT_TRUE(ctx.block_on(write_file(in_folder("file"), "old")).has_value());
        const auto wrote = ctx.block_on(write_file(in_folder("file"), pattern(1 << 20)));
        EXPECT_EQ(wrote.error(), std::errc::no_space_on_device);
        EXPECT_EQ(wrote.error().message(), "write " + in_folder("file").string() + ": No space left on device");
        EXPECT_EQ(contents(in_folder("file")), "old");
        EXPECT_EQ(names_in(folder().path()), 1U);
      });
}

/// A folder that one may write to but not read cannot be synced: that is found out while the old content is there.
TEST_P(WholeProcessTest, ADirectoryThatCannotBeOpenedLeavesTheOldContent) {
  put(in_folder("file"), "old");
  ::chmod(in_folder("file").c_str(), 0666);
  in_a_process(
      [this] {
        constexpr uid_t nobody = 65534;
        if (::geteuid() == 0 && ::chown(folder().path().c_str(), nobody, nobody) != 0) return "no other owner here";
        if (::chmod(folder().path().c_str(), 0300) != 0) return "no mode can be set here";
        if (::geteuid() == 0 && ::setuid(nobody) != 0) return "one has to stay root here";
        return "";
      },
      [this](runtime_context& ctx) {
        const auto wrote = ctx.block_on(write_file(in_folder("file"), "new"));
        EXPECT_EQ(wrote.error(), std::errc::permission_denied);
        EXPECT_STREQ(wrote.error().doing(), "open the directory of");
        EXPECT_EQ(contents(in_folder("file")), "old");
        EXPECT_TRUE(ctx.block_on(write_file(in_folder("file"), "new", {.durable = false})).has_value());
      });
  ::chmod(folder().path().c_str(), 0700);
  EXPECT_EQ(contents(in_folder("file")), "new");
  EXPECT_EQ(names_in(folder().path()), 1U);
}

TEST_P(WholeProcessTest, ADirectoryThatCannotBeSyncedHasTheNewContent) {
  put(in_folder("file"), "old");
  in_a_process(
      [] {
        directories_cannot_be_synced = true;
        return "";
      },
      [this](runtime_context& ctx) {
        const auto wrote = ctx.block_on(write_file(in_folder("file"), "new"));
        EXPECT_EQ(wrote.error(), std::errc::io_error);
        EXPECT_STREQ(wrote.error().doing(), "sync the directory of");
        EXPECT_EQ(contents(in_folder("file")), "new");
      });
  EXPECT_EQ(names_in(folder().path()), 1U);
}

TEST_P(WholeProcessTest, AKilledWriterLeavesOneContentOrTheOther) {
  const std::string a(300'000, 'a');
  const std::string b(200'000, 'b');
  for (int round = 0; round < 5; ++round) {
    put(in_folder("file"), a);
    std::fflush(nullptr);
    const pid_t writer = ::fork();
    if (writer == 0) {
      runtime_context ctx({.workers = 1, .engine = GetParam()});
      for (;;) {
        (void)ctx.block_on(write_file(in_folder("file"), b, {.durable = false}));
        (void)ctx.block_on(write_file(in_folder("file"), a, {.durable = false}));
      }
    }
    // In the middle of its work: after it has changed the file some times, at whatever it is at then.
    struct stat status{};
    ino_t last = 0;
    for (int changes = 0; changes < 3 + round;) {
      if (::stat(in_folder("file").c_str(), &status) == 0 && std::exchange(last, status.st_ino) != status.st_ino)
        ++changes;
    }
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    const std::string left = contents(in_folder("file"));
    EXPECT_TRUE(left == a || left == b) << left.size();
  }
}

}  // namespace
}  // namespace faio::fs
