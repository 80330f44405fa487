// faults -- what the engines do when the kernel refuses, interrupts, or is full; each fault is made by a filter in a child.
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <thread>

#include "engine_fixture.hpp"
#include "seccomp_filter.hpp"

namespace faio::ioengine::testing {
namespace {

/// Runs `body` in a child; what it returns is the failure, empty for none.
std::string in_child(const std::function<std::string()>& body) {
  auto [reader, writer] = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a hang is a failure, not a test run without end
    const std::string failure = body();
    (void)!::write(writer, failure.data(), failure.size());
    ::_exit(0);
  }
  writer.reset();
  std::string failure;
  std::array<char, 512> buffer{};
  for (ssize_t got = 0; (got = ::read(reader, buffer.data(), buffer.size())) > 0;)
    failure.append(buffer.data(), static_cast<std::size_t>(got));
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status)) failure += " (the child died of signal " + std::to_string(WTERMSIG(status)) + ")";
  return failure;
}

std::string in_child_with(const std::vector<failing_call>& calls, const std::function<std::string()>& body) {
  return in_child([&]() -> std::string {
    if (!install_filter(calls)) return "the filter was refused";
    return body();
  });
}

#define FAIO_CHECK(condition)                                      \
  do {                                                             \
    if (!(condition)) return std::string("not true: " #condition); \
  } while (false)

/// Counts the calls of its completion function.
struct recorded_once : operation {
  int calls = 0;
  explicit recorded_once(completion complete = [](operation& op) noexcept { static_cast<recorded_once&>(op).count(); })
      : operation(complete) {}
  void count() { ++calls; }
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Without io_uring, `automatic` works by epoll and says why; `uring` is an error that names the remedy.

struct refusal {
  const char* name;
  long call;
  int error;
  const char* words;   // in the sentence: what refused
  const char* remedy;  // and what helps
};

std::string refusal_name(const ::testing::TestParamInfo<refusal>& given) { return given.param.name; }

/// Where the sysctl is set as well, it is the sysctl that is named.
const char* who_forbids() {
  int value = 0;
  std::ifstream("/proc/sys/kernel/io_uring_disabled") >> value;
  return value != 0 ? "sysctl kernel.io_uring_disabled" : "seccomp policy";
}

class SetupRefusalTest : public ::testing::TestWithParam<refusal> {
 protected:
  void SetUp() override {
    if (GetParam().call != __NR_io_uring_setup && !engine::create({.kind = engine_kind::uring}))
      GTEST_SKIP() << "io_uring is not allowed here";
  }
};
INSTANTIATE_TEST_SUITE_P(
    By, SetupRefusalTest,
    ::testing::Values(refusal{"EPERM", __NR_io_uring_setup, EPERM, who_forbids(), "engine_kind::automatic"},
                      refusal{"ENOSYS", __NR_io_uring_setup, ENOSYS, "kernel has no io_uring", "newer kernel"},
                      refusal{"ENOMEM", __NR_io_uring_setup, ENOMEM, "(RLIMIT_MEMLOCK)", "ulimit -l"},
                      refusal{"EnterEPERM", __NR_io_uring_enter, EPERM, who_forbids(), "io_uring_enter"},
                      refusal{"EnterENOSYS", __NR_io_uring_enter, ENOSYS, "kernel has no io_uring", "newer kernel"}),
    refusal_name);

TEST_P(SetupRefusalTest, AutomaticTakesEpollAndSaysWhy) {
  EXPECT_EQ(in_child_with({{.number = GetParam().call, .error = GetParam().error}},
                          [] {
                            auto made = engine::create();
                            FAIO_CHECK(made.has_value());
                            FAIO_CHECK((*made)->kind() == engine_kind::epoll);
                            FAIO_CHECK(has((*made)->kind_reason(), "epoll, because io_uring_"));
                            FAIO_CHECK(has((*made)->kind_reason(), GetParam().words));
                            // Advice that has been taken is none.
                            FAIO_CHECK(!has((*made)->kind_reason(), "engine_kind::automatic"));
                            recorded nop;
                            nop.prepare_nop();
                            (*made)->submit(nop);
                            while (nop.in_flight()) (*made)->wait_and_drive();
                            return std::string();
                          }),
            "");
}

TEST_P(SetupRefusalTest, AskedForByNameItIsAnErrorWithTheRemedy) {
  EXPECT_EQ(in_child_with({{.number = GetParam().call, .error = GetParam().error}},
                          [] {
                            const auto made = engine::create({.kind = engine_kind::uring});
                            FAIO_CHECK(!made.has_value());
                            FAIO_CHECK(made.error().code.value() == GetParam().error);
                            FAIO_CHECK(has(made.error().message, GetParam().words));
                            FAIO_CHECK(has(made.error().message, GetParam().remedy));
                            FAIO_CHECK(has(made.error().message, "engine_kind::automatic"));
                            return std::string();
                          }),
            "");
}

TEST(SetupRefusal, ALackOfDescriptorsNamesTheLimit) {
  if (sanitized) GTEST_SKIP() << "the sanitizers need descriptors themselves";
  EXPECT_EQ(in_child([] {
              const rlimit none{3, 3};
              ::setrlimit(RLIMIT_NOFILE, &none);
              const auto made = engine::create({.kind = engine_kind::epoll});
              FAIO_CHECK(!made.has_value());
              FAIO_CHECK(has(made.error().message, "RLIMIT_NOFILE"));
              return std::string();
            }),
            "");
}

// An old kernel: flags, calls and opcodes that it does not know. The engine does without them.

/// Everything that an engine must still do: completions, a sleep that another thread ends, a deadline.
std::string exercise(engine& io) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read, nop;
  read.prepare_read(reader, buffer);
  nop.prepare_nop();
  io.submit(read);
  io.submit(nop);
  while (nop.in_flight()) io.wait_and_drive();
  std::atomic<bool> published = false;
  {
    std::jthread other([&] {
      published.store(true, std::memory_order_relaxed);
      io.wake();
    });
    while (!published.load(std::memory_order_relaxed)) io.wait_and_drive();
  }
  FAIO_CHECK(::write(writer, "abc", 3) == 3);
  while (read.in_flight()) io.wait_and_drive();
  FAIO_CHECK(read.results == std::vector<int>{3});
  const auto deadline = std::chrono::steady_clock::now() + 3ms;
  while (std::chrono::steady_clock::now() < deadline) io.wait_and_drive(deadline);
  read.prepare_read(reader, buffer);
  io.submit(read);
  io.drain();
  FAIO_CHECK(read.results.back() == -ECANCELED);
  return {};
}

class UringFaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!engine::create({.kind = engine_kind::uring})) GTEST_SKIP() << "io_uring is not allowed here";
  }
};

TEST_F(UringFaultTest, IsWokenByAnEventfdWhereMessagesAreUnknown) {
  constexpr std::uint32_t send_message = 31;  // IORING_REGISTER_SEND_MSG_RING
  EXPECT_EQ(in_child_with({{.number = __NR_io_uring_register, .error = EINVAL, .argument = 1, .value = send_message}},
                          []() -> std::string {
                            auto io = make_engine({.kind = engine_kind::uring});
                            FAIO_CHECK(has(io->kind_reason(), "eventfd"));
                            for (int i = 0; i < 20; ++i)
                              if (auto failure = exercise(*io); !failure.empty()) return failure;
                            return {};
                          }),
            "");
}

TEST_F(UringFaultTest, WorksWithoutAnyRegistration) {
  EXPECT_EQ(in_child_with({{.number = __NR_io_uring_register, .error = EPERM}},
                          []() -> std::string {
                            auto io = make_engine({.kind = engine_kind::uring});
                            return exercise(*io);
                          }),
            "");
}

TEST_F(UringFaultTest, EpollWorksWithoutThePreciseWait) {
  EXPECT_EQ(in_child_with({{.number = __NR_epoll_pwait2, .error = ENOSYS}},
                          []() -> std::string {
                            auto io = make_engine({.kind = engine_kind::epoll});
                            return exercise(*io);
                          }),
            "");
}

// No thread can be had: what only blocks is done inside the submit, and a cancel comes too late for it.
TEST(EpollFault, WithoutThreadsWhatHasBeenDoneIsNotCancelled) {
  EXPECT_EQ(in_child_with({{.number = __NR_clone3, .error = EAGAIN}, {.number = __NR_clone, .error = EAGAIN}},
                          []() -> std::string {
                            auto io = make_engine({.kind = engine_kind::epoll});
                            recorded open, sync;
                            for (int i = 0; i < 3; ++i) {
                              open.prepare_openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
                              io->submit(open);
                              io->cancel(open);
                              while (open.in_flight()) io->wait_and_drive();
                              FAIO_CHECK(open.results.back() >= 0);
                              sync.prepare_fsync(open.results.back());
                              io->submit(sync);
                              while (sync.in_flight()) io->wait_and_drive();
                              FAIO_CHECK(sync.results.back() == -EINVAL);
                              ::close(open.results.back());
                            }
                            return {};
                          }),
            "");
}

// The kernel takes no submissions. A filter cannot be lifted, so it lets through what only waits: the engine must neither
// lose what it has nor spin. (Only enters with something to submit are refused: to_submit is the second argument.)

std::string refuse_one_submission(int error) {
  const counting_clock clock;
  auto io = make_engine({.kind = engine_kind::uring, .time = &clock});
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  io->drive();  // in the kernel before the filter comes
  FAIO_CHECK(install_filter({{.number = __NR_io_uring_enter, .error = error, .argument = 1, .value = 1}}));
  recorded nop;
  nop.prepare_nop();
  io->submit(nop);
  clock.looks = 0;
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < start + 100ms) io->wait_and_drive(start + 100ms);
  FAIO_CHECK(nop.in_flight());
  // It did not spin: each turn slept for 1 ms at least, and looked at the clock a few times.
  FAIO_CHECK(clock.looks < 100 * 10);
  // What is on its way still arrives.
  FAIO_CHECK(::write(writer, "abc", 3) == 3);
  while (read.in_flight()) io->wait_and_drive();
  FAIO_CHECK(read.results == std::vector<int>{3});
  // With two entries the filter does not match any more: everything that was kept goes in.
  recorded second;
  second.prepare_nop();
  io->submit(second);
  while (nop.in_flight() || second.in_flight()) io->wait_and_drive();
  FAIO_CHECK(nop.results == std::vector<int>{0});
  return {};
}

TEST_F(UringFaultTest, KeepsWhatTheKernelRefusesWithEbusy) {
  EXPECT_EQ(in_child([] { return refuse_one_submission(EBUSY); }), "");
}
TEST_F(UringFaultTest, KeepsWhatTheKernelRefusesWithEagain) {
  EXPECT_EQ(in_child([] { return refuse_one_submission(EAGAIN); }), "");
}

TEST_F(UringFaultTest, KeepsAFullRingAndMoreWhileTheKernelRefuses) {
  EXPECT_EQ(in_child([]() -> std::string {
              auto io = make_engine({.kind = engine_kind::uring, .ring_entries = 4});
              FAIO_CHECK(install_filter({{.number = __NR_io_uring_enter, .error = EBUSY, .argument = 1, .value = 4}}));
              std::deque<recorded> ops(100);
              for (std::size_t i = 0; i < ops.size(); ++i) {
                ops[i].prepare_nop();
                io->submit(ops[i]);
              }
              io->drive();
              FAIO_CHECK(io->in_flight() == ops.size());
              for (std::size_t i = 0; i < ops.size(); ++i)
                if (i >= 4) io->cancel(ops[i]);  // what never reached the ring can be taken back
              while (io->in_flight() > 4) io->wait_and_drive(std::chrono::steady_clock::now() + 5ms);
              for (std::size_t i = 4; i < ops.size(); ++i) FAIO_CHECK(ops[i].results == std::vector<int>{-ECANCELED});
              std::_Exit(0);  // the filter stays, so these four cannot be reaped
            }),
            "");
}

// The completion queue overflows: more comes in one enter than it has room for. The kernel's own list tells that it did.

/// How many completions the kernel keeps beyond the ring, from its description of the ring's descriptor.
int kept_by_the_kernel() {
  for (int fd = 3; fd < 64; ++fd) {
    std::array<char, 64> target{};
    if (::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), target.data(), target.size() - 1) < 0) continue;
    if (std::string_view(target.data()) != "anon_inode:[io_uring]") continue;
    std::ifstream description("/proc/self/fdinfo/" + std::to_string(fd));
    int kept = -1;
    for (std::string line; std::getline(description, line);) {
      if (line.starts_with("CqOverflowList:")) kept = 0;
      if (kept >= 0 && line.find("user_data=") != std::string::npos) ++kept;
    }
    return kept;
  }
  return -1;
}

/// Looks at the kernel's list in its completion function.
struct looking : recorded_once {
  static inline int most = -1;
  looking()
      : recorded_once([](operation& op) noexcept {
          static_cast<looking&>(op).count();
          most = std::max(most, kept_by_the_kernel());
        }) {}
};

TEST_F(UringFaultTest, AnOverflowingCompletionQueueLosesNothing) {
  looking::most = -1;
  auto io = make_engine({.kind = engine_kind::uring, .ring_entries = 4});
  auto [reader, writer] = make_pipe();
  std::deque<looking> reads(200);
  std::vector<std::array<std::byte, 1>> buffers(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i].prepare_read(reader, buffers[i]);
    io->submit(reads[i]);
  }
  io->drive();
  const std::string data(reads.size(), 'x');
  ASSERT_EQ(::write(writer, data.data(), data.size()), static_cast<ssize_t>(data.size()));
  while (io->in_flight() != 0) io->wait_and_drive();
  for (auto& read : reads) {
    ASSERT_EQ(read.calls, 1);
    ASSERT_EQ(read.result(), 1);
  }
  if (looking::most < 0) GTEST_SKIP() << "the kernel does not describe its rings";
  EXPECT_GT(looking::most, 0) << "the queue never overflowed, so this showed nothing";
}

// A ring of 64 entries with a hundred thousand in flight: what does not fit waits with us, not in lists that the kernel allocates.
TEST_F(UringFaultTest, TheKernelKeepsAtMostOneBatchBeyondTheRing) {
  looking::most = -1;
  auto io = make_engine({.kind = engine_kind::uring, .ring_entries = 64});
  std::deque<recorded_once> nops(100'000);
  std::deque<looking> looks(100);
  for (std::size_t i = 0; i < nops.size(); ++i) {
    nops[i].prepare_nop();
    io->submit(nops[i]);
    if (i % 1000 != 0) continue;
    looks[i / 1000].prepare_nop();
    io->submit(looks[i / 1000]);
  }
  while (io->in_flight() != 0) io->wait_and_drive();
  for (auto& nop : nops) ASSERT_EQ(nop.calls, 1);
  if (looking::most < 0) GTEST_SKIP() << "the kernel does not describe its rings";
  EXPECT_LE(looking::most, 64 + 8);  // and a few entries of the engine itself
}

// Signals interrupt every wait, again and again; nothing is lost and no wait ends early.

class SignalTest : public io_fixture {};
FAIO_FOR_IO_KINDS(SignalTest);

TEST_P(SignalTest, InterruptsAreNotSeenByTheLoop) {
  struct sigaction quiet{};
  static std::atomic<int> signals;
  signals = 0;
  quiet.sa_handler = [](int) { ++signals; };  // without SA_RESTART: every call that it meets ends with EINTR
  struct sigaction before{};
  ::sigaction(SIGALRM, &quiet, &before);
  const itimerval often{{0, 500}, {0, 500}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(io->wait_and_drive(start + 30ms), 0U);
  EXPECT_GE(std::chrono::steady_clock::now(), start + 30ms);
  EXPECT_GT(signals, 0);
  auto [reader, writer] = make_pipe();
  const auto file = make_file(std::string(4096, 'f'));
  std::array<std::byte, 64> buffer{};
  std::array<std::byte, 64> other{};
  for (int i = 0; i < 200; ++i) {
    recorded read, file_read, sync;
    read.prepare_read(reader, buffer);
    file_read.prepare_read(file, other, 0);
    sync.prepare_fsync(file, true);
    io->submit(read);
    io->submit(file_read);
    io->submit(sync);
    ASSERT_EQ(::write(writer, "abc", 3), 3);
    finish(read);
    finish(file_read);
    finish(sync);
    ASSERT_EQ(read.results, std::vector<int>{3});
    ASSERT_EQ(file_read.results, std::vector<int>{64});
    ASSERT_EQ(sync.results, std::vector<int>{0});
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}

// Forking with a live engine.

class ForkTest : public io_fixture {};
FAIO_FOR_IO_KINDS(ForkTest);

TEST_P(ForkTest, AChildThatDestroysItsCopyDisturbsNothing) {
  auto [reader, writer] = make_pipe();
  const auto file = make_file("content");
  std::array<std::byte, 8> buffer{};
  recorded read, sync;
  sync.prepare_fsync(file);
  EXPECT_EQ(run(sync), 0);  // on epoll: there are pool threads now, which the child will not have
  read.prepare_read(reader, buffer);
  io->submit(read);
  io->drive();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);
    io.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  io->drive();
  EXPECT_TRUE(read.in_flight());
  ASSERT_EQ(::write(writer, "abc", 3), 3);
  finish(read);
  EXPECT_EQ(read.results, std::vector<int>{3});
  EXPECT_EQ(run(sync), 0);
}

TEST_P(ForkTest, AChildThatExecsDisturbsNothing) {
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read;
  read.prepare_read(reader, buffer);
  io->submit(read);
  recorded nop;
  nop.prepare_nop();
  io->submit(nop);  // in the batch, not yet submitted: the child must not submit it
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  finish(nop);
  EXPECT_EQ(nop.results, std::vector<int>{0});
  ASSERT_EQ(::write(writer, "abc", 3), 3);
  finish(read);
  EXPECT_EQ(read.results, std::vector<int>{3});
}

TEST_P(ForkTest, AChildCanMakeItsOwnEngine) {
  recorded nop;
  nop.prepare_nop();
  EXPECT_EQ(run(nop), 0);
  EXPECT_EQ(in_child([this]() -> std::string {
              auto own = make_engine(options());
              return exercise(*own);
            }),
            "");
  EXPECT_EQ(run(nop), 0);
}

}  // namespace
}  // namespace faio::ioengine::testing
