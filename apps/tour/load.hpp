// load -- what the tour has the runtime do: a web server and its clients, bursts that fork and join, calculations, ten thousand timers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <faio/faio.hpp>

#include "histogram.hpp"

namespace tour {

constexpr std::size_t connections = 64;
constexpr std::size_t timers = 10'000;

/// Written by the load, read by the view.
struct figures {
  histogram requests;  // from asking to having the whole answer
  histogram lateness;  // of timers
  std::atomic<std::uint64_t> calculations{0};
  std::atomic<std::uint64_t> forks{0};      // tasks of the bursts
  std::atomic<std::uint64_t> connected{0};  // connections that were made
  std::atomic<std::uint64_t> failures{0};   // of connections, made or broken; none is expected
};

/// Goes on until it is asked to stop, and ends in good order.
faio::task<void> run_load(figures& notes);

}  // namespace tour
