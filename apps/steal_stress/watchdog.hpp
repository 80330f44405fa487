// watchdog -- a thread that ends the program when something that should move has not moved for too long.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ledger.hpp"

namespace steal_stress {

class watchdog {
 public:
  /// `bark` gets what stands still, in words, and does not return.
  watchdog(clock::duration bound, std::function<void(const std::string&)> bark)
      : _bound(bound), _bark(std::move(bark)), _thread([this] { watch(); }) {}
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog();

  /// Any thread. `progress` must change now and then, until it gives `at_rest`.
  void add(std::string what, std::function<std::uint64_t()> progress);
  /// Any thread. It is not looked at any more when this returns.
  void remove(const std::string& what);
  static constexpr std::uint64_t at_rest = ~std::uint64_t{0};

 private:
  struct pulse {
    std::string what;
    std::function<std::uint64_t()> progress;
    std::uint64_t last;
    clock::time_point changed;
  };
  void watch();

  const clock::duration _bound;
  const std::function<void(const std::string&)> _bark;
  std::mutex _mutex;
  std::condition_variable _changed;
  std::vector<pulse> _pulses;
  bool _over = false;
  std::thread _thread;
};

}  // namespace steal_stress
