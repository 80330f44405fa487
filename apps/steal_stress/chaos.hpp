// chaos -- a thread that attaches and detaches workers all the time while the others run.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "dice.hpp"
#include "tree.hpp"

namespace steal_stress {

class chaos {
 public:
  chaos(garden& in, faults& to, std::uint64_t seed, std::size_t workers);
  chaos(const chaos&) = delete;
  chaos& operator=(const chaos&) = delete;
  ~chaos() { end(); }

  void end();
  /// Moves with every step it takes.
  [[nodiscard]] std::uint64_t progress() const noexcept { return _steps.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t attached() const noexcept { return _attached.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t detached() const noexcept { return _detached.load(std::memory_order_relaxed); }

 private:
  void work();
  void step();
  void attach(faio::worker_kind kind);
  void detach(std::size_t id);

  garden& _garden;
  faults& _faults;
  dice _random;
  const std::size_t _most;
  std::mutex _mutex;
  std::condition_variable _over_changed;
  bool _over = false;
  std::atomic<std::uint64_t> _steps{0}, _attached{0}, _detached{0};
  std::thread _thread;
};

}  // namespace steal_stress
