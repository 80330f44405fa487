// oneshot -- one value, once, from anywhere to one task or thread.
#pragma once

#include <memory>
#include <utility>

#include "faio/sync/channel.hpp"

namespace faio::sync {

/// This is the receiving end; the sender may outlive it, and is told:
///     faio::sync::oneshot<int> answer;
///     spawn(ask(answer.sender()));
///     result<int> n = co_await answer.recv();                                                // tests/channel_test.cpp
template <class T>
class oneshot {
  using line = channel<T>;

 public:
  oneshot() : _line(std::make_shared<line>(1)) {}
  oneshot(oneshot&&) noexcept = default;
  oneshot& operator=(oneshot&& other) noexcept {
    oneshot old(std::move(other));
    std::swap(_line, old._line);
    return *this;
  }
  ~oneshot() {
    if (_line != nullptr) _line->close();
  }

  /// Goes away without having sent: the receiver gets errc::closed.
  class sender_type {
   public:
    explicit sender_type(std::shared_ptr<line> to) noexcept : _to(std::move(to)) {}
    sender_type(sender_type&&) noexcept = default;
    sender_type& operator=(sender_type&& other) noexcept {
      close();
      _to = std::move(other._to);
      return *this;
    }
    ~sender_type() { close(); }
    /// Any thread, once. errc::closed: nobody receives any more, or it was sent already.
    result<void> send(T value) {
      if (_to == nullptr) return std::unexpected(make_error_code(errc::closed));
      auto sent = _to->try_send(std::move(value));
      close();
      return sent;
    }

   private:
    void close() noexcept {
      if (auto to = std::exchange(_to, nullptr)) to->close();
    }
    std::shared_ptr<line> _to;
  };

  /// Once.
  [[nodiscard]] sender_type sender() const { return sender_type(_line); }
  /// Any thread, once: the same without a sender of its own.
  result<void> send(T value) { return sender().send(std::move(value)); }
  /// Call from: a task. errc::closed: no value will come; operation_canceled.
  auto recv() noexcept { return _line->recv(); }
  result<T> try_recv() { return _line->try_recv(); }
  result<T> blocking_recv() { return _line->blocking_recv(); }
  /// The receiver gives up: a later send gives errc::closed.
  void close() { _line->close(); }

 private:
  std::shared_ptr<line> _line;
};

}  // namespace faio::sync
