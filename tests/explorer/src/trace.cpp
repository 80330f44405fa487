// trace -- an execution as a short text: the options that shape its choices, then the choices.
#include "trace.hpp"

#include <array>
#include <charconv>

namespace faio::explorer {
namespace {

struct field {
  char letter;
  unsigned options::* value;
};
constexpr std::array fields{field{'p', &options::preemptions}, field{'w', &options::spurious_wakes},
                            field{'c', &options::weak_failures}, field{'s', &options::stale_reads},
                            field{'l', &options::max_steps}};

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

bool take_number(std::string_view& text, unsigned& out) {
  if (take(text, '-')) {
    out = unbounded;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_answer(std::string_view& text, std::uint32_t& out) {
  const char digit = text.front();
  text.remove_prefix(1);
  if (digit >= '0' && digit <= '9') {
    out = static_cast<std::uint32_t>(digit - '0');
    return true;
  }
  if (digit >= 'a' && digit <= 'z') {
    out = static_cast<std::uint32_t>(digit - 'a' + 10);
    return true;
  }
  return digit == '(' && take_number(text, out) && take(text, ')');
}

}  // namespace

std::string to_text(const trace& what) {
  std::string out;
  for (const field& each : fields) {
    const unsigned value = what.how.*each.value;
    if (!out.empty()) out += '.';
    out += each.letter;
    out += value == unbounded ? "-" : std::to_string(value);
  }
  out += ':';
  std::size_t last = what.answers.size();
  while (last > 0 && what.answers[last - 1] == 0) --last;
  for (std::size_t i = 0; i < last; ++i) {
    const std::uint32_t answer = what.answers[i];
    if (answer < 10) {
      out += static_cast<char>('0' + answer);
    } else if (answer < 36) {
      out += static_cast<char>('a' + (answer - 10));
    } else {
      out += "(" + std::to_string(answer) + ")";
    }
  }
  return out;
}

std::optional<trace> parse_trace(std::string_view text) {
  trace out;
  bool first = true;
  for (const field& each : fields) {
    if (!first && !take(text, '.')) return std::nullopt;
    first = false;
    if (!take(text, each.letter) || !take_number(text, out.how.*each.value)) return std::nullopt;
  }
  if (!take(text, ':')) return std::nullopt;
  while (!text.empty()) {
    std::uint32_t answer = 0;
    if (!take_answer(text, answer)) return std::nullopt;
    out.answers.push_back(answer);
  }
  return out;
}

}  // namespace faio::explorer
