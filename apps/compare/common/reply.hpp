// reply -- what every responder answers to each request: 52 bytes, as constant as the request is.
//
// A request ends with an empty line; wrk and load/one_computes send one at a time on each connection, so the bytes of a read that
// end so are one whole request. One whose path begins with /c asks for a millisecond of computing first.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace compare {

constexpr std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";
static_assert(reply.size() == 52);
constexpr std::size_t request_room = 4096;

inline bool ends_request(std::string_view bytes) { return bytes.ends_with("\r\n\r\n"); }
inline bool asks_to_compute(std::string_view bytes) { return bytes.starts_with("GET /c"); }

/// A millisecond of a processor, by the clock.
inline void compute_for_a_millisecond() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  volatile std::uint64_t work = 0;
  while (std::chrono::steady_clock::now() < until)
    for (int i = 0; i < 1000; ++i) work = work + 1;
}

}  // namespace compare
