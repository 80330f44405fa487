// request -- what the server wants to know of an HTTP request: whether it is one, how it ends, and whether another may follow.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <string_view>

struct request {
  bool valid = false;
  bool keep_alive = false;
  bool head_only = false;
  std::size_t body = 0;  // bytes that follow
};

inline bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// "close" in "Upgrade, close".
inline bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (same_word(trimmed(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// One line of the head, "Name: value". False: it makes the request one that we do not take.
inline bool note_field(request& one, std::string_view line) {
  const auto colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const auto name = line.substr(0, colon);
  const auto value = trimmed(line.substr(colon + 1));
  if (same_word(name, "Connection")) {
    if (has_word(value, "close")) one.keep_alive = false;
    if (has_word(value, "keep-alive")) one.keep_alive = true;
  } else if (same_word(name, "Content-Length")) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), one.body);
    return error == std::errc() && end == value.data() + value.size();
  } else if (same_word(name, "Transfer-Encoding")) {
    return false;  // nobody sends a body of unknown length to hear hello
  }
  return true;
}

// `head` ends with the empty line. An invalid one is not kept alive: nobody knows where the next one would begin.
inline request parse_request(std::string_view head) {
  request one;
  const auto first = head.substr(0, head.find("\r\n"));
  const auto method = first.substr(0, first.find(' '));
  const auto version = first.substr(first.rfind(' ') + 1);
  if (method.empty() || first.find(' ') == first.rfind(' ') || !version.starts_with("HTTP/1.")) return {};
  one.keep_alive = version != "HTTP/1.0";
  one.head_only = method == "HEAD";
  for (auto rest = head.substr(first.size() + 2); !rest.starts_with("\r\n");) {
    const auto end = rest.find("\r\n");
    if (!note_field(one, rest.substr(0, end))) return {};
    rest.remove_prefix(end + 2);
  }
  one.valid = true;
  return one;
}
