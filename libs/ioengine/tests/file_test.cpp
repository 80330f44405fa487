// files -- the operations on files and pipes give what read(2), write(2) and the others give, on every kind.
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "engine_fixture.hpp"

namespace faio::ioengine::testing {
namespace {

class FileTest : public io_fixture {};
FAIO_FOR_IO_KINDS(FileTest);

TEST_P(FileTest, ReadsAndWritesAtAnOffset) {
  const auto file = make_file("0123456789");
  std::array<std::byte, 4> buffer{};
  recorded write, read;
  write.prepare_write(file, bytes("abc"), 3);
  EXPECT_EQ(run(write), 3);
  read.prepare_read(file, buffer, 2);
  EXPECT_EQ(run(read), 4);
  EXPECT_EQ(text(buffer, 4), "2abc");
}

TEST_P(FileTest, ReadsFromWhereTheFileStands) {
  const auto file = make_file("0123456789");
  ASSERT_EQ(::lseek(file, 5, SEEK_SET), 5);
  std::array<std::byte, 3> buffer{};
  recorded read;
  read.prepare_read(file, buffer);
  EXPECT_EQ(run(read), 3);
  EXPECT_EQ(text(buffer, 3), "567");
  EXPECT_EQ(run(read), 2);
  EXPECT_EQ(run(read), 0);
}

TEST_P(FileTest, AReadAtTheEndIsShortAndThenZero) {
  const auto file = make_file("0123456789");
  std::array<std::byte, 64> buffer{};
  recorded read;
  read.prepare_read(file, buffer, 7);
  EXPECT_EQ(run(read), 3);
  read.prepare_read(file, buffer, 10);
  EXPECT_EQ(run(read), 0);
}

// By epoll what is in the page cache is read at once, and the rest of it elsewhere.
TEST_P(FileTest, AReadThatIsOnlyPartlyInThePageCacheGivesAllOfIt) {
  std::string content(std::size_t{1} << 20, ' ');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + i / 7 % 26);
  const auto file = make_file(content);
  ASSERT_EQ(::fsync(file), 0);
  constexpr std::size_t cached = std::size_t{300} << 10;
  for (const std::size_t split : {std::size_t{1}, std::size_t{4096}, std::size_t{307'201}}) {
    ::posix_fadvise(file, cached, 0, POSIX_FADV_DONTNEED);
    std::string got(content.size() - 5, ' ');
    const std::array<iovec, 3> vectors{{{got.data(), split}, {nullptr, 0}, {got.data() + split, got.size() - split}}};
    recorded read;
    read.prepare_readv(file, vectors, 5);
    io->submit(read);
    finish(read);
    ASSERT_EQ(read.results, std::vector<int>{static_cast<int>(got.size())});
    ASSERT_EQ(got, content.substr(5));
  }
}

TEST_P(FileTest, ReadsAndWritesSeveralBuffers) {
  const auto file = make_file();
  std::string hello = "hello ";
  std::string world = "world";
  const std::array<iovec, 2> out{iovec{hello.data(), hello.size()}, iovec{world.data(), world.size()}};
  recorded write, read;
  write.prepare_writev(file, out, 0);
  EXPECT_EQ(run(write), 11);
  std::array<std::byte, 3> first{};
  std::array<std::byte, 8> second{};
  const std::array<iovec, 2> in{iovec{first.data(), 3}, iovec{second.data(), 8}};
  read.prepare_readv(file, in, 0);
  EXPECT_EQ(run(read), 11);
  EXPECT_EQ(text(first, 3), "hel");
  EXPECT_EQ(text(second, 8), "lo world");
}

TEST_P(FileTest, OpensSyncsAndCloses) {
  std::string path = "/tmp/faio_ioengine_open_" + std::to_string(::getpid());
  recorded open, write, sync, data_sync, close;
  open.prepare_openat(AT_FDCWD, path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const int fd = run(open);
  ASSERT_GE(fd, 0);
  struct stat status{};
  ASSERT_EQ(::fstat(fd, &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  write.prepare_write(fd, bytes("data"), 0);
  EXPECT_EQ(run(write), 4);
  sync.prepare_fsync(fd);
  EXPECT_EQ(run(sync), 0);
  data_sync.prepare_fsync(fd, true);
  EXPECT_EQ(run(data_sync), 0);
  close.prepare_close(fd);
  EXPECT_EQ(run(close), 0);
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  EXPECT_EQ(run(open), -EEXIST);
  ::unlink(path.c_str());
  open.prepare_openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(run(open), -ENOENT);
}

TEST_P(FileTest, GivesTheErrorsOfTheSystemCalls) {
  std::array<std::byte, 8> buffer{};
  const owned_fd directory(::open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  recorded read;
  read.prepare_read(directory, buffer, 0);
  EXPECT_EQ(run(read), -EISDIR);
  const owned_fd read_only(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  recorded write;
  write.prepare_write(read_only, bytes("x"), 0);
  EXPECT_EQ(run(write), -EBADF);
  auto [reader, writer] = make_pipe();
  recorded sync;
  sync.prepare_fsync(reader);
  EXPECT_EQ(run(sync), -EINVAL);
}

/// A fifo with a name, for as long as it lives.
struct named_fifo {
  std::string directory = "/tmp/faio_ioengine_XXXXXX";
  std::string path;
  named_fifo() {
    if (::mkdtemp(directory.data()) == nullptr) std::abort();
    path = directory + "/fifo";
    if (::mkfifo(path.c_str(), 0600) != 0) std::abort();
  }
  named_fifo(const named_fifo&) = delete;
  named_fifo& operator=(const named_fifo&) = delete;
  ~named_fifo() {
    ::unlink(path.c_str());
    ::rmdir(directory.c_str());
  }
};

TEST_P(FileTest, AFifoIsOpenedWithoutWaitingForTheOtherEnd) {
  const named_fifo fifo;
  recorded write_end, read_end;
  write_end.prepare_openat(AT_FDCWD, fifo.path.c_str(), O_WRONLY | O_CLOEXEC);
  EXPECT_EQ(run(write_end), -ENXIO);
  read_end.prepare_openat(AT_FDCWD, fifo.path.c_str(), O_RDONLY | O_CLOEXEC);
  const owned_fd reader(run(read_end));
  ASSERT_GE(reader, 0);
  const owned_fd writer(run(write_end));
  ASSERT_GE(writer, 0);
  for (const int fd : {reader.fd, writer.fd}) EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  io->drive();
  EXPECT_TRUE(read.in_flight());
  ASSERT_EQ(::write(writer, "abc", 3), 3);
  finish(read);
  EXPECT_EQ(read.results, std::vector<int>{3});
}

TEST_P(FileTest, AnOpenThatWaitsIsEndedByACancelAndByADrain) {
  const named_fifo fifo;
  for (int i = 0; i < 40; ++i) {
    recorded open;
    open.prepare_openat(AT_FDCWD, fifo.path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);  // the ring waits with this
    io->submit(open);
    io->wait_and_drive(std::chrono::steady_clock::now() + 1ms);
    if (i % 2 == 0) {
      io->cancel(open);
      finish(open);
    } else {
      io->drain();
    }
    ASSERT_EQ(open.results.size(), 1U);
    if (open.results[0] >= 0)
      ::close(open.results[0]);
    else
      ASSERT_EQ(open.results[0], -ECANCELED);
  }
}

TEST_P(FileTest, ManyFilesAtOnceAllComplete) {
  const auto file = make_file(std::string(64 * 1024, 'z'));
  std::vector<recorded> reads(256);
  std::vector<std::array<std::byte, 512>> buffers(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (i % 8 == 0)
      reads[i].prepare_fsync(file);
    else
      reads[i].prepare_read(file, buffers[i], i * 128);
    io->submit(reads[i]);
  }
  while (io->in_flight() != 0) io->wait_and_drive();
  for (std::size_t i = 0; i < reads.size(); ++i) ASSERT_EQ(reads[i].results, std::vector<int>{i % 8 == 0 ? 0 : 512});
}

// Pipes, events, terminals: descriptors that make a reader wait, whether or not they are O_NONBLOCK.

TEST_P(FileTest, APipeReadWaitsForData) {
  for (const int flags : {O_CLOEXEC, O_CLOEXEC | O_NONBLOCK}) {
    auto [reader, writer] = make_pipe(flags);
    std::array<std::byte, 8> buffer{};
    recorded read;
    read.prepare_read(reader, buffer);
    io->submit(read);
    io->drive();
    EXPECT_TRUE(read.in_flight());
    ASSERT_EQ(::write(writer, "abc", 3), 3);
    finish(read);
    EXPECT_EQ(read.results, std::vector<int>{3});
    EXPECT_EQ(text(buffer, 3), "abc");
  }
}

TEST_P(FileTest, APipeTakesAnyOffset) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded write, read;
  write.prepare_write(writer, bytes("abc"), 0);
  EXPECT_EQ(run(write), 3);
  read.prepare_read(reader, buffer, 0);
  EXPECT_EQ(run(read), 3);
}

TEST_P(FileTest, AFullPipeMakesAWriteWaitAndThenBeShort) {
  auto [reader, writer] = make_pipe();
  const int capacity = ::fcntl(writer, F_SETPIPE_SZ, 4096);
  ASSERT_GT(capacity, 0);
  const std::string data(static_cast<std::size_t>(capacity) * 3, 'p');
  std::size_t written = 0;
  std::size_t seen = 0;
  std::vector<char> drain(static_cast<std::size_t>(capacity));
  while (written < data.size()) {
    recorded write;
    write.prepare_write(writer, bytes(std::string_view(data).substr(written)));
    io->submit(write);
    io->drive();
    while (write.in_flight()) {
      const auto got = ::read(reader, drain.data(), drain.size());
      ASSERT_GT(got, 0);
      seen += static_cast<std::size_t>(got);
      io->drive();
    }
    ASSERT_GT(write.results[0], 0);
    written += static_cast<std::size_t>(write.results[0]);
  }
  EXPECT_LE(seen, written);
}

TEST_P(FileTest, AClosedPipeIsTheEndForReadersAndAnErrorForWriters) {
  ::signal(SIGPIPE, SIG_IGN);
  std::array<std::byte, 8> buffer{};
  {
    auto [reader, writer] = make_pipe();
    recorded read;
    read.prepare_read(reader, buffer);
    io->submit(read);
    io->drive();
    writer.reset();
    finish(read);
    EXPECT_EQ(read.results, std::vector<int>{0});
  }
  auto [reader, writer] = make_pipe();
  reader.reset();
  recorded write;
  write.prepare_write(writer, bytes("x"));
  EXPECT_EQ(run(write), -EPIPE);
}

TEST_P(FileTest, ReadsAnEventfd) {
  const owned_fd event(::eventfd(0, EFD_CLOEXEC));
  std::uint64_t count = 0;
  recorded read;
  read.prepare_read(event, std::as_writable_bytes(std::span(&count, 1)));
  io->submit(read);
  io->drive();
  EXPECT_TRUE(read.in_flight());
  const std::uint64_t seven = 7;
  ASSERT_EQ(::write(event, &seven, sizeof seven), 8);
  finish(read);
  EXPECT_EQ(read.results, std::vector<int>{8});
  EXPECT_EQ(count, 7U);
}

TEST_P(FileTest, ReadsATerminal) {
  const owned_fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) GTEST_SKIP() << "no pseudo terminals here";
  const owned_fd terminal(::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_GE(terminal, 0);
  std::array<std::byte, 16> buffer{};
  recorded read;
  read.prepare_read(terminal, buffer);
  io->submit(read);
  io->drive();
  EXPECT_TRUE(read.in_flight());
  ASSERT_EQ(::write(master, "line\n", 5), 5);
  finish(read);
  EXPECT_EQ(read.results, std::vector<int>{5});
  EXPECT_EQ(text(buffer, 5), "line\n");
}

TEST_P(FileTest, ATerminalTakesAVectorThatBeginsWithNothing) {
  const owned_fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) GTEST_SKIP() << "no pseudo terminals here";
  const owned_fd terminal(::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_GE(terminal, 0);
  std::array<char, 5> word{'h', 'e', 'l', 'l', 'o'};
  const std::array<iovec, 3> vectors{{{word.data(), 0}, {nullptr, 0}, {word.data(), word.size()}}};
  recorded write;
  write.prepare_writev(terminal, vectors);
  EXPECT_EQ(run(write), 5);
  write.prepare_writev(terminal, std::span(vectors).first(2));
  EXPECT_EQ(run(write), 0);
}

TEST_P(FileTest, ReadersOfOneDescriptorAreServedInOrder) {
  auto [reader, writer] = make_pipe();
  std::array<recorded, 3> reads;
  std::array<std::array<std::byte, 1>, 3> buffers{};
  for (std::size_t i = 0; i < 3; ++i) {
    reads[i].prepare_read(reader, buffers[i]);
    io->submit(reads[i]);
  }
  io->drive();
  ASSERT_EQ(::write(writer, "abc", 3), 3);
  for (auto& read : reads) finish(read);
  if (io->kind() == engine_kind::epoll) {  // the ring wakes waiters in its own order
    EXPECT_EQ(text(buffers[0], 1), "a");
    EXPECT_EQ(text(buffers[2], 1), "c");
  }
}

// Bytes that come while the ring looks call many readers of whom one gets them. After 128 calls for nothing the ring hands a reader
// to a thread of the kernel, where a read of an O_NONBLOCK pipe does not wait, and a cancel interrupts that of another pipe.
TEST_P(FileTest, AReaderThatIsCalledForNothingManyTimesGoesOnWaiting) {
  struct reader_of_many : operation {
    engine* io = nullptr;
    int fd = -1;
    int* left = nullptr;
    int* wrong = nullptr;
    std::array<std::byte, 32> buffer{};
    reader_of_many()
        : operation([](operation& op) noexcept {
            auto& self = static_cast<reader_of_many&>(op);
            if (op.result() <= 0 && op.result() != -ECANCELED) *self.wrong = op.result();
            if (--*self.left > 0) self.again();
          }) {}
    void again() noexcept {
      prepare_read(fd, buffer);
      io->submit(*this);
    }
  };
  for (const int flags : {O_CLOEXEC, O_CLOEXEC | O_NONBLOCK}) {
    auto [reader, writer] = make_pipe(flags);
    std::atomic<bool> over = false;
    std::jthread feeder([&over, fd = writer.fd] {
      const std::string bytes(40, 'x');
      const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
      while (!over.load(std::memory_order_relaxed)) {
        int unread = 0;
        if (::ioctl(fd, FIONREAD, &unread) == 0 && unread == 0) (void)!::pwritev2(fd, &piece, 1, -1, RWF_NOWAIT);
      }
    });
    int left = sanitized ? 20'000 : 100'000;
    int wrong = 0;
    std::vector<reader_of_many> readers(40);
    for (auto& each : readers) {
      each.io = io.get();
      each.fd = reader;
      each.left = &left;
      each.wrong = &wrong;
      each.again();
    }
    while (left > 0) io->wait_and_drive();
    over = true;
    feeder.join();
    for (auto& each : readers) io->cancel(each);
    while (io->in_flight() != 0) io->wait_and_drive();
    EXPECT_EQ(wrong, 0) << std::strerror(-wrong);
  }
}

TEST_P(FileTest, PollTellsTheEventsThatHold) {
  auto [reader, writer] = make_pipe();
  recorded readable, writable, hung_up;
  writable.prepare_poll(writer, POLLOUT);
  EXPECT_EQ(run(writable), POLLOUT);
  readable.prepare_poll(reader, POLLIN);
  io->submit(readable);
  io->drive();
  EXPECT_TRUE(readable.in_flight());
  ASSERT_EQ(::write(writer, "x", 1), 1);
  finish(readable);
  EXPECT_EQ(readable.results.back() & POLLIN, POLLIN);
  char byte = 0;
  ASSERT_EQ(::read(reader, &byte, 1), 1);
  hung_up.prepare_poll(reader, POLLIN);
  io->submit(hung_up);
  io->drive();
  writer.reset();
  finish(hung_up);
  EXPECT_EQ(hung_up.results.back() & POLLHUP, POLLHUP);
}

TEST_P(FileTest, PollOfARegularFileHoldsAtOnce) {
  const auto file = make_file("x");
  recorded poll;
  poll.prepare_poll(file, POLLIN | POLLOUT);
  EXPECT_EQ(run(poll) & (POLLIN | POLLOUT), POLLIN | POLLOUT);
}

}  // namespace
}  // namespace faio::ioengine::testing
