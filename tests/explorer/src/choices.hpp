// choices -- the source of every decision of an execution, and the order in which executions are tried.
//
// An execution asks choose(n) wherever it could go n ways; the answers are the whole of its freedom. The list of
// answers, the path, is therefore a complete description of it.
//
//   exhaustive  path  [0 of 2] [2 of 3] [0 of 2]      next: the last entry that can still grow does,
//                                                     what comes after it is cut off
//   random      draws, and writes the path down all the same
//   replay      reads the path from a trace, then answers 0
//
// Answer 0 is always the tame one (go on with the same thread, read the newest value, nothing spurious), so the first
// execution is the plain sequential one and short traces are simple.
#pragma once

#include <cstdint>
#include <vector>

namespace faio::explorer {

enum class choice : std::uint8_t { next_thread, preempt, stale_value, spurious, waiter };

class choices {
 public:
  enum class mode : std::uint8_t { exhaustive, random, replay };
  struct step {
    std::uint32_t taken;
    std::uint32_t count;
    std::uint64_t place;  // where in the execution it was asked
  };

  void explore_all();
  void draw(std::uint64_t seed);
  void replay(std::vector<std::uint32_t> answers);

  /// Before each execution. `number` counts them from 0; with the seed it fixes what is drawn.
  void begin(std::uint64_t number);

  /// One of 0 .. count-1. A choice among 1 is none and leaves no mark on the path. `place` is anything that must be the
  /// same when this choice is met again.
  [[nodiscard]] std::uint32_t choose(std::uint32_t count, choice what, std::uint64_t place) {
    if (count <= 1) return 0;
    if (_depth < _path.size()) {
      step& known = _path[_depth];
      if (known.count == 0 && known.taken < count) known = {known.taken, count, place};  // from a trace: first met now
      if (known.count != count || known.place != place) {
        _diverged = true;
        return 0;
      }
      ++_depth;
      return known.taken;
    }
    const std::uint32_t taken = _mode == mode::random ? drawn(count, what) : 0;
    _path.push_back({taken, count, place});
    ++_depth;
    return taken;
  }

  /// True when the path asked for something that the body did not offer: the body is not deterministic, or the trace
  /// belongs to another one. The caller of choose() looks after each answer.
  [[nodiscard]] bool diverged() const noexcept { return _diverged; }
  /// True when an execution has ended before it came to the end of its path: the same, seen from the other side.
  [[nodiscard]] bool fell_short() const noexcept { return _depth < _path.size(); }

  /// Exhaustive: moves on to the next path; false when there is none.
  [[nodiscard]] bool advance();

  [[nodiscard]] std::vector<std::uint32_t> taken() const;

 private:
  std::uint32_t drawn(std::uint32_t count, choice what);
  std::uint64_t next_random();

  mode _mode = mode::exhaustive;
  std::vector<step> _path;
  std::size_t _depth = 0;
  bool _diverged = false;
  std::uint64_t _seed = 0;
  std::uint64_t _state = 0;
  unsigned _boldness = 0;  // random: how seldom the tame answer is given, drawn for each execution
};

}  // namespace faio::explorer
