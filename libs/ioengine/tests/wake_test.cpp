// waking -- the handshake alone, and on every engine: before, during and after going to sleep; none is lost.
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <latch>
#include <limits>
#include <thread>

#include "engine_fixture.hpp"
#include "faio/ioengine/waker.hpp"
#include "seccomp_filter.hpp"

namespace faio::ioengine::testing {
namespace {

TEST(Waker, AWakeBeforeTheSleepPreventsIt) {
  waker<> handshake;
  EXPECT_FALSE(handshake.notify());
  EXPECT_FALSE(handshake.prepare_sleep());
  EXPECT_TRUE(handshake.prepare_sleep());
  EXPECT_FALSE(handshake.finish_sleep());
}

TEST(Waker, OnlyTheFirstOfManyWakesEndsTheSleep) {
  waker<> handshake;
  ASSERT_TRUE(handshake.prepare_sleep());
  EXPECT_TRUE(handshake.notify());
  EXPECT_FALSE(handshake.notify());
  EXPECT_TRUE(handshake.finish_sleep());
  EXPECT_TRUE(handshake.prepare_sleep());
  EXPECT_FALSE(handshake.finish_sleep());
}

std::vector<engine_kind> all_kinds() {
  auto kinds = io_kinds();
  kinds.push_back(engine_kind::thread);
  return kinds;
}

class WakeTest : public io_fixture {};
INSTANTIATE_TEST_SUITE_P(On, WakeTest, ::testing::ValuesIn(all_kinds()), kind_name);

TEST_P(WakeTest, AWakeBeforeTheSleepEndsItAtOnce) {
  io->wake();
  EXPECT_EQ(io->wait_and_drive(), 0U);
}

TEST_P(WakeTest, ManyWakesAreOne) {
  for (int i = 0; i < 100; ++i) io->wake();
  EXPECT_EQ(io->wait_and_drive(), 0U);
  const auto deadline = std::chrono::steady_clock::now() + 2ms;
  EXPECT_EQ(io->wait_and_drive(deadline), 0U);
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

TEST_P(WakeTest, AnotherThreadEndsTheSleep) {
  std::atomic<bool> published = false;
  std::jthread other([&] {
    published.store(true, std::memory_order_relaxed);
    io->wake();
  });
  while (!published.load(std::memory_order_relaxed)) io->wait_and_drive();
}

// Two threads hand a number to and fro, each sleeping in its own engine: a lost wake is a hang.
TEST_P(WakeTest, NoneOfManyHandoversIsLost) {
  constexpr int rounds = sanitized ? 2'000 : 20'000;
  std::atomic<int> turn = 0;
  std::latch ready(2);
  engine* peers[2] = {io.get(), nullptr};
  const auto play = [&](engine& own, int self) {
    ready.arrive_and_wait();
    for (int i = self; i < rounds; i += 2) {
      while (turn.load(std::memory_order_relaxed) != i) own.wait_and_drive();
      turn.store(i + 1, std::memory_order_relaxed);
      peers[1 - self]->wake();
    }
    while (turn.load(std::memory_order_relaxed) < rounds) own.wait_and_drive();
  };
  std::latch finished(2);
  std::jthread other([&] {
    auto own = make_engine(options());
    peers[1] = own.get();
    play(*own, 1);
    finished.arrive_and_wait();  // an engine outlives the wakes it is sent
  });
  play(*io, 0);
  finished.arrive_and_wait();
  EXPECT_EQ(turn.load(), rounds);
}

TEST_P(WakeTest, ManyThreadsWakeOne) {
  constexpr int threads = 4;
  constexpr int each = sanitized ? 2'000 : 10'000;
  std::atomic<int> published = 0;
  std::vector<std::jthread> others;
  for (int t = 0; t < threads; ++t)
    others.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        published.fetch_add(1, std::memory_order_relaxed);
        io->wake();
      }
    });
  while (published.load(std::memory_order_relaxed) < threads * each) io->wait_and_drive();
}

TEST_P(WakeTest, AWakeDuringADrainIsKeptForTheLoop) {
  io->wake();
  recorded nop;
  nop.prepare_nop();
  io->submit(nop);
  io->drain();
  EXPECT_EQ(io->wait_and_drive(), 0U);
}

/// How often it looks at the clock while it sleeps for 100 ms: the least of three, since a system that stops the process for a moment ends the sleep early.
long looks_of_a_sleep(engine& own, const counting_clock& clock) {
  long least = std::numeric_limits<long>::max();
  for (int attempt = 0; attempt < 3; ++attempt) {
    own.drive();
    clock.looks = 0;
    own.wait_and_drive(std::chrono::steady_clock::now() + 100ms);
    least = std::min(least, clock.looks);
  }
  return least;
}

TEST_P(WakeTest, AnIdleEngineSleepsInOnePiece) {
  const counting_clock clock;
  auto counted = options();
  counted.time = &clock;
  auto own = make_engine(counted);
  EXPECT_LT(looks_of_a_sleep(*own, clock), 20);
}

TEST_P(WakeTest, ATimerFarAwayDoesNotKeepAnIdleEngineBusy) {
  const counting_clock clock;
  auto counted = options();
  counted.time = &clock;
  auto own = make_engine(counted);
  timeout_operation far([](operation&) noexcept {});
  far.prepare_timeout(std::chrono::steady_clock::now() + 10min);
  own->submit(far);
  EXPECT_LT(looks_of_a_sleep(*own, clock), 40);
  own->drain();
}

// No system call for a target that is awake. In a child, from the moment on that counts, every system call but exit is a trap.

[[noreturn]] void leave(int status) {
  ::syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

constexpr int made_a_call = 7;

bool trap_system_calls() {
  struct sigaction on_trap{};
  on_trap.sa_handler = [](int) { leave(made_a_call); };
  ::sigaction(SIGSYS, &on_trap, nullptr);
  std::array<sock_filter, 4> program{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// What a child gives that wakes an engine without being allowed a system call. Asleep: it has a handle, so between two drives it
/// counts as sleeping in somebody's loop.
int wake_without_system_calls(const engine_options& options, bool asleep) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto own = make_engine(options);
    own->drive();
    if (asleep) (void)own->native_handle();
    if (!trap_system_calls()) leave(1);
    for (int i = 0; i < 3; ++i) own->wake();
    leave(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_P(WakeTest, NeedsNoSystemCallWhenTheTargetIsAwake) {
  if (sanitized) GTEST_SKIP() << "the sanitizers make system calls themselves";
  EXPECT_EQ(wake_without_system_calls(options(), false), 0);
  if (GetParam() == engine_kind::thread) return;  // has no handle, so nobody can see it asleep from here
  EXPECT_EQ(wake_without_system_calls(options(), true), made_a_call)
      << "the trap does not work, so this showed nothing";
}

TEST(ThreadEngine, HasNoDescriptorAtAll) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = descriptors();
  auto io = make_engine({.kind = engine_kind::thread});
  EXPECT_EQ(descriptors(), before);
  timeout_operation timeout([](operation&) noexcept {});
  timeout.prepare_timeout(std::chrono::steady_clock::now() + 1ms);
  io->submit(timeout);
  while (timeout.in_flight()) io->wait_and_drive();
  std::jthread([&] { io->wake(); }).join();
  io->wait_and_drive();
  EXPECT_EQ(io->native_handle(), -1);
  EXPECT_EQ(descriptors(), before);
}

TEST(ThreadEngine, RefusesIoAndKeepsTime) {
  auto io = make_engine({.kind = engine_kind::thread});
  EXPECT_EQ(io->kind(), engine_kind::thread);
  EXPECT_EQ(io->native_handle(), -1);
  auto [reader, writer] = make_pipe();
  std::array<std::byte, 8> buffer{};
  recorded read, nop;
  read.prepare_read(reader, buffer);
  nop.prepare_nop();
  io->submit(read);
  io->submit(nop);
  EXPECT_EQ(io->wait_and_drive(), 2U);
  EXPECT_EQ(read.results, std::vector<int>{-EOPNOTSUPP});
  EXPECT_EQ(nop.results, std::vector<int>{0});
  timeout_operation timeout([](operation&) noexcept {});
  const auto deadline = std::chrono::steady_clock::now() + 3ms;
  timeout.prepare_timeout(deadline);
  io->submit(timeout);
  EXPECT_EQ(io->wait_and_drive(), 1U);
  EXPECT_EQ(timeout.result(), -ETIME);
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
}

}  // namespace
}  // namespace faio::ioengine::testing
