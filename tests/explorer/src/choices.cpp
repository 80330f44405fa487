// choices -- the source of every decision of an execution, and the order in which executions are tried.
#include "choices.hpp"

#include <utility>

namespace faio::explorer {

void choices::explore_all() {
  _mode = mode::exhaustive;
  _path.clear();
}

void choices::draw(std::uint64_t seed) {
  _mode = mode::random;
  _seed = seed;
}

void choices::replay(std::vector<std::uint32_t> answers) {
  _mode = mode::replay;
  _path.clear();
  for (const std::uint32_t answer : answers)
    _path.push_back({answer, 0, 0});  // 0: how many there were is not in a trace
}

void choices::begin(std::uint64_t number) {
  _depth = 0;
  _diverged = false;
  if (_mode != mode::random) return;
  _path.clear();
  // The number is mixed before it is added: neighbouring executions must not draw the same numbers one place apart.
  _state = number;
  _state = _seed + next_random();
  // Between a switch at every other step and one in sixteen: some mistakes need many switches, some long quiet
  // stretches.
  _boldness = 1 + static_cast<unsigned>(next_random() % 4);
}

bool choices::advance() {
  while (!_path.empty()) {
    step& last = _path.back();
    if (last.taken + 1 < last.count) {
      ++last.taken;
      return true;
    }
    _path.pop_back();
  }
  return false;
}

std::vector<std::uint32_t> choices::taken() const {
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < _depth; ++i) out.push_back(_path[i].taken);
  return out;
}

// splitmix64 (Vigna): every 64-bit seed is a good one, which a seed typed by hand needs.
std::uint64_t choices::next_random() {
  std::uint64_t z = (_state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::uint32_t choices::drawn(std::uint32_t count, choice what) {
  const std::uint64_t bits = next_random();
  const auto any = static_cast<std::uint32_t>((bits >> 32U) % count);
  switch (what) {
    case choice::next_thread:
    case choice::waiter:
      return any;  // somebody must be picked, and nobody is tamer than another
    case choice::preempt:
      return (bits & ((1U << _boldness) - 1U)) == 0 ? any : 0;
    case choice::stale_value:
      return (bits & 1U) == 0 ? any : 0;
    case choice::spurious:
      return (bits & 7U) == 0 ? any : 0;
  }
  std::unreachable();
}

}  // namespace faio::explorer
