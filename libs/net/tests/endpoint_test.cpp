// endpoint_test -- addresses read and printed.
#include "faio/net/endpoint.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

namespace faio::net {
namespace {

TEST(Endpoint, PrintsWhatItReads) {
  for (const char* text : {"127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:443", "[2001:db8::7]:8080",
                           "unix:/run/faio.sock", "unix:@abstract"}) {
    const auto read = endpoint::parse(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(read->to_string(), text);
    EXPECT_EQ(*endpoint::parse(read->to_string()), *read);
  }
}

TEST(Endpoint, RefusesWhatIsNoAddress) {
  const std::string too_long = "unix:/" + std::string(200, 'x');
  for (const std::string& text :
       {std::string(), std::string("127.0.0.1"), std::string("127.0.0.1:"), std::string("1.2.3:4"),
        std::string("localhost:80"), std::string("127.0.0.1:65536"), std::string("[::1]"), std::string("[::g]:1"),
        std::string("::1:80"), std::string("127.0.0.1:8x"), std::string("unix:"), too_long}) {
    const auto read = endpoint::parse(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error(), make_error_code(errc::bad_address)) << text;
  }
}

TEST(Endpoint, KnowsItsParts) {
  EXPECT_EQ(endpoint::loopback(7).port(), 7);
  EXPECT_EQ(endpoint::loopback(7).family(), AF_INET);
  EXPECT_EQ(endpoint::loopback6(8).to_string(), "[::1]:8");
  EXPECT_EQ(endpoint::any(0).to_string(), "0.0.0.0:0");
  EXPECT_EQ(endpoint::unix_path("/x")->port(), 0);
  EXPECT_EQ(endpoint().family(), AF_UNSPEC);
}

TEST(Endpoint, IsHashedByItsValue) {
  std::unordered_set<endpoint> seen{endpoint::loopback(1), endpoint::loopback(2), endpoint::loopback(1)};
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_TRUE(seen.contains(*endpoint::parse("127.0.0.1:2")));
}

}  // namespace
}  // namespace faio::net
