// samples_test -- each sample as its user meets it: started, talked to, ended by Ctrl-C; with io_uring and without.
#include <fcntl.h>

#include <memory>
#include <string>
#include <vector>

#include "sample.hpp"

namespace samples {
namespace {

enum class machine { usual, without_uring };

class SampleTest : public testing::TestWithParam<machine> {
 protected:
  static std::vector<std::string> command(const char* path, std::vector<std::string> arguments) {
    std::vector<std::string> all;
    if (GetParam() == machine::without_uring) all.emplace_back(FAIO_WITHOUT_URING);
    all.emplace_back(path);
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  }
  static constexpr const char* anywhere = "127.0.0.1:0";
};
INSTANTIATE_TEST_SUITE_P(Machines, SampleTest, testing::Values(machine::usual, machine::without_uring),
                         [](const auto& each) {
                           return std::string(each.param == machine::usual ? "usual" : "without_uring");
                         });

// ---- echo

TEST_P(SampleTest, EchoSaysBackWhatItHears) {
  program echo(command(FAIO_SAMPLE_echo, {anywhere}));
  const std::size_t with_one = [&] {
    const client first(echo.port());
    first.say("first");
    EXPECT_EQ(first.hear(5), "first");
    return echo.open_descriptors();
  }();
  {
    std::vector<std::unique_ptr<client>> many;
    for (int i = 0; i < 50; ++i) many.push_back(std::make_unique<client>(echo.port()));
    for (auto& each : many) each->say("hello from one of fifty");
    for (auto& each : many) EXPECT_EQ(each->hear(23), "hello from one of fifty");
    many.front()->end();
    EXPECT_EQ(many.front()->hear_all(), "");
  }
  echo.expect_descriptors(with_one);
  EXPECT_EQ(echo.stop(), 0);
}

TEST_P(SampleTest, EchoLetsItsClientFinishAfterCtrlC) {
  if (!hears_signals) GTEST_SKIP() << "the thread sanitizer keeps signals back";
  program echo(command(FAIO_SAMPLE_echo, {anywhere}));
  const client one(echo.port());
  one.say("before");
  EXPECT_EQ(one.hear(6), "before");
  echo.signal(SIGINT);
  EXPECT_EQ(echo.hear_line(), "echo: stopping\n");
  one.say("after");
  EXPECT_EQ(one.hear(5), "after");
  one.end();
  EXPECT_EQ(one.hear_all(), "");
  EXPECT_EQ(echo.wait(), 0);
  EXPECT_FALSE(client(echo.port()).connected());
}

TEST_P(SampleTest, EchoSaysWhyItCannotListen) {
  program echo(command(FAIO_SAMPLE_echo, {anywhere}));
  const std::string again =
      (GetParam() == machine::without_uring ? std::string(FAIO_WITHOUT_URING) + " " : std::string()) +
      FAIO_SAMPLE_echo + " 127.0.0.1:" + echo.port_text() + " 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(again.c_str())), 1);
  EXPECT_EQ(WEXITSTATUS(std::system((std::string(FAIO_SAMPLE_echo) + " nowhere 2>/dev/null").c_str())), 2);
  EXPECT_EQ(echo.stop(), 0);
}

// ---- http_hello

constexpr std::string_view body = "Hello, world!\n";

/// The status line and fields of one answer, and its body taken off.
std::string hear_answer(const client& from, bool has_body = true) {
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    const std::string line = from.hear_line();
    if (line.empty()) break;
    head += line;
  }
  if (has_body && head.find("Content-Length: 14") != std::string::npos) {
    EXPECT_EQ(from.hear(body.size()), body);
  }
  return head;
}

TEST_P(SampleTest, HttpHelloKeepsTheConnectionUntilItIsToldNotTo) {
  program hello(command(FAIO_SAMPLE_http_hello, {anywhere}));
  const client one(hello.port());
  for (int i = 0; i < 3; ++i) {
    one.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    const auto head = hear_answer(one);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
    EXPECT_EQ(head.find("Connection: close"), std::string::npos);
  }
  const std::size_t with_one = hello.open_descriptors();
  one.say("GET / HTTP/1.1\r\nHost: x\r\ncOnNeCtIoN: CLOSE\r\n\r\n");
  EXPECT_NE(hear_answer(one).find("Connection: close"), std::string::npos);
  EXPECT_EQ(one.hear_all(), "");
  for (int i = 0; i < 3; ++i) {
    const client old(hello.port());
    old.say("GET / HTTP/1.0\r\n\r\n");
    EXPECT_NE(hear_answer(old).find("Connection: close"), std::string::npos);
    EXPECT_EQ(old.hear_all(), "");
  }
  hello.expect_descriptors(with_one);
  EXPECT_EQ(hello.stop(), 0);
}

TEST_P(SampleTest, HttpHelloAnswersRequestsThatDoNotWaitForEachOther) {
  program hello(command(FAIO_SAMPLE_http_hello, {anywhere}));
  const client one(hello.port());
  std::string many;
  constexpr int requests = 500;
  for (int i = 0; i < requests; ++i) {
    many += "POST /some/where HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /";  // the body looks like a request
  }
  // In pieces that end anywhere.
  for (std::size_t at = 0; at < many.size(); at += 1013) one.say(std::string_view(many).substr(at, 1013));
  for (int i = 0; i < requests; ++i) ASSERT_TRUE(hear_answer(one).starts_with("HTTP/1.1 200 OK\r\n")) << i;
  one.say("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(hear_answer(one, false).starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(hear_answer(one).starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(one.hear_all(), "");
  EXPECT_EQ(hello.stop(), 0);
}

TEST_P(SampleTest, HttpHelloTurnsAwayWhatIsNoRequest) {
  program hello(command(FAIO_SAMPLE_http_hello, {anywhere}));
  const std::string endless(20'000, 'x');
  const std::vector<std::pair<std::string, std::string>> cases{
      {"nonsense\r\n\r\n", "400"},
      {"GET / HTTP/2.0\r\n\r\n", "400"},
      {"GET /\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nno colon\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nContent-Length: 5x\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nX: " + endless, "431"},
  };
  std::size_t with_one = 0;
  for (const auto& [said, status] : cases) {
    const client one(hello.port());
    one.say(said);
    const auto head = hear_answer(one);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 " + status)) << said.substr(0, 40) << " -> " << head;
    if (with_one == 0) with_one = hello.open_descriptors();
  }
  hello.expect_descriptors(with_one);
  EXPECT_EQ(hello.stop(), 0);
}

// ---- proxy

TEST_P(SampleTest, ProxyHandsOnBothWaysAndPassesEndsOn) {
  program echo(command(FAIO_SAMPLE_echo, {anywhere}));
  program proxy(command(FAIO_SAMPLE_proxy, {anywhere, "127.0.0.1", echo.port_text()}));
  std::size_t with_one = 0;
  for (int i = 0; i < 5; ++i) {
    const client one(proxy.port());
    one.say("through and back");
    EXPECT_EQ(one.hear(16), "through and back");
    if (i == 0) with_one = proxy.open_descriptors();
    one.end();
    EXPECT_EQ(one.hear_all(), "");
  }
  proxy.expect_descriptors(with_one);
  EXPECT_EQ(proxy.stop(), 0);
  EXPECT_EQ(echo.stop(), 0);
}

TEST_P(SampleTest, ProxyKeepsItsLimits) {
  program echo(command(FAIO_SAMPLE_echo, {anywhere}));
  program proxy(
      command(FAIO_SAMPLE_proxy, {anywhere, "127.0.0.1", echo.port_text(), "--most", "2", "--idle-limit", "1"}));
  const client first(proxy.port());
  first.say("1");
  EXPECT_EQ(first.hear(1), "1");
  const std::size_t with_one = proxy.open_descriptors();
  const client second(proxy.port());
  second.say("2");
  EXPECT_EQ(second.hear(1), "2");
  const client third(proxy.port());
  EXPECT_EQ(third.hear_all(), "");  // turned away
  EXPECT_EQ(first.hear_all(), "");  // silent for too long
  EXPECT_EQ(second.hear_all(), "");
  proxy.expect_descriptors(with_one);  // though none of them has closed its end
  EXPECT_EQ(proxy.stop(), 0);
  EXPECT_EQ(echo.stop(), 0);
}

TEST_P(SampleTest, ProxyOfAServerThatIsNotThereEndsTheClient) {
  std::string gone;
  {
    program echo(command(FAIO_SAMPLE_echo, {anywhere}));
    gone = echo.port_text();
    EXPECT_EQ(echo.stop(), 0);
  }
  program proxy(command(FAIO_SAMPLE_proxy, {anywhere, "127.0.0.1", gone}));
  std::size_t after_one = 0;
  for (int i = 0; i < 5; ++i) {
    const client one(proxy.port());
    EXPECT_EQ(one.hear_all(), "");
    if (i == 0) after_one = proxy.open_descriptors();
  }
  proxy.expect_descriptors(after_one);
  EXPECT_EQ(proxy.stop(), 0);
}

// ---- chat

TEST_P(SampleTest, ChatTellsEverybodyWhatOneSays) {
  program chat(command(FAIO_SAMPLE_chat, {anywhere}));
  const client ann(chat.port());
  EXPECT_EQ(ann.hear_line(), "* what is your name?\n");
  ann.say("ann\n");
  EXPECT_EQ(ann.hear_line(), "* ann is here\n");
  const std::size_t with_ann = chat.open_descriptors();
  for (int visit = 0; visit < 3; ++visit) {
    {
      const client bob(chat.port());
      EXPECT_EQ(bob.hear_line(), "* what is your name?\n");
      bob.say("bob\r\n");
      EXPECT_EQ(bob.hear_line(), "* bob is here\n");
      EXPECT_EQ(ann.hear_line(), "* bob is here\n");
      ann.say("good morning\n");
      EXPECT_EQ(ann.hear_line(), "ann: good morning\n");
      EXPECT_EQ(bob.hear_line(), "ann: good morning\n");
      bob.say("one\ntwo\n");
      EXPECT_EQ(ann.hear_line(), "bob: one\n");
      EXPECT_EQ(ann.hear_line(), "bob: two\n");
    }
    EXPECT_EQ(ann.hear_line(), "* bob has left\n");
  }
  chat.expect_descriptors(with_ann);
  if (!hears_signals) {
    EXPECT_EQ(chat.stop(), 0);
    return;
  }
  chat.signal(SIGTERM);
  EXPECT_EQ(ann.hear_line(), "* the room closes\n");
  EXPECT_EQ(chat.wait(), 0);
}

// ---- hosted_loop

TEST_P(SampleTest, HostedLoopShowsWhatTheOtherWorkersServe) {
  program window(command(FAIO_SAMPLE_hosted_loop, {anywhere}));
  const auto wait_until_shown = [&](const std::string& wanted) {
    std::string line;
    do line = window.hear_line();
    while (!line.empty() && line != wanted);
    EXPECT_EQ(line, wanted);
  };
  std::size_t with_one = 0;
  {
    const client one(window.port());
    one.say("first\nsecond\n");
    wait_until_shown("guests 1, lines 2\n");
    with_one = window.open_descriptors();
    const client two(window.port());
    two.say("third\n");
    wait_until_shown("guests 2, lines 3\n");
  }
  wait_until_shown("guests 0, lines 3\n");
  window.expect_descriptors(with_one);
  if (!hears_signals) {
    EXPECT_EQ(window.stop(), 0);
    return;
  }
  window.signal(SIGINT);
  wait_until_shown("hosted_loop: closed\n");
  EXPECT_EQ(window.wait(), 0);
}

}  // namespace
}  // namespace samples
