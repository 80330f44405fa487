// fresh_wait -- a wait that began since its worker last drove its engine, and that only this worker knows of.
//
//   begins ──> fresh ── its operation completes in the next drive ──> over: nobody else has ever heard of it
//                └───── that drive is over, or the worker is about to sleep ──> settle(): a stop request can reach it from now on
//
// Much of what is asked of the kernel is done when it is submitted: a send, a read of what is cached. To make such a wait known to whoever may stop it, to claim
// its end against them, and to take it back costs three locked instructions, a quarter of a cached read's way through the runtime. A stop request that comes
// while it is fresh is seen by settle(), after the next drive: what it would have cancelled is with the kernel only then.
//
// Thread roles: the worker's owner alone.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace faio::scheduler {

class fresh_wait {
 public:
  using settle_function = void (*)(fresh_wait&) noexcept;

  explicit fresh_wait(settle_function settle) noexcept : _settle(settle) {}
  fresh_wait(const fresh_wait&) = delete;
  fresh_wait& operator=(const fresh_wait&) = delete;

  [[nodiscard]] bool is_fresh() const noexcept { return _place != nullptr; }
  /// It is over, or belongs elsewhere.
  void forget() noexcept { *std::exchange(_place, nullptr) = nullptr; }

 protected:
  ~fresh_wait() = default;

 private:
  friend class fresh_waits;
  fresh_wait** _place = nullptr;
  settle_function _settle;
};

/// All of a worker's. An array: a list would write to the frames of others.
class fresh_waits {
 public:
  void add(fresh_wait& one) noexcept {
    if (_count == _all.size()) [[unlikely]]
      settle_all();
    one._place = &_all[_count++];
    *one._place = &one;
  }
  void settle_all() noexcept {
    for (std::size_t i = 0; i < _count; ++i) {
      fresh_wait* const one = _all[i];
      if (one == nullptr) continue;
      one->forget();
      one->_settle(*one);
    }
    _count = 0;
  }

 private:
  std::size_t _count = 0;
  std::array<fresh_wait*, 64> _all;  // as many as there are, or null
};

}  // namespace faio::scheduler
