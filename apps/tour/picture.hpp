// picture -- fits what the tour draws into the terminal: lines to its width, the list of workers to its height.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tour {

struct terminal_size {
  std::size_t rows = 24;
  std::size_t columns = 80;
  friend bool operator==(const terminal_size&, const terminal_size&) = default;
};

/// Of the terminal at stdout; 80 by 24 where it does not say.
[[nodiscard]] terminal_size ask_terminal();

/// The first `columns` cells of a line of UTF-8. Escape sequences take no cell, and stay: what switches a colour off is one.
[[nodiscard]] std::string clipped(std::string_view line, std::size_t columns);

/// What is drawn: the workers stand between two blocks.
struct picture {
  std::vector<std::string> above;
  std::vector<std::string> workers;
  std::vector<std::string> below;
};

/// The lines of it that fit, the last row of the terminal left to the cursor. Empty lines go first, then workers, which become "... and 12 more", then
/// whatever is lowest.
[[nodiscard]] std::vector<std::string> fitted(const picture& whole, terminal_size into);

}  // namespace tour
