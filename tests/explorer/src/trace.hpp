// trace -- an execution as a short text: the options that shape its choices, then the choices.
//
//   p2.w1.c1.s-.l10000:0021        preemptions, spurious wakes, weak failures, stale reads (- is unbounded), max steps;
//                                  one digit (0-9a-z, larger numbers in brackets) for each choice, trailing zeros left
//                                  out
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/explore.hpp"

namespace faio::explorer {

struct trace {
  options how;
  std::vector<std::uint32_t> answers;
};

[[nodiscard]] std::string to_text(const trace& what);
[[nodiscard]] std::optional<trace> parse_trace(std::string_view text);

}  // namespace faio::explorer
