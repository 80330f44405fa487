// file_test -- reads and writes at an offset, short ones, and what they say when they fail.
#include "faio/fs/file.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cstring>
#include <vector>

#include "faio/context/stream_errors.hpp"
#include "faio/fs/aligned_buffer.hpp"
#include "fs_fixture.hpp"

namespace faio::fs {
namespace {

class FileTest : public FsTest {};
FAIO_ON_BOTH_ENGINES(FileTest);

/// One that must open.
task<file> opened(std::filesystem::path path, int flags = O_RDONLY) {
  auto one = co_await file::open(std::move(path), flags);
  if (!one) throw std::system_error(one.error(), one.error().message());
  co_return std::move(*one);
}

TEST_P(FileTest, ReadsBackWhatWasWritten) {
  ctx().block_on([&]() -> task<void> {
    auto one = co_await opened(in_folder("one"), O_RDWR | O_CREAT);
    const auto wrote = co_await one.write_at("hello, file", 0);
    EXPECT_EQ(wrote, 11U);
    const auto over = co_await one.write_at("FILE", 7);
    EXPECT_EQ(over, 4U);
    std::array<std::byte, 100> got{};
    const auto all = co_await one.read_at(got, 0);
    EXPECT_EQ(all, 11U);
    EXPECT_EQ(as_text(std::span(got).first(11)), "hello, FILE");
    const auto end = co_await one.read_at(got, 9);
    EXPECT_EQ(end, 2U) << "the file ends there";
    const auto none = co_await one.read_at(got, 11);
    EXPECT_EQ(none, 0U);
    const auto far = co_await one.read_at(got, 1'000'000);
    EXPECT_EQ(far, 0U);
  });
  EXPECT_EQ(contents(in_folder("one")), "hello, FILE");
}

TEST_P(FileTest, ReadsAndWritesSeveralBuffers) {
  ctx().block_on([&]() -> task<void> {
    auto one = co_await opened(in_folder("one"), O_RDWR | O_CREAT);
    std::string a = "abc";
    std::string b = "defgh";
    const std::array<iovec, 2> from{iovec{a.data(), a.size()}, iovec{b.data(), b.size()}};
    const auto wrote = co_await one.write_vectored_at(from, 1);
    EXPECT_EQ(wrote, 8U);
    std::string c(4, ' ');
    std::string d(4, ' ');
    const std::array<iovec, 2> into{iovec{c.data(), c.size()}, iovec{d.data(), d.size()}};
    const auto read = co_await one.read_vectored_at(into, 1);
    EXPECT_EQ(read, 8U);
    EXPECT_EQ(c + d, "abcdefgh");
  });
}

TEST_P(FileTest, OneThatWasMovedFromIsNotOpen) {
  ctx().block_on([&]() -> task<void> {
    auto one = co_await opened(in_folder("one"), O_RDWR | O_CREAT);
    file taken = std::move(one);
    std::array<std::byte, 4> bytes{};
    const iovec vector{bytes.data(), bytes.size()};
    const auto is_closed = [](const auto& gave) { return !gave && gave.error() == std::errc::bad_file_descriptor; };
    // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
    EXPECT_FALSE(one.is_open());
    EXPECT_EQ(one.path(), "");
    EXPECT_EQ(one.native_handle(), -1);
    EXPECT_TRUE(is_closed(co_await one.read_at(bytes, 0)));
    EXPECT_TRUE(is_closed(co_await one.write_at(bytes, 0)));
    EXPECT_TRUE(is_closed(co_await one.read_vectored_at({&vector, 1}, 0)));
    EXPECT_TRUE(is_closed(co_await one.write_vectored_at({&vector, 1}, 0)));
    EXPECT_TRUE(is_closed(co_await one.read_exactly_at(bytes, 0)));
    EXPECT_TRUE(is_closed(co_await one.read_exactly_at({}, 0)));
    EXPECT_TRUE(is_closed(co_await one.write_all_at(bytes, 0)));
    EXPECT_TRUE(is_closed(co_await one.write_all_at("", 0)));
    EXPECT_TRUE(is_closed(co_await one.sync()));
    EXPECT_TRUE(is_closed(co_await one.sync_data()));
    EXPECT_TRUE(is_closed(co_await one.size()));
    EXPECT_TRUE(is_closed(co_await one.truncate(0)));
    EXPECT_TRUE(is_closed(co_await one.advise(POSIX_FADV_RANDOM)));
    const auto closed = co_await one.close();
    EXPECT_TRUE(is_closed(closed));
    EXPECT_EQ(closed.error().message(), "close: Bad file descriptor");
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_TRUE(taken.is_open());
    EXPECT_TRUE((co_await taken.close()).has_value());
    EXPECT_TRUE(is_closed(co_await taken.read_at(bytes, 0))) << "the same for one that is closed";
    EXPECT_TRUE(is_closed(co_await taken.close()));
  });
}

TEST_P(FileTest, KnowsAndChangesItsSize) {
  ctx().block_on([&]() -> task<void> {
    auto one = co_await opened(in_folder("one"), O_RDWR | O_CREAT);
    (void)co_await one.write_all_at("0123456789", 0);
    auto size = co_await one.size();
    EXPECT_EQ(size, 10U);
    EXPECT_TRUE((co_await one.truncate(4)).has_value());
    size = co_await one.size();
    EXPECT_EQ(size, 4U);
    EXPECT_TRUE((co_await one.truncate(100'000)).has_value());
    size = co_await one.size();
    EXPECT_EQ(size, 100'000U);
    EXPECT_TRUE((co_await one.sync()).has_value());
    EXPECT_TRUE((co_await one.sync_data()).has_value());
    EXPECT_TRUE((co_await one.advise(POSIX_FADV_RANDOM)).has_value());
    const auto bad = co_await one.advise(12345);
    EXPECT_EQ(bad.error(), std::errc::invalid_argument);
    EXPECT_TRUE((co_await one.close()).has_value());
    EXPECT_FALSE(one.is_open());
    const auto closed = co_await one.write_at("x", 0);
    EXPECT_EQ(closed.error(), std::errc::bad_file_descriptor);
  });
}

TEST_P(FileTest, ManyReadOneFileAtOnce) {
  const std::string text = pattern(1 << 20);
  put(in_folder("big"), text);
  ctx().block_on([&]() -> task<void> {
    auto big = co_await opened(in_folder("big"));
    task_group group;
    for (std::size_t reader = 0; reader < 64; ++reader) {
      group.spawn([&big, &text, reader]() -> task<void> {
        std::array<std::byte, 4096> got{};
        for (std::size_t i = 0; i < 100; ++i) {
          const std::size_t at = (reader * 7919 + i * 104'729) % (text.size() - got.size());
          const auto read = co_await big.read_exactly_at(got, at);
          EXPECT_TRUE(read.has_value());
          EXPECT_EQ(as_text(got), std::string_view(text).substr(at, got.size()));
        }
      });
    }
    co_await group.join();
  });
}

TEST_P(FileTest, ReadsWhatIsNotInTheCache) {
  const std::string text = pattern(1 << 20);
  put(in_folder("cold"), text);
  ctx().block_on([&]() -> task<void> {
    auto cold = co_await opened(in_folder("cold"), O_RDWR);
    (void)co_await cold.sync();
    (void)co_await cold.advise(POSIX_FADV_DONTNEED);
    std::string got(text.size(), ' ');
    const auto read = co_await cold.read_exactly_at(std::as_writable_bytes(std::span(got)), 0);
    EXPECT_TRUE(read.has_value());
    EXPECT_EQ(got, text);
  });
}

TEST_P(FileTest, ATaskThatOnlyReadsFromTheCacheLetsOthersRun) {
  put(in_folder("warm"), "warm");
  runtime_context one({.workers = 1, .engine = GetParam()});
  one.block_on([&]() -> task<void> {
    auto warm = co_await opened(in_folder("warm"));
    bool over = false;
    auto other = spawn([&]() -> task<void> {
      co_await yield();
      over = true;
    });
    std::array<std::byte, 4> got{};
    while (!over) (void)co_await warm.read_at(got, 0);
    co_await std::move(other);
  });
}

TEST_P(FileTest, AShortReadIsGivenAndReadExactlyGoesOn) {
  ASSERT_EQ(::mkfifo(in_folder("fifo").c_str(), 0600), 0);
  ctx().block_on([&]() -> task<void> {
    auto fifo = co_await opened(in_folder("fifo"), O_RDWR);
    (void)co_await fifo.write_at("abc", 0);
    std::array<std::byte, 8> got{};
    const auto some = co_await fifo.read_at(got, 0);
    EXPECT_EQ(some, 3U);
    auto rest = spawn(fifo.read_exactly_at(got, 0));
    (void)co_await fifo.write_at("1234", 0);
    (void)co_await fifo.write_at("5678", 0);
    const auto all = co_await std::move(rest);
    EXPECT_TRUE(all.has_value());
    EXPECT_EQ(as_text(got), "12345678");
  });
  put(in_folder("five"), "12345");
  ctx().block_on([&]() -> task<void> {
    auto five = co_await opened(in_folder("five"));
    std::array<std::byte, 8> got{};
    const auto read = co_await five.read_exactly_at(got, 0);
    EXPECT_EQ(read.error(), stream_errc::end_of_stream);
    EXPECT_NE(read.error().message().find(in_folder("five").string()), std::string::npos);
  });
}

TEST_P(FileTest, OpeningANamedPipeDoesNotWaitForItsOtherEnd) {
  ASSERT_EQ(::mkfifo(in_folder("fifo").c_str(), 0600), 0);
  ctx().block_on([&]() -> task<void> {
    const auto writes = co_await file::open(in_folder("fifo"), O_WRONLY);
    EXPECT_EQ(writes.error(), std::errc::no_such_device_or_address);
    auto reads = co_await opened(in_folder("fifo"));
    std::array<std::byte, 8> got{};
    const auto writes_now = co_await opened(in_folder("fifo"), O_WRONLY);
    auto waits = spawn(reads.read_exactly_at(std::span(got).first(3), 0));
    (void)co_await writes_now.write_at("abc", 0);
    const auto read = co_await std::move(waits);
    EXPECT_TRUE(read.has_value());
  });
}

TEST_P(FileTest, AStoppedReadNamesItsPathToo) {
  ASSERT_EQ(::mkfifo(in_folder("fifo").c_str(), 0600), 0);
  ctx().block_on([&]() -> task<void> {
    auto fifo = co_await opened(in_folder("fifo"), O_RDWR);
    std::array<std::byte, 8> got{};
    const auto late = co_await timeout(2ms, fifo.read_at(got, 0));
    static_assert(std::is_same_v<decltype(late), const fs::result<std::size_t>>);
    EXPECT_EQ(late.error(), std::errc::timed_out);
    auto reads = spawn(fifo.read_exactly_at(got, 0));
    reads.request_stop();
    const auto stopped = co_await std::move(reads);
    EXPECT_EQ(stopped.error(), std::errc::operation_canceled);
    EXPECT_EQ(stopped.error().path(), in_folder("fifo"));
  });
}

TEST_P(FileTest, ACachedReadEndsTooWhenStopWasRequested) {
  put(in_folder("warm"), "warm");
  ctx().block_on([&]() -> task<void> {
    auto warm = co_await opened(in_folder("warm"));
    auto reads = spawn([&]() -> task<std::error_code> {
      std::array<std::byte, 4> got{};
      for (;;) {
        const auto read = co_await warm.read_at(got, 0);
        if (!read) co_return read.error();
      }
    });
    reads.request_stop();
    const auto why = co_await std::move(reads);
    EXPECT_EQ(why, std::errc::operation_canceled);
  });
}

TEST_P(FileTest, ErrorsHaveTheRightCodeAndNameThePath) {
  ctx().block_on([&]() -> task<void> {
    const auto missing = co_await file::open(in_folder("missing"));
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    EXPECT_EQ(missing.error().path(), in_folder("missing"));
    EXPECT_EQ(missing.error().message(), "open " + in_folder("missing").string() + ": No such file or directory");

    const auto folder = co_await file::open(in_folder(""), O_WRONLY);
    EXPECT_EQ(folder.error(), std::errc::is_a_directory);
    auto readable = co_await opened(in_folder(""));
    std::array<std::byte, 8> got{};
    const auto read = co_await readable.read_at(got, 0);
    EXPECT_EQ(read.error(), std::errc::is_a_directory);
    EXPECT_EQ(read.error().message(), "read " + in_folder("").string() + ": Is a directory");

    put(in_folder("file"), "x");
    const auto below = co_await file::open(in_folder("file") / "below");
    EXPECT_EQ(below.error(), std::errc::not_a_directory);
    const auto exists = co_await file::open(in_folder("file"), O_CREAT | O_EXCL | O_WRONLY);
    EXPECT_EQ(exists.error(), std::errc::file_exists);
    auto reads_only = co_await opened(in_folder("file"));
    const auto wrote = co_await reads_only.write_at("y", 0);
    EXPECT_EQ(wrote.error(), std::errc::bad_file_descriptor);
    EXPECT_EQ(wrote.error().path(), in_folder("file"));
  });
}

TEST_P(FileTest, ItsResultsAreResultsOfFaio) {
  ctx().block_on([&]() -> task<void> {
    const faio::result<file> plain = co_await file::open(in_folder("missing"));
    EXPECT_EQ(plain.error(), std::errc::no_such_file_or_directory);
    const std::error_code code = fs::error(std::make_error_code(std::errc::io_error));
    EXPECT_EQ(code, std::errc::io_error);
  });
}

TEST_P(FileTest, ReadsAndWritesPastTheCache) {
  // Memory that is not aligned, or a file system that knows no direct I/O, is refused by the kernel: EINVAL.
  bool refused = false;
  ctx().block_on([&]() -> task<void> {
    auto direct = co_await file::open(in_folder("direct"), O_RDWR | O_CREAT | O_DIRECT);
    refused = !direct && direct.error() == std::errc::invalid_argument;
    if (refused) co_return;
    EXPECT_TRUE(direct.has_value());
    const aligned_buffer from(8000);
    EXPECT_EQ(from.size(), 8192U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(from.data()) % aligned_buffer::default_alignment, 0U);
    const std::string text = pattern(from.size());
    std::memcpy(from.data(), text.data(), text.size());
    const auto wrote = co_await direct->write_all_at(from, 0);
    EXPECT_TRUE(wrote.has_value());
    const aligned_buffer into(8192);
    const auto read = co_await direct->read_exactly_at(into, 0);
    EXPECT_TRUE(read.has_value());
    EXPECT_EQ(as_text(into.span()), text);
  });
  if (refused) GTEST_SKIP() << "the file system of " << in_folder("") << " knows no direct I/O";
}

TEST(AlignedBuffer, RefusesAnAlignmentThatIsNoPowerOfTwo) {
  EXPECT_THROW(aligned_buffer(10, 3), std::invalid_argument);
  EXPECT_THROW(aligned_buffer(10, 0), std::invalid_argument);
  EXPECT_EQ(aligned_buffer(10, 64).size(), 64U);
}

// ---- In processes of their own.

class FileProcessTest : public FsProcessTest {};
FAIO_ON_BOTH_ENGINES(FileProcessTest);

TEST_P(FileProcessTest, TellsThatItMayNot) {
  put(in_folder("secret"), "x");
  ::chmod(in_folder("secret").c_str(), 0);
  ::chmod(folder().path().c_str(), 0755);
  in_a_process(
      [] {
        // The superuser may everything: somebody else, then.
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0))
          return "this user cannot become another";
        return "";
      },
      [this](runtime_context& ctx) {
        ctx.block_on([this]() -> task<void> {
          const auto secret = co_await file::open(in_folder("secret"));
          EXPECT_EQ(secret.error(), std::errc::permission_denied);
          EXPECT_EQ(secret.error().path(), in_folder("secret"));
        });
      });
}

TEST_P(FileProcessTest, TellsThatTheDiskIsFull) {
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
        ctx.block_on([this]() -> task<void> {
          auto full = co_await opened(in_folder("full"), O_RDWR | O_CREAT);
          const auto wrote = co_await full.write_all_at(pattern(1 << 20), 0);
          EXPECT_EQ(wrote.error(), std::errc::no_space_on_device);
          EXPECT_EQ(wrote.error().message(), "write " + in_folder("full").string() + ": No space left on device");
        });
      });
}

}  // namespace
}  // namespace faio::fs
