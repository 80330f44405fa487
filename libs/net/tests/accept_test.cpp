// accept_test -- one accept of the system for many tasks: nothing is lost, nothing is left open, whoever stops, closes or leaves.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "faio/net/tcp.hpp"
#include "faio/net/unix.hpp"
#include "net_fixture.hpp"

namespace faio::net {
namespace {

using namespace std::chrono_literals;

/// A client of the system's own, which needs no runtime.
class plain_client {
 public:
  explicit plain_client(const endpoint& to) : _fd(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (::connect(_fd, to.data(), to.size()) != 0) ADD_FAILURE() << "connect: " << std::strerror(errno);
  }
  plain_client(const plain_client&) = delete;
  plain_client& operator=(const plain_client&) = delete;
  ~plain_client() { ::close(_fd); }
  [[nodiscard]] bool write(char one) const { return ::write(_fd, &one, 1) == 1; }
  /// Blocks. 0: the end.
  [[nodiscard]] ssize_t read() const {
    char one = 0;
    return ::read(_fd, &one, 1);
  }

 private:
  int _fd;
};

class AcceptTest : public NetTest {};
FAIO_ON_BOTH_ENGINES(AcceptTest);

TEST_P(AcceptTest, AConnectionGoesToExactlyOneOfManyTasks) {
  constexpr int tasks = 8;
  constexpr int connections = 200;
  auto listener = listening();
  std::atomic<int> taken = 0;
  std::vector<join_handle<void>> accepting;
  for (int i = 0; i < tasks; ++i) {
    accepting.push_back(ctx().spawn([&]() -> task<void> {
      for (;;) {
        auto got = co_await listener.accept();
        if (!got) co_return;
        ++taken;
        EXPECT_TRUE((co_await got->write_all("!")).has_value());
      }
    }));
  }
  for (int i = 0; i < connections; ++i) {
    const plain_client client(listener.local());
    EXPECT_EQ(client.read(), 1);
    EXPECT_EQ(client.read(), 0);
  }
  EXPECT_EQ(taken, connections);
  listener.close();
  for (auto& each : accepting) each.get();
}

/// Each accept is stopped at a random moment; whoever comes in between waits for the next one.
TEST_P(AcceptTest, AnAcceptThatIsStoppedLosesNoConnection) {
  constexpr int connections = 300;
  auto listener = listening();
  std::atomic<bool> all_there = false;
  auto server = ctx().spawn([&]() -> task<int> {
    int taken = 0;
    for (int round = 0; taken < connections; ++round) {
      auto got = co_await timeout(std::chrono::microseconds(round % 7 * 100), listener.accept());
      if (!got) {
        EXPECT_EQ(got.error(), std::errc::timed_out);
        continue;
      }
      ++taken;
      EXPECT_TRUE((co_await got->write_all("!")).has_value());
    }
    co_return taken;
  });
  std::thread clients([&] {
    for (int i = 0; i < connections; ++i) {
      const plain_client client(listener.local());
      EXPECT_EQ(client.read(), 1);
    }
    all_there = true;
  });
  EXPECT_EQ(server.get(), connections);
  clients.join();
  EXPECT_TRUE(all_there);
}

TEST_P(AcceptTest, ConnectionsThatNobodyTookWaitForTheNextAndAreClosedWithTheListener) {
  auto listener = listening();
  auto stopped = ctx().spawn(listener.accept());
  std::vector<std::unique_ptr<plain_client>> clients;
  clients.push_back(std::make_unique<plain_client>(listener.local()));
  EXPECT_TRUE(stopped.get().has_value());  // now the system has been asked for more
  for (int i = 0; i < 20; ++i) clients.push_back(std::make_unique<plain_client>(listener.local()));
  ctx().block_on([&]() -> task<void> {
    auto got = co_await listener.accept();
    EXPECT_TRUE(got.has_value());
  });
  listener.close();
  for (auto& each : clients) EXPECT_LE(each->read(), 0);  // the end, or a reset: nobody is left hanging
}

TEST_P(AcceptTest, OfMoreThanAListenerKeepsNoneIsLost) {
  constexpr int connections = 600;  // the accept is cancelled on the way, and begun again
  auto listener = listening();
  {
    auto first = ctx().spawn(listener.accept());
    const plain_client starts_it(listener.local());
    EXPECT_TRUE(first.get().has_value());
  }
  std::vector<std::unique_ptr<plain_client>> clients;
  for (int i = 0; i < connections; ++i) clients.push_back(std::make_unique<plain_client>(listener.local()));
  ctx().block_on([&]() -> task<void> {
    for (int i = 0; i < connections; ++i) {
      auto got = co_await timeout(10s, listener.accept());
      EXPECT_TRUE(got.has_value()) << "connection " << i << " is lost";
      if (!got) co_return;
    }
  });
}

TEST_P(AcceptTest, GoesOnElsewhereWhenItsWorkerLeaves) {
  auto listener = listening();
  for (int round = 0; round < 4; ++round) {
    std::atomic<std::size_t> where = 0;
    std::latch waiting(1);
    auto accepting = ctx().spawn([&]() -> task<bool> {
      where = *this_worker::id();
      waiting.count_down();
      co_return (co_await listener.accept()).has_value();
    });
    waiting.wait();
    ASSERT_TRUE(ctx().attach_worker().has_value());
    ASSERT_TRUE(ctx().detach_worker(where).has_value());
    const plain_client client(listener.local());
    EXPECT_TRUE(accepting.get());
  }
}

TEST_P(AcceptTest, ServesTasksOfTwoRuntimesAndOutlivesOne) {
  auto listener = listening();
  auto mine = ctx().spawn(listener.accept());
  {
    const plain_client client(listener.local());
    EXPECT_TRUE(mine.get().has_value());  // armed on a worker of this runtime
  }
  runtime_context other{{.workers = 1, .engine = GetParam()}};
  auto theirs = other.spawn(listener.accept());
  auto never = ctx().spawn(listener.accept());
  end_runtime();
  EXPECT_EQ(never.get().error(), std::errc::operation_canceled);
  const plain_client client(listener.local());
  EXPECT_TRUE(theirs.get().has_value());
}

TEST_P(AcceptTest, TheEndOfTheRuntimeClosesWhatWasAccepted) {
  auto listener = std::make_unique<tcp_listener>(listening());
  auto accepting = ctx().spawn(listener->accept());
  const plain_client client(listener->local());
  EXPECT_TRUE(accepting.get().has_value());
  const plain_client another(listener->local());
  end_runtime();
  listener.reset();
}

TEST_P(AcceptTest, AListenerMayGoWhileItsAcceptIsInTheEngine) {
  for (int round = 0; round < 50; ++round) {
    auto listener = std::make_unique<tcp_listener>(listening());
    auto accepting = ctx().spawn(listener->accept());
    listener.reset();
    const auto got = accepting.get();
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error(), std::errc::bad_file_descriptor);
  }
}

TEST_P(AcceptTest, WithoutFreeDescriptorsItWaitsInsteadOfSpinning) {
  if (!can_do_without_descriptors) GTEST_SKIP() << "the sanitizer needs free descriptors itself";
  auto listener = listening();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const plain_client client(listener.local());
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};  // below what is open: no number is free
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto ran_before = ctx().metrics().total();
  auto accepting = ctx().spawn(listener.accept());
  constexpr auto pause = 20ms;  // of accept()
  constexpr int pauses = 10;
  ctx().block_on([&]() -> task<void> { co_await sleep_for(pause * pauses); });
  EXPECT_FALSE(accepting.done());
  const auto ran_after = ctx().metrics().total();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  // A spin would be tens of thousands. Each try is a few tasks and looks.
  EXPECT_LT(ran_after.tasks_run - ran_before.tasks_run, 20U * pauses);
  EXPECT_LT(ran_after.polls - ran_before.polls, 100U * pauses);
  EXPECT_TRUE(accepting.get().has_value());
}

TEST_P(AcceptTest, UnixListenersToo) {
  auto listener = unix_listener::bind(*endpoint::unix_path("@faio-accept-" + std::to_string(::getpid())));
  ASSERT_TRUE(listener.has_value());
  const endpoint at = listener->local();
  for (int i = 0; i < 10; ++i) {
    auto accepting = ctx().spawn(listener->accept());
    const plain_client client(at);
    EXPECT_TRUE(accepting.get().has_value());
  }
  auto accepting = ctx().spawn(listener->accept());
  listener->close();
  EXPECT_EQ(accepting.get().error(), std::errc::bad_file_descriptor);
}

}  // namespace
}  // namespace faio::net
