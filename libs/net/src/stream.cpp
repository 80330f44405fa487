// stream -- the loops over read_some and write_some.
#include "faio/net/stream.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

namespace faio::net {

descriptor::descriptor(int fd) noexcept : _fd(fd) {}
descriptor::descriptor(closed_from_the_start) noexcept : _fd(-1), _uses(closed_bit) {}
descriptor::~descriptor() { close(); }

std::uint32_t descriptor::mark_closed() noexcept {
  return _uses.fetch_or(closed_bit, std::memory_order_acq_rel);  // acq_rel: see add()
}

void descriptor::close() noexcept {
  const std::uint32_t before = mark_closed();
  if ((before & closed_bit) != 0) return;
  // Ends what is in flight: I3. Refused (no socket at all): its task's stop token does it.
  if (before % one_call > one_operation) (void)::shutdown(_fd, SHUT_RDWR);
  leave();
}

void descriptor::close_quietly() noexcept {
  if ((mark_closed() & closed_bit) == 0) leave();
}

result<int> descriptor::release() noexcept {
  std::uint32_t seen = one_operation;  // the owner
  // acq_rel: as in subtract(). acquire: the answer is about what was seen.
  if (!_uses.compare_exchange_strong(seen, closed_bit, std::memory_order_acq_rel, std::memory_order_acquire)) {
    const bool closed = (seen & closed_bit) != 0;
    return std::unexpected(
        std::make_error_code(closed ? std::errc::bad_file_descriptor : std::errc::device_or_resource_busy));
  }
  home.leave();
  return _fd;
}

descriptor& descriptor::nothing() noexcept {
  static descriptor one{closed_from_the_start()};
  return one;
}

void descriptor::give_back() noexcept {
  home.leave();
  (void)::close(_fd);  // on Linux the number is free whatever it answers
}

// ---- A whole buffer.

void detail::whole_awaiter::came(operation& op) noexcept {
  auto& self = static_cast<whole_awaiter&>(op);
  if (op.result() > 0) {
    self._done += static_cast<std::size_t>(op.result());
    if (self._done < self._size && !self.is_asked()) {
      self.prepare_rest();
      (void)scheduler::current_worker()->io().submit(op);  // refused only while it is in flight, which it is not
      return;
    }
  }
  completed(op);
}

result<void> detail::whole_awaiter::await_resume() noexcept {
  // First of all: it also ends the wait. A stop request that comes now must not find an awaiter that is half destroyed.
  const auto gave = descriptor_awaiter::await_resume();
  if (_done == _size) return {};
  if (gave && *gave == 0) {
    return std::unexpected(_way == way::in ? make_error_code(errc::end_of_stream)
                                           : std::make_error_code(std::errc::io_error));
  }
  if (_done != 0) close();
  // A part came and then a stop request: nothing failed, and yet it is not all.
  return std::unexpected(gave ? std::make_error_code(std::errc::operation_canceled) : gave.error());
}

// ---- Loops that need a coroutine.

/// More than these the system refuses altogether; fewer are a part, as ever.
constexpr std::size_t most_buffers = IOV_MAX;

task<result<std::string>> read_half::read_until(std::string_view delimiter, std::size_t limit) {
  std::size_t searched = 0;
  for (;;) {
    if (const auto at = _kept.find(delimiter, searched); at != _kept.npos && at + delimiter.size() <= limit) {
      std::string line = _kept.substr(0, at + delimiter.size());
      _kept.erase(0, line.size());
      co_return line;
    }
    if (_kept.size() >= limit) co_return std::unexpected(make_error_code(errc::too_long));
    searched = _kept.size() < delimiter.size() ? 0 : _kept.size() - delimiter.size() + 1;
    std::array<std::byte, 4096> piece;
    std::string none;  // what is kept stays where it is
    auto more = co_await detail::read_awaitable(
        descriptor::in(_of), std::span(piece).first(std::min(piece.size(), limit - _kept.size())), none);
    if (!more) co_return std::unexpected(more.error());
    if (*more == 0) co_return std::unexpected(make_error_code(errc::end_of_stream));
    _kept.append(reinterpret_cast<const char*>(piece.data()), *more);
  }
}

task<result<std::size_t>> read_half::read_vectored(std::span<const iovec> into) {
  std::size_t had = 0;
  for (const iovec& each : into) {
    had += detail::read_awaitable::take_kept(_kept, {static_cast<std::byte*>(each.iov_base), each.iov_len});
  }
  if (had != 0) co_return had;
  if (descriptor::in(_of).ahead != nullptr) {
    const auto first = std::ranges::find_if(into, [](const iovec& each) { return each.iov_len != 0; });
    if (first != into.end()) co_return co_await read_some({static_cast<std::byte*>(first->iov_base), first->iov_len});
  }
  into = into.first(std::min(into.size(), most_buffers));
  co_return co_await perform<std::size_t>(
      descriptor::in(_of), [into](ioengine::operation& op, int fd) noexcept { op.prepare_readv(fd, into); });
}

task<result<void>> write_half::write_vectored(std::span<const iovec> from) {
  std::vector<iovec> left(from.begin(), from.end());
  bool begun = false;
  for (std::size_t at = 0; at < left.size();) {
    if (left[at].iov_len == 0) {
      ++at;
      continue;
    }
    msghdr message{};
    message.msg_iov = left.data() + at;
    message.msg_iovlen = std::min(left.size() - at, most_buffers);
    auto more = co_await perform<std::size_t>(
        descriptor::in(_of), [&message](ioengine::operation& op, int fd) noexcept { op.prepare_sendmsg(fd, message); });
    if (!more) {
      if (begun) close();
      co_return std::unexpected(more.error());
    }
    begun = true;
    for (std::size_t done = *more; done != 0;) {
      const std::size_t part = std::min(done, left[at].iov_len);
      left[at].iov_base = static_cast<std::byte*>(left[at].iov_base) + part;
      left[at].iov_len -= part;
      done -= part;
      if (left[at].iov_len == 0) ++at;
    }
  }
  co_return result<void>{};
}

result<void> write_half::shutdown() {
  if (descriptor::in(_of).call([](int fd) { return ::shutdown(fd, SHUT_WR); }) != 0) return last_error();
  return {};
}

result<void> stream::shutdown(int how) {
  if (descriptor::in(_of).call([how](int fd) { return ::shutdown(fd, how); }) != 0) return last_error();
  return {};
}

endpoint detail::local_of(descriptor& on) {
  endpoint here;
  *here.size_pointer() = endpoint::capacity;
  if (on.call([&here](int fd) { return ::getsockname(fd, here.data(), here.size_pointer()); }) != 0) return {};
  return here;
}

endpoint stream::local() const { return detail::local_of(descriptor::in(_of)); }

endpoint stream::remote() const {
  endpoint there;
  *there.size_pointer() = endpoint::capacity;
  const auto ask = [&there](int fd) { return ::getpeername(fd, there.data(), there.size_pointer()); };
  if (descriptor::in(_of).call(ask) != 0) return {};
  return there;
}

result<void> stream::set_option(int level, int name, int value) {
  const auto set = [&](int fd) { return ::setsockopt(fd, level, name, &value, sizeof value); };
  if (descriptor::in(_of).call(set) != 0) return last_error();
  return {};
}

}  // namespace faio::net
