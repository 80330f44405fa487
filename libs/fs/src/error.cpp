// error -- the sentence.
#include "faio/fs/error.hpp"

namespace faio::fs {

const std::string& error::path() const noexcept {
  static const std::string none;
  return _with == nullptr ? none : _with->path;
}

std::string error::message() const {
  std::string text = _doing;
  if (!path().empty()) {
    text += ' ';
    text += _with->path;
    if (!_with->second.empty()) {
      text += " to ";
      text += _with->second;
    }
  }
  if (!text.empty()) text += ": ";
  text += error_code::message();
  return text;
}

}  // namespace faio::fs
