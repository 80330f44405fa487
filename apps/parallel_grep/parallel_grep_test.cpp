// parallel_grep_test -- it finds what grep finds, and ends with grep's codes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <faio/faio.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "../tests/descriptors.hpp"

namespace {

namespace process = faio::process;
using std::filesystem::path;

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

class ParallelGrep : public samples::LeavesNoDescriptor {
 protected:
  ParallelGrep() {
    std::string name = testing::TempDir() + "faio-grep-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::system_category(), name);
    _folder = name;
    for (int folder = 0; folder < 20; ++folder) {
      const path below = _folder / std::to_string(folder) / "deeper";
      std::filesystem::create_directories(below);
      for (int file = 0; file < 20; ++file) {
        std::ofstream out(below / std::to_string(file));
        for (int line = 0; line < 50; ++line) {
          out << ((folder + file + line) % 17 == 0 ? "a needle, and a needle" : "hay") << ' ' << line << '\n';
        }
        out << (file % 3 == 0 ? "needle at the end, without a newline" : "hay");
      }
    }
    std::ofstream(_folder / "empty");
  }
  ParallelGrep(const ParallelGrep&) = delete;
  ParallelGrep& operator=(const ParallelGrep&) = delete;
  ~ParallelGrep() override { std::filesystem::remove_all(_folder); }

  static process::collected run(std::string program, const std::vector<std::string>& arguments) {
    auto got = faio::block_on(process::output(process::command(std::move(program), arguments)));
    if (!got) throw std::system_error(got.error());
    return *got;
  }
  path _folder;
};

TEST_F(ParallelGrep, FindsTheLinesThatGrepFinds) {
  const auto ours = run(PARALLEL_GREP, {"needle", _folder});
  const auto theirs = run("grep", {"-rnF", "needle", _folder});
  EXPECT_EQ(ours.status.code(), 0);
  EXPECT_GT(sorted_lines(theirs.out).size(), 1000U);
  EXPECT_EQ(sorted_lines(ours.out), sorted_lines(theirs.out));
  EXPECT_EQ(ours.err, "") << "no progress bar where there is no terminal";
}

TEST_F(ParallelGrep, LeavesNoFileOpenThatItHasSearched) {
  // Enough for 16 files at once, the folder and the engines of the workers; on a machine of usual size far fewer than there are files.
  const auto most = std::to_string(64 + 8 * std::thread::hardware_concurrency());
  const auto ours = run("sh", {"-c", R"(ulimit -n "$0" && exec "$@")", most, PARALLEL_GREP, "needle", _folder});
  EXPECT_EQ(ours.status.code(), 0);
  EXPECT_EQ(ours.err, "");
  EXPECT_GT(sorted_lines(ours.out).size(), 1000U);
}

TEST_F(ParallelGrep, FindsNothing) {
  const auto ours = run(PARALLEL_GREP, {"no such text", _folder});
  EXPECT_EQ(ours.status.code(), 1);
  EXPECT_EQ(ours.out, "");
}

TEST_F(ParallelGrep, TakesFilesAndTellsWhatItCannotRead) {
  const path file = _folder / "3" / "deeper" / "3";
  const auto ours = run(PARALLEL_GREP, {"needle", file, _folder / "missing"});
  EXPECT_EQ(ours.status.code(), 2);
  EXPECT_EQ(sorted_lines(ours.out), sorted_lines(run("grep", {"-nHF", "needle", file}).out));
  EXPECT_NE(ours.err.find((_folder / "missing").string() + ": No such file or directory"), std::string::npos);
}

TEST_F(ParallelGrep, DoesNotPrintBinaryFiles) {
  std::ofstream(_folder / "binary") << std::string("needle\0\n", 8);
  const auto ours = run(PARALLEL_GREP, {"needle", _folder / "binary"});
  EXPECT_EQ(ours.out, (_folder / "binary").string() + ": binary file matches\n");
}

TEST_F(ParallelGrep, SaysHowItIsUsed) {
  EXPECT_EQ(run(PARALLEL_GREP, {"needle"}).status.code(), 2);
  EXPECT_EQ(run(PARALLEL_GREP, {"", _folder}).status.code(), 2);
}

TEST_F(ParallelGrep, ShowsItsProgressOnATerminal) {
  if (::access("/usr/bin/script", X_OK) != 0) GTEST_SKIP() << "no script(1) here, which gives a program a terminal";
  // A pipe that we have not written to yet: the search takes as long as we want it to.
  const path fifo = _folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  faio::block_on([&]() -> faio::task<void> {
    auto opened = co_await faio::fs::file::open(fifo, O_RDWR);
    process::command in_a_terminal("script", "-qec", std::string(PARALLEL_GREP) + " needle " + fifo.string(),
                                   "/dev/null");
    in_a_terminal.in = in_a_terminal.out = process::stdio::pipe;
    auto shows = co_await process::child::spawn(in_a_terminal);
    const auto bar = co_await shows->out().read_until("0 of 1 files");
    EXPECT_TRUE(bar.has_value());
    (void)co_await opened->write_at("a needle\n", 0);
    (void)co_await opened->close();
    const auto rest = co_await shows->out().read_all(10'000);
    EXPECT_NE(rest->find("a needle"), std::string::npos) << *rest;
  });
}

}  // namespace
