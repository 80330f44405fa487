// buffered -- a reader and a writer with a buffer of their own, around anything that has read_some or write_some.
//
//   buffered_reader in(stream);
//   auto line = co_await in.read_line();                     // a view into the buffer, until the next read   tests/buffered_test.cpp
//
//   |  taken  |  buffered()  |  room for fill()  |
//   0       _begin         _end            capacity
//
// Streams, halves of streams, files and pipes: what they share is read_some(std::span<std::byte>), which gives a result<std::size_t> when
// awaited, 0 at the end; and write_some(std::span<const std::byte>) likewise, or write_all, which gives a result<void>. Their result may be one
// of their own, as that of faio::fs, if it becomes a faio::result by itself. They belong to the caller and outlive the buffer.
#pragma once

#include <algorithm>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/context/task.hpp"
#include "faio/context/timeout.hpp"
#include "faio/net/errors.hpp"

namespace faio::net {

template <class T>
concept readable = requires(T& from, std::span<std::byte> into) {
  { context::get_awaiter(from.read_some(into)).await_resume() } -> std::convertible_to<result<std::size_t>>;
};
/// A part at a time: one that is stopped has written nothing.
template <class T>
concept writable_in_parts = requires(T& to, std::span<const std::byte> from) {
  { context::get_awaiter(to.write_some(from)).await_resume() } -> std::convertible_to<result<std::size_t>>;
};
/// All at once: of one that fails nobody knows how much was written.
template <class T>
concept writable_as_whole = requires(T& to, std::span<const std::byte> from) {
  { context::get_awaiter(to.write_all(from)).await_resume() } -> std::convertible_to<result<void>>;
};
template <class T>
concept writable = writable_in_parts<T> || writable_as_whole<T>;

namespace detail {

/// Of a sink that lacks a piece. One that must be awaited for that is the caller's to close.
template <class To>
void close_now(To& to) noexcept {
  if constexpr (requires {
                  { to.close() } -> std::same_as<void>;
                })
    to.close();
}

}  // namespace detail

/// One task at a time. A read that is stopped has taken nothing that is not still in the buffer: go on by reading again.
template <readable Source>
class buffered_reader {
 public:
  explicit buffered_reader(Source& from, std::size_t capacity = 16 * 1024)
      : _from(&from), _memory(std::make_unique_for_overwrite<std::byte[]>(capacity)), _capacity(capacity) {}

  // ---- What is there already; nothing here waits. Views are good until the next fill or read.

  [[nodiscard]] std::span<const std::byte> buffered() const noexcept { return {_memory.get() + _begin, _end - _begin}; }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(_memory.get()) + _begin, _end - _begin};
  }
  /// At most what is buffered.
  void consume(std::size_t count) noexcept {
    _begin += count;
    if (_begin == _end) _begin = _end = 0;
  }
  /// Up to and with the delimiter, taken; empty: it is not there yet.
  std::optional<std::string_view> take_until(std::string_view delimiter) noexcept {
    const auto at = text().find(delimiter);
    if (at == std::string_view::npos) return std::nullopt;
    const auto found = text().substr(0, at + delimiter.size());
    consume(found.size());
    return found;
  }

  // ---- Reading. Call from: a task.

  class fill_awaitable;
  /// One read behind what is buffered: how many came, 0 at the end. errc::too_long: there is no room.
  fill_awaitable fill() noexcept { return fill_awaitable(*this); }

  /// At least `count` bytes, not taken. errc::end_of_stream: fewer came; errc::too_long: more than the buffer holds.
  task<result<std::span<const std::byte>>> peek(std::size_t count) {
    while (_end - _begin < count) {
      auto more = co_await fill();
      if (!more) co_return std::unexpected(more.error());
      if (*more == 0) co_return std::unexpected(make_error_code(errc::end_of_stream));
    }
    co_return buffered();
  }
  /// As that of a stream: what is buffered first.
  task<result<std::size_t>> read_some(std::span<std::byte> into) {
    if (_begin == _end) {
      // A large read needs no copy.
      if (into.size() >= _capacity) co_return result<std::size_t>(co_await _from->read_some(into));
      auto more = co_await fill();
      if (!more) co_return std::unexpected(more.error());
    }
    co_return take(into);
  }
  /// All of it. errc::end_of_stream: the rest did not come. Then, and when it is stopped or fails, what did come is buffered, however long it is.
  task<result<void>> read_exactly(std::span<std::byte> into) {
    for (std::size_t done = 0; done < into.size();) {
      auto more = co_await read_some(into.subspan(done));
      if (!more || *more == 0) {
        put_back(into.first(done));
        co_return std::unexpected(more ? make_error_code(errc::end_of_stream) : more.error());
      }
      done += *more;
    }
    co_return result<void>{};
  }
  /// Up to and with the delimiter. errc::too_long: it is not within the buffer's capacity; errc::end_of_stream: it never came. In both cases
  /// what there is stays buffered.
  task<result<std::string_view>> read_until(std::string_view delimiter) {
    for (;;) {
      if (auto found = take_until(delimiter)) co_return *found;
      auto more = co_await fill();
      if (!more) co_return std::unexpected(more.error());
      if (*more == 0) co_return std::unexpected(make_error_code(errc::end_of_stream));
    }
  }
  /// The next line without its "\n" or "\r\n"; also the last one, if it has none. errc::end_of_stream: there is no more.
  task<result<std::string_view>> read_line() {
    auto line = co_await read_until("\n");
    if (line) {
      line->remove_suffix(1);
    } else {
      if (line.error() != errc::end_of_stream || _begin == _end) co_return line;
      line = text();
      consume(line->size());
    }
    if (line->ends_with('\r')) line->remove_suffix(1);
    co_return line;
  }

  // ---- end of the public interface ----

 private:
  std::size_t take(std::span<std::byte> into) noexcept {
    const std::size_t count = std::min(into.size(), _end - _begin);
    if (count != 0) std::memcpy(into.data(), _memory.get() + _begin, count);
    consume(count);
    return count;
  }
  /// Into the buffer, which is empty, and grows if it must.
  void put_back(std::span<const std::byte> what) {
    if (what.empty()) return;
    if (what.size() > _capacity) {
      const std::size_t capacity = what.size() + _capacity;  // so that there is room to go on
      _memory = std::make_unique_for_overwrite<std::byte[]>(capacity);
      _capacity = capacity;
    }
    std::memcpy(_memory.get(), what.data(), what.size());
    _begin = 0;
    _end = what.size();
  }
  std::span<std::byte> room() noexcept {
    if (_end == _capacity && _begin != 0) {
      std::memmove(_memory.get(), _memory.get() + _begin, _end - _begin);
      _end -= std::exchange(_begin, 0);
    }
    return {_memory.get() + _end, _capacity - _end};
  }

  Source* _from;
  std::unique_ptr<std::byte[]> _memory;
  std::size_t _capacity;
  std::size_t _begin = 0;
  std::size_t _end = 0;
};

/// The source's own read, and a note of how far the buffer is filled: no coroutine in between.
template <readable Source>
class [[nodiscard("co_await it")]] buffered_reader<Source>::fill_awaitable {
 public:
  explicit fill_awaitable(buffered_reader& self) noexcept : _self(&self) {}

  class awaiter {
   public:
    explicit awaiter(buffered_reader& self)
        : _self(self),
          _room(self.room()),
          _read(self._from->read_some(_room)),
          _inner(context::get_awaiter(std::move(_read))) {}
    [[nodiscard]] bool await_ready() { return _room.empty() || _inner.await_ready(); }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> waiting) {
      return _inner.await_suspend(waiting);
    }
    result<std::size_t> await_resume() {
      if (_room.empty()) return std::unexpected(make_error_code(errc::too_long));
      result<std::size_t> more = _inner.await_resume();
      if (more) _self._end += *more;
      return more;
    }

   private:
    using read = decltype(std::declval<Source&>().read_some(std::span<std::byte>()));
    buffered_reader& _self;
    std::span<std::byte> _room;
    read _read;
    decltype(context::get_awaiter(std::declval<read>())) _inner;
  };
  awaiter operator co_await() const { return awaiter(*_self); }

 private:
  buffered_reader* _self;
};

/// One task at a time. What is not flushed when it goes away is not written.
/// Nobody goes on with half a message: where one that was stopped or failed has left the sink with an unknown part, or the middle of a write, the
/// sink is closed (if it can be without waiting), and everything here gives that error from then on.
template <writable Sink>
class buffered_writer {
 public:
  explicit buffered_writer(Sink& to, std::size_t capacity = 16 * 1024)
      : _to(&to), _memory(std::make_unique_for_overwrite<std::byte[]>(capacity)), _capacity(capacity) {}

  /// Into the buffer; false: there is no room for all of it, or the sink has failed, and nothing was done. Does not wait.
  [[nodiscard]] bool try_write(std::span<const std::byte> what) noexcept {
    if (what.size() > _capacity - _end || _failed) return false;
    if (!what.empty()) std::memcpy(_memory.get() + _end, what.data(), what.size());
    _end += what.size();
    return true;
  }
  [[nodiscard]] bool try_write(std::string_view text) noexcept { return try_write(std::as_bytes(std::span(text))); }
  [[nodiscard]] std::size_t unflushed() const noexcept { return _end - _begin; }

  /// Call from: a task. Into the buffer, which is flushed if there is no room; what is longer than the buffer goes to the sink behind that. Stopped or
  /// failed: nothing of it was taken, and flush() or write() goes on; or it was in the middle of what is longer than the buffer: the sink is closed.
  task<result<void>> write(std::span<const std::byte> what) {
    if (try_write(what)) co_return result<void>{};
    if (auto done = co_await flush(); !done) co_return done;
    if (try_write(what)) co_return result<void>{};
    std::size_t done = 0;
    auto passed = co_await pass_on(what, done);
    if (!passed && done != 0) fail(passed.error());
    co_return passed;
  }
  task<result<void>> write(std::string_view text) { return write(std::as_bytes(std::span(text))); }

  /// Call from: a task. Writes what is in the buffer. Stopped: what was not written is still there; flush again, or give up. A sink that has
  /// write_all only is closed then.
  task<result<void>> flush() {
    if (_failed) co_return std::unexpected(_failed);
    std::size_t done = 0;
    auto passed = co_await pass_on({_memory.get() + _begin, _end - _begin}, done);
    _begin += done;
    if (_begin == _end) _begin = _end = 0;
    co_return passed;
  }

  // ---- end of the public interface ----

 private:
  /// `done`: how many of them the sink has.
  task<result<void>> pass_on(std::span<const std::byte> what, std::size_t& done) {
    if constexpr (writable_in_parts<Sink>) {
      while (done < what.size()) {
        const result<std::size_t> wrote = co_await _to->write_some(what.subspan(done));
        if (!wrote) co_return std::unexpected(wrote.error());
        done += *wrote;
      }
    } else if (!what.empty()) {
      const result<void> wrote = co_await _to->write_all(what);
      if (!wrote) {
        fail(wrote.error());
        co_return wrote;
      }
      done = what.size();
    }
    co_return result<void>{};
  }
  void fail(std::error_code why) noexcept {
    _failed = why;
    detail::close_now(*_to);
  }

  Sink* _to;
  std::unique_ptr<std::byte[]> _memory;
  std::size_t _capacity;
  std::size_t _begin = 0;  // written already, by a flush that was stopped
  std::size_t _end = 0;
  std::error_code _failed;  // the sink has a part of something
};

}  // namespace faio::net
