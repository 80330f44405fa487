// residence -- settling, moving, leaving.
#include "faio/net/residence.hpp"

#include <algorithm>

#include "faio/scheduler/shared_state.hpp"

namespace faio::net {
namespace {

bool may_live_on(const scheduler::worker& one) noexcept { return one.is_home() && !one.hosted(); }

}  // namespace

void residence::settle(scheduler::worker& home) noexcept {
  _neighbours = home.runtime().residents;
  _neighbours->add(home.station());
  _home.store(static_cast<std::uint32_t>(home.station()), std::memory_order_relaxed);  // relaxed: nobody else knows yet
}

void residence::leave() noexcept {
  const std::uint32_t home = _home.exchange(nowhere, std::memory_order_relaxed);  // relaxed: numbers
  if (home != nowhere) _neighbours->remove(home);
}

void residence::settle_near(scheduler::worker& here) noexcept {
  scheduler::worker* const home = may_live_on(here) ? &here : here.runtime().emptiest_home();
  if (home != nullptr) settle(*home);
}

scheduler::worker* residence::where() const noexcept {
  const std::uint32_t home = _home.load(std::memory_order_relaxed);  // relaxed: a choice
  scheduler::worker* const here = scheduler::current_worker();
  if (home == nowhere || here == nullptr || here->runtime().residents != _neighbours) return nullptr;
  return &here->runtime().io.station(home);
}

scheduler::worker* residence::move_or_stay(scheduler::worker& here, std::uint32_t home) noexcept {
  if (here.runtime().residents != _neighbours) return nullptr;  // a guest of another runtime
  scheduler::worker& there = here.runtime().io.station(home);
  const auto mine = static_cast<std::uint32_t>(here.station());
  const std::size_t at_home = _neighbours->count(home);
  // A part of 32: moves that follow each other through four workers add up to a tenth. With a part of 16 they were seen to reach a fifth.
  // But a few may go wherever they were stolen to: then one that computes for long ends up alone, and holds nobody up.
  constexpr std::size_t few = 8;
  const std::size_t slack = std::max(at_home / 32 + 1, few);
  const bool room_here = _neighbours->count(mine) < at_home + slack && may_live_on(here);
  if (!room_here && there.is_home() && !there.leaving()) return &there;
  scheduler::worker* const better = may_live_on(here) ? &here : here.runtime().emptiest_home();
  if (better == nullptr) return nullptr;
  const auto next = static_cast<std::uint32_t>(better->station());
  // relaxed: numbers. Its other half may move it at the same time: one of the two does.
  if (_home.compare_exchange_strong(home, next, std::memory_order_relaxed)) {
    _neighbours->remove(home);
    _neighbours->add(next);
  }
  return better == &here ? nullptr : better;
}

}  // namespace faio::net
