// residence -- which worker a connection lives on: whose engine its operations are given to, and so where its task goes on.
//
//   accepted ──> the worker with the fewest          connected ──> the worker that connected
//   an operation comes from a task that another worker has stolen:
//      that worker has fewer of them, or hardly more ──> the connection moves there
//      else ──> the operation is sent home, and its task with it
//   A host's worker is nobody's home: its thread may not come back.               SpreadTest.NothingLivesWithAHost
//   Nor is one that is no home any more (gathering.hpp): what lives there moves with its next operation.
//                                                                                 GatherTest.ConnectionsLiveOnTheWorkersThatAreHomes
//
// So a connection moves towards workers that have fewer, and never far the other way: among four workers the fullest stays within a
// fifth of the emptiest while all have something to do.                          SpreadTest.AThousandBusyConnectionsOnFourWorkers
// What the tasks do between two operations can be stolen as ever.
//
// Rejected: staying wherever the last thief was. Workers that are out of the processor for a moment lose what they have to those that are
// not, and nothing ever brings it back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "faio/net/export.hpp"
#include "faio/scheduler/residents.hpp"
#include "faio/scheduler/worker.hpp"

namespace faio::net {

class FAIO_NET_API residence {
 public:
  residence() = default;
  residence(const residence&) = delete;
  residence& operator=(const residence&) = delete;
  ~residence() { leave(); }

  /// Once, before others know of it. Without it: operations are done wherever they are asked for.
  void settle(scheduler::worker& home) noexcept;
  /// The same, on the worker that it is called on, unless that is a host's.
  void settle_near(scheduler::worker& here) noexcept;
  /// Whoever is the last.
  void leave() noexcept;
  /// Its worker, if that is one of the calling worker's runtime.
  [[nodiscard]] scheduler::worker* where() const noexcept;

  /// On the worker `here`: where else an operation belongs; null: here.
  [[nodiscard]] scheduler::worker* away_from(scheduler::worker& here) noexcept {
    const std::uint32_t home = _home.load(std::memory_order_relaxed);  // relaxed: a choice, it hands nothing over
    if ((home == here.station() && here.is_home()) || home == nowhere) [[likely]]
      return nullptr;
    return move_or_stay(here, home);
  }

  // ---- end of the public interface ----

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  scheduler::worker* move_or_stay(scheduler::worker& here, std::uint32_t home) noexcept;

  std::atomic<std::uint32_t> _home{nowhere};          // a station
  std::shared_ptr<scheduler::residents> _neighbours;  // of the runtime; says also which runtime that is
};

}  // namespace faio::net
