// model -- a small program over a real type of ours, for the explorer; model_main.cpp runs the ones that a file lists.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <span>

#include "explorer/explorer.hpp"

namespace faio::explorer::models {

struct model {
  const char* name;
  std::function<void(run&)> body;
  /// How many loads of one execution may be stale: fewer where a long thread would multiply them beyond measure.
  unsigned stale_reads = unbounded;
};

/// Each *_model.cpp defines it.
std::span<const model> models();

/// The elements of a model are 1, 2, … up to 15; each must come out exactly once.
class ledger {
 public:
  void count(std::size_t element) {
    check(element > 0 && element < _seen.size(), "an element came out that was never put in");
    check(++_seen[element] == 1, "an element came out twice");
    ++_total;
  }
  void expect_all(std::size_t elements) const { check(_total == elements, "an element was lost"); }

 private:
  std::array<unsigned char, 16> _seen{};
  std::size_t _total = 0;
};

}  // namespace faio::explorer::models
