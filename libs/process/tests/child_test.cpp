// child_test -- spawning with all that a child gets, waiting, killing, and what is left of a child that nobody waits for: nothing.
#include "faio/process/child.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "process_fixture.hpp"

namespace faio::process {
namespace {

/// No child, neither running nor dead, is left of this process.
bool has_no_children() { return ::waitid(P_ALL, 0, nullptr, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD; }

class ChildTest : public ProcessTest {
 protected:
  ~ChildTest() override {
    const auto patience = std::chrono::steady_clock::now() + 30s;
    while (!has_no_children() && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    EXPECT_TRUE(has_no_children());
  }
  /// A child that must have been made.
  task<child> spawned(command what) {
    auto made = co_await child::spawn(std::move(what));
    if (!made) throw std::system_error(made.error(), "spawn");
    co_return std::move(*made);
  }
  /// What a shell script wrote and how it ended.
  task<collected> run(std::string script) {
    auto got = co_await output(command("sh", "-c", std::move(script)));
    if (!got) throw std::system_error(got.error(), "output");
    co_return std::move(*got);
  }
};
FAIO_ON_BOTH_ENGINES(ChildTest);

TEST_P(ChildTest, EndsWithACodeOrByASignal) {
  ctx().block_on([&]() -> task<void> {
    auto good = co_await spawned(command("true"));
    auto bad = co_await spawned(command("sh", "-c", "exit 3"));
    auto killed = co_await spawned(command("sh", "-c", "kill -TERM $$"));
    const auto first = co_await good.wait();
    const auto second = co_await bad.wait();
    const auto third = co_await killed.wait();
    EXPECT_TRUE(first->success());
    EXPECT_EQ(second, exit_status::exited(3));
    EXPECT_FALSE(second->success());
    EXPECT_EQ(third, exit_status::killed(SIGTERM));
    EXPECT_EQ(third->code(), -1);
    const auto again = co_await bad.wait();
    EXPECT_EQ(again, exit_status::exited(3));
    EXPECT_EQ(bad.kill().error(), std::errc::no_such_process);
  });
}

TEST_P(ChildTest, GetsArgumentsAsTheyAre) {
  ctx().block_on([&]() -> task<void> {
    const std::vector<std::string> arguments{"%s|", "", "two words", "\"quoted\" $HOME *"};
    const auto got = co_await output(command("printf", arguments));
    EXPECT_EQ(got->out, "|two words|\"quoted\" $HOME *|");
  });
}

TEST_P(ChildTest, GetsEnvironmentAndDirectory) {
  ctx().block_on([&]() -> task<void> {
    command print("sh", "-c", "echo $FAIO_WORD in $PWD, ${HOME:-homeless}");
    print.environment = {"FAIO_WORD=hello"};
    print.directory = "/usr";
    const auto alone = co_await output(print);
    EXPECT_EQ(alone->out, "hello in /usr, homeless\n");

    command more("sh", "-c", "echo $FAIO_WORD, ${PATH:+with a path}");
    more.set_variable("FAIO_WORD", "first");
    more.set_variable("FAIO_WORD", "second");
    const auto added = co_await output(more);
    EXPECT_EQ(added->out, "second, with a path\n");
  });
}

TEST_P(ChildTest, TellsWhyAProgramCannotRun) {
  const std::string plain = testing::TempDir() + "faio-no-program-" + std::to_string(::getpid());
  std::ofstream(plain) << "text";
  ::chmod(plain.c_str(), 0644);
  ctx().block_on([&]() -> task<void> {
    auto made = co_await child::spawn(command("faio-there-is-no-such-program"));
    EXPECT_EQ(made.error(), std::errc::no_such_file_or_directory);
    made = co_await child::spawn(command("/nowhere/at/all"));
    EXPECT_EQ(made.error(), std::errc::no_such_file_or_directory);
    made = co_await child::spawn(command(plain));
    EXPECT_EQ(made.error(), std::errc::permission_denied);
    command lost("true");
    lost.directory = "/nowhere/at/all";
    made = co_await child::spawn(lost);
    EXPECT_EQ(made.error(), std::errc::no_such_file_or_directory);
    command closed("true");
    closed.in = stdio::descriptor(1 << 20);
    made = co_await child::spawn(closed);
    EXPECT_EQ(made.error(), std::errc::bad_file_descriptor);
  });
  std::filesystem::remove(plain);
}

TEST_P(ChildTest, TalksThroughPipes) {
  ctx().block_on([&]() -> task<void> {
    command echo("sh", "-c", "while read line; do echo got $line; echo seen >&2; done; printf end");
    echo.in = echo.out = echo.err = stdio::pipe;
    auto talks = co_await spawned(echo);
    for (const std::string word : {"one", "two", "three"}) {
      const auto wrote = co_await talks.in().write_all(word + "\n");
      EXPECT_TRUE(wrote.has_value());
      const auto line = co_await talks.out().read_until("\n");
      EXPECT_EQ(line, "got " + word + "\n");
      const auto seen = co_await talks.err().read_until("\n");
      EXPECT_EQ(seen, "seen\n");
    }
    talks.in().close();
    std::array<std::byte, 3> rest{};
    const auto exactly = co_await talks.out().read_exactly(rest);
    EXPECT_TRUE(exactly.has_value());
    EXPECT_EQ(std::memcmp(rest.data(), "end", 3), 0);
    const auto none = co_await talks.out().read_some(rest);
    EXPECT_EQ(none, 0U);
    const auto more = co_await talks.out().read_exactly(rest);
    EXPECT_EQ(more.error(), stream_errc::end_of_stream);
    const auto status = co_await talks.wait();
    EXPECT_TRUE(status->success());
    const auto late = co_await talks.in().write_all("x");
    EXPECT_EQ(late.error(), std::errc::bad_file_descriptor);
  });
}

TEST_P(ChildTest, ReadsLinesOfManyPieces) {
  ctx().block_on([&]() -> task<void> {
    command print("sh", "-c", "printf 'ab'; printf 'c--de-'; printf -- '-f'");
    print.out = stdio::pipe;
    auto prints = co_await spawned(print);
    const auto first = co_await prints.out().read_until("--");
    EXPECT_EQ(first, "abc--");
    const auto second = co_await prints.out().read_until("--");
    EXPECT_EQ(second, "de--");
    const auto third = co_await prints.out().read_until("--");
    EXPECT_EQ(third.error(), stream_errc::end_of_stream);
    const auto rest = co_await prints.out().read_all(100);
    EXPECT_EQ(rest, "f") << "what has no delimiter behind it is still there";
    (void)co_await prints.wait();

    command wide("sh", "-c", "printf 1234567890");
    wide.out = stdio::pipe;
    auto limited = co_await spawned(wide);
    const auto long_line = co_await limited.out().read_until("\n", 5);
    EXPECT_EQ(long_line.error(), stream_errc::too_long);
  });
}

TEST_P(ChildTest, MovesMoreThanAPipeHolds) {
  const std::string much(3'000'000, 'x');
  ctx().block_on([&]() -> task<void> {
    const auto got = co_await output(command("sh", "-c", "tee /dev/stderr"), much);
    EXPECT_EQ(got->out.size(), much.size());
    EXPECT_EQ(got->err.size(), much.size());
    EXPECT_TRUE(got->status.success());
  });
}

TEST_P(ChildTest, WritingToOneThatDoesNotReadIsAnErrorAndNoSignal) {
  ctx().block_on([&]() -> task<void> {
    command deaf("true");
    deaf.in = stdio::pipe;
    auto gone = co_await spawned(deaf);
    const std::string much(1'000'000, 'x');
    const auto wrote = co_await gone.in().write_all(much);  // SIGPIPE would end this program
    EXPECT_EQ(wrote.error(), std::errc::broken_pipe);
    (void)co_await gone.wait();
    const auto got = co_await output(command("true"), much);
    EXPECT_TRUE(got->status.success());
  });
}

TEST_P(ChildTest, SendsStreamsWhereTheyAreWanted) {
  const std::string path = testing::TempDir() + "faio-child-" + std::to_string(::getpid());
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  ctx().block_on([&]() -> task<void> {
    command into("sh", "-c", "cat; echo out; echo err >&2");
    into.in = stdio::null;
    into.out = stdio::descriptor(file);
    into.err = stdio::null;
    auto writes = co_await spawned(into);
    (void)co_await writes.wait();
  });
  std::string text(10, ' ');
  text.resize(static_cast<std::size_t>(::pread(file, text.data(), text.size(), 0)));
  EXPECT_EQ(text, "out\n");
  ::close(file);
  std::filesystem::remove(path);
}

TEST_P(ChildTest, CanBeKilled) {
  ctx().block_on([&]() -> task<void> {
    auto sleeps = co_await spawned(command("sleep", "1000"));
    EXPECT_TRUE(sleeps.kill(SIGTERM).has_value());
    const auto status = co_await sleeps.wait();
    EXPECT_EQ(status, exit_status::killed(SIGTERM));
  });
}

TEST_P(ChildTest, IsStillThereAfterAWaitThatTimedOut) {
  ctx().block_on([&]() -> task<void> {
    auto one = co_await spawned(command("sleep", "1000"));
    const auto late = co_await timeout(5ms, one.wait());
    EXPECT_EQ(late.error(), std::errc::timed_out);
    EXPECT_TRUE(one.kill().has_value());
    const auto status = co_await one.wait();
    EXPECT_EQ(status, exit_status::killed(SIGKILL));
  });
}

TEST_P(ChildTest, MayBeWaitedForBySeveral) {
  ctx().block_on([&]() -> task<void> {
    auto sleeps = co_await spawned(command("sleep", "1000"));
    auto other = spawn(sleeps.wait());
    EXPECT_TRUE(sleeps.kill().has_value());
    const auto [first, second] = co_await when_all(sleeps.wait(), sleeps.wait());
    const auto third = co_await std::move(other);
    EXPECT_EQ(first, exit_status::killed(SIGKILL));
    EXPECT_EQ(second, first);
    EXPECT_EQ(third, first);
  });
}

TEST_P(ChildTest, IsKilledAndReapedWhenItIsDropped) {
  ctx().block_on([&]() -> task<void> {
    for (int i = 0; i < 3; ++i) (void)co_await spawned(command("sleep", "1000"));
  });
  // The fixture sees that no child and no descriptor is left.
}

TEST_P(ChildTest, GoesOnWhenItIsDetached) {
  const std::string path = testing::TempDir() + "faio-detached-" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  ctx().block_on([&]() -> task<void> {
    auto writes = co_await spawned(command("sh", "-c", "echo alive >\"$0\"", path));
    std::move(writes).detach();
  });
  std::string line;
  std::getline(std::ifstream(path), line);
  EXPECT_EQ(line, "alive");
  std::filesystem::remove(path);
}

TEST_P(ChildTest, StartsWithNoSignalBlockedAndSigpipeAtItsDefault) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  ctx().block_on([&]() -> task<void> {
    const auto masks = co_await output(command("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"));
    const auto mask_of = [&](const char* name) {
      return std::stoull(masks->out.substr(masks->out.find(name) + std::strlen(name) + 2), nullptr, 16);
    };
    EXPECT_EQ(mask_of("SigBlk"), 0U);
    EXPECT_EQ(mask_of("SigIgn") & (1U << (SIGPIPE - 1)), 0U);
  });
  ::signal(SIGPIPE, before);
}

TEST_P(ChildTest, GetsNoDescriptorOfOurs) {
  ctx().block_on([&]() -> task<void> {
    command first("cat");
    first.in = first.out = stdio::pipe;
    auto cat = co_await spawned(first);
    int inherited = 0;  // what whoever started this test has left open for everybody
    for (int fd = 0; fd < 1024; ++fd) {
      const int flags = ::fcntl(fd, F_GETFD);
      if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++inherited;
    }
    // ls has one more, for the directory that it reads.
    const auto listed = co_await run("ls /proc/self/fd | wc -l");
    EXPECT_EQ(std::stoi(listed.out), inherited + 1) << listed.out;
    const auto ended = co_await cat.wait();
    EXPECT_TRUE(ended->success()) << "it reads to the end, which a copy of our end in another child would keep away";
  });
}

TEST_P(ChildTest, OutputHasALimit) {
  ctx().block_on([&]() -> task<void> {
    const auto endless = co_await output(command("yes"), {}, 100'000);
    EXPECT_EQ(endless.error(), stream_errc::too_long);
    const auto just = co_await output(command("printf", "12345"), {}, 5);
    EXPECT_EQ(just->out, "12345");
  });
}

TEST_P(ChildTest, ALimitThatNothingReachesIsNone) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  ctx().block_on([&]() -> task<void> {
    const auto got = co_await output(command("echo", "hello"), {}, none);
    EXPECT_EQ(got->out, "hello\n");
    command writes("echo", "hello");
    writes.out = stdio::pipe;
    auto one = co_await spawned(writes);
    const auto all = co_await one.out().read_all(none);
    EXPECT_EQ(all, "hello\n");
    const auto nothing = co_await output(command("true"), {}, 0);
    EXPECT_EQ(nothing->out, "");
    const auto more = co_await output(command("echo"), {}, 0);
    EXPECT_EQ(more.error(), stream_errc::too_long);
  });
}

/// A child of the child has the pipes too, and is not killed with it: what waits for them is ended all the same.
TEST_P(ChildTest, OutputBeyondItsLimitEndsThoughOthersHoldThePipes) {
  const std::string much(1'000'000, 'x');  // more than a pipe holds: it waits to be read, by nobody
  ctx().block_on([&]() -> task<void> {
    const auto out = co_await output(command("sh", "-c", "yes & wait"), much, 1000);
    EXPECT_EQ(out.error(), stream_errc::too_long);
    const auto err = co_await output(command("sh", "-c", "yes >&2 & wait"), much, 1000);
    EXPECT_EQ(err.error(), stream_errc::too_long) << "and not what ended the other stream";
  });
}

TEST_P(ChildTest, OneThatWasMovedFromIsNobody) {
  ctx().block_on([&]() -> task<void> {
    auto from = co_await spawned(command("true"));
    auto to = std::move(from);
    // NOLINTBEGIN(bugprone-use-after-move): what is asked here
    EXPECT_EQ(from.pid(), -1);
    EXPECT_EQ(from.kill().error(), std::errc::no_such_process);
    const auto status = co_await from.wait();
    EXPECT_EQ(status.error(), std::errc::no_child_process);
    std::move(from).detach();
    // NOLINTEND(bugprone-use-after-move)
    EXPECT_EQ(co_await to.wait(), exit_status::exited(0));
  });
}

TEST_P(ChildTest, OutputThatTakesTooLongIsKilled) {
  ctx().block_on([&]() -> task<void> {
    const auto late = co_await timeout(5ms, output(command("sleep", "1000")));
    EXPECT_EQ(late.error(), std::errc::timed_out);
  });
}

TEST_P(ChildTest, ManyAtOnceLeaveNothing) {
  ctx().block_on([&]() -> task<void> {
    task_group group;
    for (int i = 0; i < 40; ++i) {
      group.spawn([this, i]() -> task<void> {
        const auto got = co_await run("echo " + std::to_string(i) + "; exit " + std::to_string(i));
        EXPECT_EQ(got.out, std::to_string(i) + "\n");
        EXPECT_EQ(got.status.code(), i);
      });
    }
    co_await group.join();
  });
}

TEST_P(ChildTest, ARuntimeThatEndsTakesItsChildrenWithIt) {
  {
    runtime_context other({.workers = 1, .engine = GetParam(), .stop_grace = 10ms});
    other.spawn([this]() -> task<void> {
      auto sleeps = co_await spawned(command("sleep", "1000"));
      (void)co_await sleeps.wait();
    });
    while (has_no_children()) std::this_thread::yield();  // until it has been spawned
  }
}

}  // namespace
}  // namespace faio::process
