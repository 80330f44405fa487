// picture -- counts cells and rows.
#include "picture.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

namespace tour {

terminal_size ask_terminal() {
  winsize said{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &said) != 0 || said.ws_row == 0 || said.ws_col == 0) return {};
  return {.rows = said.ws_row, .columns = said.ws_col};
}

std::string clipped(std::string_view line, std::size_t columns) {
  std::string kept;
  std::size_t cells = 0;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    if (line[at] == '\x1b') {  // up to its letter
      while (end < line.size() && std::isalpha(static_cast<unsigned char>(line[end])) == 0) ++end;
      end = std::min(end + 1, line.size());
    } else {  // with the bytes that continue it
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
      ++cells;
    }
    if (line[at] == '\x1b' || cells <= columns) kept += line.substr(at, end - at);
    at = end;
  }
  return kept;
}

std::vector<std::string> fitted(const picture& whole, terminal_size into) {
  const std::size_t room = std::max<std::size_t>(into.rows, 2) - 1;
  const auto fill = [&](bool with_empty_lines) {
    std::vector<std::string> lines;
    const auto add = [&](const std::string& line) {
      if (with_empty_lines || !line.empty()) lines.push_back(line);
    };
    std::ranges::for_each(whole.above, add);
    const std::size_t above = lines.size();
    std::ranges::for_each(whole.below, add);
    const std::size_t left = room - std::min(room, lines.size());
    std::size_t shown = whole.workers.size();
    if (shown > left) shown = left - std::min<std::size_t>(left, 1);
    std::vector<std::string> workers(whole.workers.begin(), whole.workers.begin() + static_cast<std::ptrdiff_t>(shown));
    if (shown < whole.workers.size() && left > 0) {
      workers.push_back("   ... and " + std::to_string(whole.workers.size() - shown) + " more");
    }
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(above), workers.begin(), workers.end());
    return lines;
  };
  const auto all = whole.above.size() + whole.workers.size() + whole.below.size();
  auto lines = fill(all <= room);
  if (lines.size() > room) lines.resize(room);
  for (auto& line : lines) line = clipped(line, into.columns);
  return lines;
}

}  // namespace tour
