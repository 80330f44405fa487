// options -- what the command line asks for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

#include "faio/context/context.hpp"

namespace steal_stress {

/// Slower machinery gets more time before it counts as stuck.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int patience = 3;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr int patience = 3;
#else
inline constexpr int patience = 1;
#endif
#else
inline constexpr int patience = 1;
#endif

/// Seconds. The longest stall of a debug build on 2 processors that 30 others wanted too was 0.6 s.
inline constexpr int usual_stall_bound = 2 * patience;

struct options {
  std::chrono::duration<double> length{10};
  std::size_t workers = 4;
  std::size_t callers = 3;
  faio::engine_kind engine = faio::engine_kind::automatic;
  faio::discipline discipline = faio::discipline::fifo;
  std::uint64_t seed = 0;  ///< drawn from the machine unless it is given
  std::chrono::duration<double> stall_bound{usual_stall_bound};
  bool host = true;   ///< one more thread is a worker, by run()
  bool chaos = true;  ///< workers come and go
  bool help = false;
};

/// Or a sentence that says what is wrong.
std::expected<options, std::string> parse(int count, char** words);

std::string usage();

}  // namespace steal_stress
