// signal -- waiting for what the board notes.
#include "faio/process/signal.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

#include "faio/context/io.hpp"
#include "signal_board.hpp"

namespace faio::process {
namespace {

using detail::signal_board;

/// A seat with its eventfd, which counts down by one for each read: two tasks that wait on it for two arrivals both go on.
class sitting {
 public:
  sitting(signal_mask which, int event) : _event(event), _seat(signal_board::get().sit_down(which, event)) {}
  sitting(const sitting&) = delete;
  sitting& operator=(const sitting&) = delete;
  ~sitting() {
    signal_board::get().stand_up(_seat);
    (void)::close(_event);
  }

  static result<int> make_event() {
    const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);  // nonblocking: for the handler
    if (event < 0) return std::unexpected(std::error_code(errno, std::system_category()));
    return event;
  }
  /// Something may have arrived.
  task<result<int>> woken() {
    std::array<std::byte, sizeof(std::uint64_t)> count{};
    co_return co_await context::io([this, &count](ioengine::operation& op) { op.prepare_read(_event, count); });
  }

 private:
  int _event;
  signal_board::seat& _seat;
};

/// The lowest of the signals with more arrivals than `given`; 0: none.
int first_above(const detail::signal_counts& given, signal_mask which) noexcept {
  for (int number = 1; number <= signal_mask::highest; ++number) {
    if (which.has(number) && signal_board::get().arrived(number) > given[static_cast<std::size_t>(number)]) {
      return number;
    }
  }
  return 0;
}

}  // namespace

class signal_set::state {
 public:
  state(signal_mask which, int event) : seat(which, event), _which(which) {
    for (int number = 1; number <= signal_mask::highest; ++number) {
      _given[static_cast<std::size_t>(number)] = signal_board::get().arrived(number);
    }
  }

  /// Any thread. 0: none.
  int take() {
    const std::lock_guard lock(_mutex);
    const int number = first_above(_given, _which);
    if (number != 0) ++_given[static_cast<std::size_t>(number)];
    return number;
  }

  sitting seat;

 private:
  const signal_mask _which;
  std::mutex _mutex;
  detail::signal_counts _given{};
};

result<signal_set> signal_set::listen(signal_mask which) {
  if (auto installed = signal_board::get().install(which); !installed) return std::unexpected(installed.error());
  auto event = sitting::make_event();
  if (!event) return std::unexpected(event.error());
  return signal_set(std::make_shared<state>(which, *event));
}

task<result<int>> signal_set::next() {
  const auto kept = _state;  // the set may be moved or destroyed meanwhile
  for (;;) {
    if (const int number = kept->take(); number != 0) co_return number;
    const auto woken = co_await kept->seat.woken();
    if (!woken) co_return std::unexpected(woken.error());
  }
}

task<result<int>> signal(signal_mask which) {
  signal_board& board = signal_board::get();
  if (auto installed = board.install(which); !installed) co_return std::unexpected(installed.error());
  const auto event = sitting::make_event();
  if (!event) co_return std::unexpected(event.error());
  sitting seat(which, *event);

  // One that was kept; or the next after `before` of each, for all who wait as we do.
  detail::signal_counts before;
  {
    const std::lock_guard lock(board.mutex);
    if (const int kept = first_above(board.taken, which); kept != 0) {
      ++board.taken[static_cast<std::size_t>(kept)];
      co_return kept;
    }
    before = board.taken;
  }
  for (;;) {
    const auto woken = co_await seat.woken();
    if (!woken) co_return std::unexpected(woken.error());
    const std::lock_guard lock(board.mutex);
    if (const int number = first_above(before, which); number != 0) {
      auto& taken = board.taken[static_cast<std::size_t>(number)];
      taken = std::max(taken, before[static_cast<std::size_t>(number)] + 1);
      co_return number;
    }
  }
}

void forget(signal_mask which) noexcept { signal_board::get().forget(which); }

}  // namespace faio::process
