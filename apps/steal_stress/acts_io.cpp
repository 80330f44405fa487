// acts_io -- reads that wait in a worker's engine: for a byte, for a stop request, or for both at once.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <span>

#include "acts.hpp"
#include "faio/context/io.hpp"

namespace steal_stress {
namespace {

/// Empty when there are many already: workers that come need descriptors too.
class pipe_pair {
 public:
  explicit pipe_pair(garden& in) : _garden(in) {
    constexpr int most = 100;
    const bool room = in.pipes.fetch_add(1, std::memory_order_relaxed) < most;  // relaxed: a number
    if (!room || ::pipe2(_ends, O_CLOEXEC) != 0) _ends[0] = _ends[1] = -1;
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;
  ~pipe_pair() {
    if (*this) {
      ::close(_ends[0]);
      ::close(_ends[1]);
    }
    _garden.pipes.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a number
  }
  explicit operator bool() const noexcept { return _ends[0] >= 0; }
  [[nodiscard]] int reading() const noexcept { return _ends[0]; }
  [[nodiscard]] int writing() const noexcept { return _ends[1]; }

 private:
  garden& _garden;
  int _ends[2];
};

faio::task<faio::result<int>> reads(book& into, ticket mine, int from, std::byte& to) {
  mine.begin();
  const presence here(into, place::read);
  co_return co_await faio::context::io(
      [&](faio::ioengine::operation& op) { op.prepare_read(from, std::span(&to, 1)); });
}

}  // namespace

faio::task<void> reads_a_pipe(hand mine) {
  pipe_pair pipe(mine.in);
  if (!pipe) co_return;
  std::byte got{};
  auto handle = faio::spawn(reads(mine.into, ticket(mine.into, place::read), pipe.reading(), got));
  co_await hesitate(mine);
  const auto what = mine.random.below(3);
  constexpr std::byte sent{0x5A};
  if (what != 0 && ::write(pipe.writing(), &sent, 1) != 1) mine.into.fault("a pipe refused one byte");
  if (what != 1) handle.request_stop();
  const auto ended = co_await std::move(handle);
  if (ended) {
    if (what == 0) mine.into.fault("a read gave a byte that nobody wrote");
    if (*ended != 1 || got != sent) mine.into.fault("a read gave another byte than was written");
  } else if (what == 1 && co_await faio::sleep_for(std::chrono::seconds(1))) {
    // A stop request from above reaches the child and us one after the other: it would have ended this sleep.
    mine.into.fault("a read failed that nobody stopped: " + ended.error().message());
  } else if (ended.error() != std::errc::operation_canceled) {
    mine.into.fault("a read that was stopped gave another error: " + ended.error().message());
  }
}

}  // namespace steal_stress
