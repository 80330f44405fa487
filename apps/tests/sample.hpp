// sample -- a sample that runs as a program of its own, and a client that talks to it. Plain system calls: the samples are judged by what
// others see of them.
#pragma once

#include <arpa/inet.h>
#include <dirent.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define FAIO_TEST_SIGNALS_ARE_KEPT_BACK 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIO_TEST_SIGNALS_ARE_KEPT_BACK 1
#endif
#endif

namespace samples {

/// The thread sanitizer keeps a signal back from a thread that waits in the kernel, so Ctrl-C never arrives: the samples are killed there, after
/// the talk, and end at once at the first race, in the middle of it.
#if defined(FAIO_TEST_SIGNALS_ARE_KEPT_BACK)
inline constexpr bool hears_signals = false;
#else
inline constexpr bool hears_signals = true;
#endif

/// Nobody waits longer than this for an answer; reached only by a sample that hangs.
constexpr timeval patience{.tv_sec = 30, .tv_usec = 0};

class client {
 public:
  explicit client(std::uint16_t port) : _fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    _connected = ::connect(_fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    ::setsockopt(_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { ::close(_fd); }

  [[nodiscard]] bool connected() const noexcept { return _connected; }
  void say(std::string_view text) const {
    EXPECT_EQ(::send(_fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  void end() const { ::shutdown(_fd, SHUT_WR); }
  /// So many bytes, or fewer if the end comes first.
  std::string hear(std::size_t count) const {
    std::string all(count, '\0');
    std::size_t got = 0;
    while (got < count) {
      const ssize_t more = ::recv(_fd, all.data() + got, count - got, 0);
      if (more <= 0) break;
      got += static_cast<std::size_t>(more);
    }
    all.resize(got);
    return all;
  }
  std::string hear_line() const {
    std::string line;
    while (!line.ends_with('\n')) {
      const std::string one = hear(1);
      if (one.empty()) break;
      line += one;
    }
    return line;
  }
  std::string hear_all() const { return hear(1 << 20); }

 private:
  int _fd;
  bool _connected;
};

/// A program whose first line ends with the port that it listens on.
class program {
 public:
  explicit program(std::vector<std::string> command) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    _process = ::fork();
    if (_process == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      if (!hears_signals) ::setenv("TSAN_OPTIONS", "halt_on_error=1", 1);
      std::vector<char*> arguments;
      for (auto& each : command) arguments.push_back(each.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    _output = ends[0];
    const std::string first = hear_line();
    const auto colon = first.rfind(':');
    if (colon != std::string::npos) _port = static_cast<std::uint16_t>(std::atoi(first.c_str() + colon + 1));
    EXPECT_NE(_port, 0) << "it said: " << first;
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program() {
    if (_process > 0) {
      ::kill(_process, SIGKILL);
      ::waitpid(_process, nullptr, 0);
      ADD_FAILURE() << "it was not ended";
    }
    ::close(_output);
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return _port; }
  [[nodiscard]] std::string port_text() const { return std::to_string(_port); }
  std::string hear_line() const {
    std::string line;
    char one = 0;
    while (!line.ends_with('\n') && ::read(_output, &one, 1) == 1) line += one;
    return line;
  }
  void signal(int number) const { ::kill(_process, number); }
  /// The exit code; -1: a signal ended it.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(_process, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int stop() {
    if (hears_signals) {
      signal(SIGINT);
      return wait();
    }
    signal(SIGKILL);
    return wait() == -1 ? 0 : 1;  // it was still there to be killed
  }
  [[nodiscard]] std::size_t open_descriptors() const {
    std::size_t count = 0;
    DIR* const folder = ::opendir(("/proc/" + std::to_string(_process) + "/fd").c_str());
    while (::readdir(folder) != nullptr) ++count;
    ::closedir(folder);
    return count;
  }
  /// Waits until it has no more than it had with its first client, for as long as the test may take. Not than it had before that: when it tells its port it
  /// may have one open that it needs to begin, and not yet all that it serves with. So several clients, each of whom would leave one.
  void expect_descriptors(std::size_t with_one) const {
    for (int look = 0; look < 3000 && open_descriptors() > with_one; ++look) ::usleep(10'000);
    EXPECT_LE(open_descriptors(), with_one) << "it leaves descriptors open";
  }

 private:
  pid_t _process = 0;
  int _output = -1;
  std::uint16_t _port = 0;
};

}  // namespace samples
