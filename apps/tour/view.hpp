// view -- what the tour shows: live in a terminal, plain lines elsewhere, and a summary.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <faio/faio.hpp>
#include <string>
#include <vector>

#include "load.hpp"
#include "picture.hpp"

namespace tour {

class view {
 public:
  view(faio::runtime_context& of, const figures& notes, std::chrono::seconds length, bool live)
      : _runtime(of), _notes(notes), _length(length), _live(live) {}

  /// Shows the runtime until the time is over, or it is asked to stop.
  faio::task<void> run();
  /// What it was all together. True when it went well: requests were answered, and nothing failed.
  [[nodiscard]] bool summarise() const;

 private:
  struct moment {
    faio::clock::time_point at;
    faio::runtime_metrics runtime;
    histogram::counts requests;
    histogram::counts lateness;
    std::uint64_t calculations;
    std::uint64_t forks;
  };
  [[nodiscard]] moment look() const;
  void draw(const moment& before, const moment& now);
  void say(const moment& before, const moment& now) const;
  [[nodiscard]] std::string worker_line(const faio::worker_metrics& before, const faio::worker_metrics& now,
                                        double seconds, double busy) const;

  faio::runtime_context& _runtime;
  const figures& _notes;
  const std::chrono::seconds _length;
  const bool _live;
  faio::clock::time_point _began = faio::clock::now();
  moment _first = look();
  std::vector<double> _busy;    // of each worker, since the last picture
  std::deque<double> _history;  // requests a second
  terminal_size _terminal;      // at the last picture
  std::size_t _lines = 0;       // of the last picture
};

}  // namespace tour
