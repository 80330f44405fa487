// acts_io -- reads that wait in a worker's engine: for a byte, for a stop request, or for both at once; and streams that receive ahead.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "acts.hpp"
#include "faio/context/io.hpp"
#include "faio/net/tcp.hpp"

namespace steal_stress {
namespace {

/// A pipe, or what else has two ends. Empty when there are many already: workers that come need descriptors too.
class two_ends {
 public:
  two_ends(garden& in, int (*make)(int* ends)) : _garden(in) {
    constexpr int most = 100;
    const bool room = in.pipes.fetch_add(1, std::memory_order_relaxed) < most;  // relaxed: a number
    if (!room || make(_ends.data()) != 0) _ends = {-1, -1};
  }
  two_ends(const two_ends&) = delete;
  two_ends& operator=(const two_ends&) = delete;
  ~two_ends() {
    for (const int each : _ends) {
      if (each >= 0) ::close(each);
    }
    _garden.pipes.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a number
  }
  explicit operator bool() const noexcept { return _ends[0] >= 0; }
  [[nodiscard]] int reading() const noexcept { return _ends[0]; }
  [[nodiscard]] int writing() const noexcept { return _ends[1]; }
  /// The number is a stream's from now on.
  [[nodiscard]] faio::net::tcp_stream take(std::size_t which) {
    return faio::net::tcp_stream(std::make_shared<faio::net::descriptor>(std::exchange(_ends[which], -1)));
  }

 private:
  garden& _garden;
  std::array<int, 2> _ends{};
};

int make_pipe(int* ends) { return ::pipe2(ends, O_CLOEXEC); }
int make_sockets(int* ends) { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); }

faio::task<faio::result<int>> reads(book& into, ticket mine, int from, std::byte& to) {
  mine.begin();
  const presence here(into, place::read);
  co_return co_await faio::context::io(
      [&](faio::ioengine::operation& op) { op.prepare_read(from, std::span(&to, 1)); });
}

std::byte numbered(std::size_t place) { return static_cast<std::byte>(place * 7 & 0xff); }

/// Until it is stopped, or the stream ends. Gives how many bytes have come by then.
faio::task<std::size_t> listens(book& into, ticket mine, faio::net::tcp_stream& to, std::size_t have) {
  mine.begin();
  const presence here(into, place::talk);
  for (;;) {
    std::array<std::byte, 3> few{};
    const auto got = co_await to.read_some(few);
    if (!got || *got == 0) co_return have;
    for (const std::byte each : std::span(few).first(*got)) {
      if (each != numbered(have++)) into.fault("a stream gave another byte than was written");
    }
  }
}

}  // namespace

/// What one reader that is stopped has not taken, the next one gets.
faio::task<void> talks(hand mine) {
  two_ends sockets(mine.in, &make_sockets);
  if (!sockets) co_return;
  auto from = sockets.take(0);
  auto to = sockets.take(1);
  from.receive_ahead();
  dice random(mine.random.roll());  // its own: how far it gets may depend on a stop request from above
  const hand own{mine.in, mine.into, random, mine.levels};
  std::size_t sent = 0;
  const auto listen = [&](std::size_t have) {
    return faio::spawn(listens(mine.into, ticket(mine.into, place::talk), from, have));
  };
  auto listener = listen(0);
  bool whole = true;
  for (auto left = 10 + random.below(60); left != 0 && whole; --left) {
    std::array<std::byte, 5> message{};
    const auto words = std::span(message).first(1 + random.below(message.size()));
    for (std::byte& each : words) each = numbered(sent++);
    whole = (co_await to.write_all(words)).has_value();
    if (random.once_in(8)) co_await hesitate(own);
    if (random.once_in(16)) {
      listener.request_stop();
      listener = listen(co_await std::move(listener));
    }
  }
  to.close();
  const std::size_t heard = co_await std::move(listener);
  if (heard > sent) mine.into.fault("a stream gave more than was written");
  // As below: a stop request from above would have ended this sleep.
  if (whole && heard < sent && co_await faio::sleep_for(std::chrono::seconds(1))) {
    mine.into.fault("a stream lost something");
  }
}

faio::task<void> reads_a_pipe(hand mine) {
  two_ends pipe(mine.in, &make_pipe);
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
