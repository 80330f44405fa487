// cron_test -- jobs run at their times; Ctrl-C ends it in good order.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <faio/faio.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "../tests/descriptors.hpp"

// The thread sanitizer keeps a signal back from a thread that waits in the kernel: cron's main thread never hears of it.
#if defined(__SANITIZE_THREAD__)
#define FAIO_TEST_NO_SIGNALS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIO_TEST_NO_SIGNALS 1
#endif
#endif
#if defined(FAIO_TEST_NO_SIGNALS)
#define FAIO_NEEDS_SIGNALS() GTEST_SKIP() << "the thread sanitizer keeps signals back"
#else
#define FAIO_NEEDS_SIGNALS() static_cast<void>(0)
#endif

namespace {

using namespace std::chrono_literals;
namespace process = faio::process;

class Cron : public samples::LeavesNoDescriptor {
 protected:
  Cron() : _schedule(testing::TempDir() + "faio-crontab-" + std::to_string(::getpid())) {}
  ~Cron() override { std::filesystem::remove(_schedule); }

  /// With its output as a pipe.
  faio::task<process::child> started(std::string schedule) {
    std::ofstream(_schedule) << schedule;
    process::command cron(CRON, _schedule);
    cron.out = cron.err = process::stdio::pipe;
    auto made = co_await process::child::spawn(cron);
    if (!made) throw std::system_error(made.error());
    co_return std::move(*made);
  }
  std::string _schedule;
};

TEST_F(Cron, RunsJobsAtTheirTimesUntilItIsInterrupted) {
  FAIO_NEEDS_SIGNALS();
  faio::block_on([this]() -> faio::task<void> {
    auto cron = co_await started("# a comment\n\nevery 20ms echo tick\nevery 1h echo never\nat 23:59 true\n");
    const auto hello = co_await cron.out().read_until("\n");
    EXPECT_EQ(hello, "cron: 3 jobs; Ctrl-C ends it\n");
    const auto began = faio::clock::now();
    for (int i = 0; i < 3; ++i) {
      const auto line = co_await cron.out().read_until("\n");
      EXPECT_EQ(line, "tick\n");
    }
    EXPECT_GE(faio::clock::now() - began, 20ms) << "two periods lie between, one may have begun before";
    EXPECT_TRUE(cron.kill(SIGINT).has_value());
    const auto rest = co_await cron.out().read_all(100'000);
    EXPECT_NE(rest->find("cron: signal 2; waiting for what runs\n"), std::string::npos) << *rest;
    const auto status = co_await cron.wait();
    EXPECT_EQ(status, process::exit_status::exited(0));
  });
}

TEST_F(Cron, WaitsForWhatRuns) {
  FAIO_NEEDS_SIGNALS();
  const std::string gate = _schedule + "-gate";
  ASSERT_EQ(::mkfifo(gate.c_str(), 0600), 0);
  faio::block_on([&]() -> faio::task<void> {
    const auto opened = co_await faio::fs::file::open(gate, O_RDWR);
    auto cron = co_await started("every 10ms echo begun; read line <" + gate + "; echo ended; exit 3\n");
    (void)co_await cron.out().read_until("begun\n");
    EXPECT_TRUE(cron.kill(SIGTERM).has_value());
    const auto waits = co_await cron.out().read_until("\n");
    EXPECT_EQ(waits, "cron: signal 15; waiting for what runs\n");
    (void)co_await opened->write_at("now\n", 0);  // the job goes on
    const auto rest = co_await cron.out().read_all(100'000);
    EXPECT_EQ(rest, "ended\n");
    const auto complaints = co_await cron.err().read_all(100'000);
    EXPECT_NE(complaints->find("exit code 3"), std::string::npos) << *complaints;
    const auto status = co_await cron.wait();
    EXPECT_EQ(status, process::exit_status::exited(0));
  });
  std::filesystem::remove(gate);
}

TEST_F(Cron, LeavesNothingOpenBehindAJob) {
  FAIO_NEEDS_SIGNALS();
  faio::block_on([this]() -> faio::task<void> {
    auto cron = co_await started("every 5ms echo tick\n");
    const std::string its = std::to_string(cron.pid());
    (void)co_await cron.out().read_until("tick\n");
    // A job may be running, with its pidfd and what spawning it takes: there are more jobs than that, and each would leave one.
    const std::size_t after_one = samples::open_descriptors(its);
    for (int i = 0; i < 20; ++i) (void)co_await cron.out().read_until("tick\n");
    std::size_t now = samples::open_descriptors(its);
    for (int look = 0; look < 3000 && now > after_one; ++look) {  // between two jobs
      co_await faio::sleep_for(10ms);
      now = samples::open_descriptors(its);
    }
    EXPECT_LE(now, after_one) << "it leaves descriptors open";
    EXPECT_TRUE(cron.kill(SIGINT).has_value());
    (void)co_await cron.out().read_all(100'000);
    (void)co_await cron.wait();
  });
}

/// The name of a time zone in which it will be noon after so many seconds.
std::string zone_with_noon_in(std::chrono::seconds lead) {
  constexpr long day = 86'400;
  const long west = (std::time(nullptr) % day - day / 2 + lead.count() + day) % day;
  std::array<char, 32> zone{};
  std::snprintf(zone.data(), zone.size(), "FAI+%02ld:%02ld:%02ld", west / 3600, west / 60 % 60, west % 60);
  return zone.data();
}

TEST_F(Cron, RunsAJobAtItsTimeOfDay) {
  FAIO_NEEDS_SIGNALS();
  faio::block_on([&]() -> faio::task<void> {
    std::ofstream(_schedule) << "at 12:00 date +%H:%M:%S\n";
    // On a busy machine cron may begin after its noon, and would wait for the next: then with more time before it.
    bool has_run = false;
    for (auto lead = 1s; !has_run && lead < 100s; lead *= 4) {
      process::command cron(CRON, _schedule);
      cron.set_variable("TZ", zone_with_noon_in(lead));
      cron.out = process::stdio::pipe;
      auto made = co_await process::child::spawn(cron);
      (void)co_await made->out().read_until("\n");
      const auto when = co_await faio::timeout(lead + 2s, made->out().read_until("\n"));
      has_run = when.has_value();
      EXPECT_TRUE(!has_run || when->starts_with("12:00:")) << *when;
      EXPECT_TRUE(made->kill(SIGINT).has_value());
      const auto status = co_await made->wait();
      EXPECT_EQ(status, process::exit_status::exited(0));
    }
    EXPECT_TRUE(has_run);
  });
}

TEST_F(Cron, RefusesAScheduleThatItDoesNotUnderstand) {
  faio::block_on([this]() -> faio::task<void> {
    for (const std::string line :
         {"every 10 echo", "every 0s echo", "at 24:00 echo", "at 6 echo", "never 1s echo", "every 1s"}) {
      auto cron = co_await started("every 1h true\n" + line + "\n");
      const auto said = co_await cron.err().read_all(10'000);
      EXPECT_NE(said->find("cron: line 2: "), std::string::npos) << *said;
      const auto status = co_await cron.wait();
      EXPECT_EQ(status, process::exit_status::exited(2)) << line;
    }
  });
}

TEST_F(Cron, TellsThatThereIsNoSchedule) {
  const auto got = faio::block_on(process::output(process::command(CRON, "/no/such/schedule")));
  EXPECT_EQ(got->err, "cron: open /no/such/schedule: No such file or directory\n");
  EXPECT_EQ(got->status.code(), 2);
}

}  // namespace
