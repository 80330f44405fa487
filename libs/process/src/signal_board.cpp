// signal_board -- the handler, and who comes and goes beside it.
#include "signal_board.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

namespace faio::process::detail {
namespace {

/// A handler that returns from one of these meets the same fault again, for ever.
constexpr signal_mask faults{SIGSEGV, SIGBUS, SIGFPE, SIGILL};

constexpr std::uint64_t bit(int number) noexcept { return std::uint64_t{1} << (number - 1); }

}  // namespace

signal_board& signal_board::get() {
  static auto* const one = new signal_board;  // NOLINT(cppcoreguidelines-owning-memory)
  return *one;
}

void signal_board::handle(int number) noexcept {
  const int saved = errno;
  signal_board& board = get();  // made before the handler was installed: no lock is taken here
  board._inside.fetch_add(1, std::memory_order_seq_cst);                                     // I2
  board._arrived[static_cast<std::size_t>(number)].fetch_add(1, std::memory_order_seq_cst);  // I1
  // acquire, pairs with sit_down(): the seat behind the pointer is complete.
  for (seat* each = board._seats.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    if ((each->wants.load(std::memory_order_seq_cst) & bit(number)) == 0) continue;  // I1, I2
    const std::uint64_t one = 1;
    // relaxed: written before `wants`. It cannot fail, short of 2^64 arrivals that nobody read.
    (void)!::write(each->event.load(std::memory_order_relaxed), &one, sizeof one);
  }
  board._inside.fetch_sub(1, std::memory_order_seq_cst);
  errno = saved;
}

result<void> signal_board::install(signal_mask which) {
  if (!which.valid() || which.bits() == 0 || (which.bits() & faults.bits()) != 0) {
    return std::unexpected(std::make_error_code(std::errc::invalid_argument));
  }
  const std::lock_guard lock(mutex);
  for (int number = 1; number <= signal_mask::highest; ++number) {
    if (!which.has(number) || (_installed & bit(number)) != 0) continue;
    struct sigaction action{};
    action.sa_handler = &handle;
    action.sa_flags = SA_RESTART | SA_ONSTACK;  // blocking calls of other threads go on, and small stacks are spared
    if (::sigaction(number, &action, &_before[static_cast<std::size_t>(number)]) != 0) {
      return std::unexpected(std::error_code(errno, std::system_category()));
    }
    _installed |= bit(number);
  }
  return {};
}

void signal_board::forget(signal_mask which) noexcept {
  const std::lock_guard lock(mutex);
  for (int number = 1; number <= signal_mask::highest; ++number) {
    if (!which.has(number) || (_installed & bit(number)) == 0) continue;
    const auto at = static_cast<std::size_t>(number);
    (void)::sigaction(number, &_before[at], nullptr);  // it was taken from there
    _installed &= ~bit(number);
    taken[at] = arrived(number);
  }
}

signal_board::seat& signal_board::sit_down(signal_mask which, int event) {
  const std::lock_guard lock(mutex);
  seat* mine = _seats.load(std::memory_order_relaxed);  // relaxed: changed under the mutex only
  while (mine != nullptr && !mine->free) mine = mine->next;
  if (mine == nullptr) {
    mine = new seat;  // NOLINT(cppcoreguidelines-owning-memory): I3
    mine->next = _seats.load(std::memory_order_relaxed);
    _seats.store(mine, std::memory_order_release);  // pairs with handle()
  }
  mine->free = false;
  mine->event.store(event, std::memory_order_relaxed);         // published by `wants`
  mine->wants.store(which.bits(), std::memory_order_seq_cst);  // I1
  return *mine;
}

void signal_board::stand_up(seat& from) noexcept {
  from.wants.store(0, std::memory_order_seq_cst);                                  // I2
  while (_inside.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();  // a handler takes microseconds
  const std::lock_guard lock(mutex);
  from.free = true;
}

}  // namespace faio::process::detail
