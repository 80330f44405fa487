// semaphore -- permits for coroutines and threads, in line. Fair: one who wants many is not passed by those who want few.
#pragma once

#include <coroutine>
#include <cstdint>

#include "faio/context/result.hpp"
#include "faio/sync/permit_awaiter.hpp"

namespace faio::sync {

class semaphore {
 public:
  explicit semaphore(std::uint64_t count) noexcept : _permits(count) {}

  class [[nodiscard("co_await it")]] acquire_awaitable {
   public:
    acquire_awaitable(permits& from, std::uint64_t count) noexcept : _from(from), _count(count) {}
    class awaiter {
     public:
      awaiter(permits& from, std::uint64_t count) noexcept : _permit(from, count) {}
      [[nodiscard]] bool await_ready() noexcept { return _permit.await_ready(); }
      template <class Promise>
      bool await_suspend(std::coroutine_handle<Promise> waiting) {
        return _permit.await_suspend(waiting);
      }
      result<void> await_resume() noexcept {
        if (!_permit.await_resume()) return std::unexpected(context::canceled());
        return {};
      }

     private:
      permit_awaiter _permit;
    };
    awaiter operator co_await() const noexcept { return awaiter(_from, _count); }

   private:
    permits& _from;
    std::uint64_t _count;
  };

  /// Call from: a task. operation_canceled: stop was requested first, and nothing was taken.
  acquire_awaitable acquire(std::uint64_t count = 1) noexcept { return {_permits, count}; }
  /// Any thread.
  [[nodiscard]] bool try_acquire(std::uint64_t count = 1) noexcept { return _permits.try_take(count); }
  /// A thread that is no worker.
  void blocking_acquire(std::uint64_t count = 1) { take_blocking(_permits, count, "semaphore::blocking_acquire"); }
  /// Any thread, not only who acquired.
  void release(std::uint64_t count = 1) { _permits.give(count); }
  /// Any thread. A moment's view.
  [[nodiscard]] std::uint64_t available() const noexcept { return _permits.available(); }

 private:
  permits _permits;
};

}  // namespace faio::sync
