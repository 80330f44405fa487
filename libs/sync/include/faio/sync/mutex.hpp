// mutex, shared_mutex -- locks for coroutines: waiting suspends the task, never the thread.
//
// A mutex is quick rather than fair: whoever runs may overtake those who wait, but each of them only so often (lock_core.hpp). A shared_mutex is
// fair: first come, first served (permits.hpp).
//
//   faio::sync::mutex m;
//   auto guard = co_await m.lock();                                                           // tests/mutex_test.cpp
#pragma once

#include <coroutine>
#include <mutex>
#include <system_error>
#include <utility>

#include "faio/context/result.hpp"
#include "faio/sync/lock_awaiter.hpp"
#include "faio/sync/permit_awaiter.hpp"

namespace faio::sync {

/// Holds a lock until it goes away or unlock(). Empty when stop was requested before the lock came: test it where that can be.
template <class Lock>
class [[nodiscard("the lock is given back when the guard goes away")]] basic_guard {
 public:
  basic_guard() = default;
  basic_guard(Lock& lock, std::adopt_lock_t) noexcept : _lock(&lock) {}
  basic_guard(basic_guard&& other) noexcept : _lock(std::exchange(other._lock, nullptr)) {}
  basic_guard& operator=(basic_guard&& other) noexcept {
    basic_guard old(std::move(other));
    std::swap(_lock, old._lock);
    return *this;
  }
  ~basic_guard() { unlock(); }

  [[nodiscard]] explicit operator bool() const noexcept { return _lock != nullptr; }
  [[nodiscard]] bool has_value() const noexcept { return _lock != nullptr; }
  [[nodiscard]] bool owns_lock() const noexcept { return _lock != nullptr; }
  /// Why it is empty.
  [[nodiscard]] std::error_code error() const noexcept {
    return _lock != nullptr ? std::error_code() : context::canceled();
  }
  /// Any number of times.
  void unlock() noexcept {
    if (Lock* const lock = std::exchange(_lock, nullptr)) lock->unlock();
  }
  /// The lock that it held, which is the caller's to give back now; null if it held none.
  [[nodiscard]] Lock* release() noexcept { return std::exchange(_lock, nullptr); }

 private:
  Lock* _lock = nullptr;
};

namespace detail {

/// Makes a guard of what `Awaiter` took.
template <class Lock, class Awaiter>
class guard_awaiter {
 public:
  template <class... From>
  explicit guard_awaiter(Lock& lock, From&... from) noexcept : _taking(from...), _lock(lock) {}
  [[nodiscard]] bool await_ready() noexcept { return _taking.await_ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return _taking.await_suspend(waiting);
  }
  basic_guard<Lock> await_resume() noexcept {
    return _taking.await_resume() ? basic_guard<Lock>(_lock, std::adopt_lock) : basic_guard<Lock>();
  }

 private:
  Awaiter _taking;
  Lock& _lock;
};

/// What lock() gives to co_await: a guard of `Lock`, over permits.
template <class Lock>
class [[nodiscard("co_await it")]] lock_awaitable {
 public:
  lock_awaitable(Lock& lock, permits& from, std::uint64_t count, stoppable stop) noexcept
      : _lock(lock), _from(from), _count(count), _stop(stop) {}
  guard_awaiter<Lock, permit_awaiter> operator co_await() const noexcept {
    return guard_awaiter<Lock, permit_awaiter>(_lock, _from, _count, _stop);
  }

 private:
  Lock& _lock;
  permits& _from;
  std::uint64_t _count;
  stoppable _stop;
};

/// The same over a lock_core.
template <class Lock>
class [[nodiscard("co_await it")]] core_awaitable {
 public:
  core_awaitable(Lock& lock, lock_core& from, stoppable stop) noexcept : _lock(lock), _from(from), _stop(stop) {}
  guard_awaiter<Lock, lock_awaiter> operator co_await() const noexcept {
    return guard_awaiter<Lock, lock_awaiter>(_lock, _from, _stop);
  }

 private:
  Lock& _lock;
  lock_core& _from;
  stoppable _stop;
};

}  // namespace detail

/// One at a time. Who runs may overtake those who wait, who are called one by one to try; one that has come three times in vain is handed the
/// lock, so nobody waits for ever.   MutexTest.OneThatWaitsIsOvertakenABoundedNumberOfTimes
class mutex {
 public:
  using guard = basic_guard<mutex>;

  /// Call from: a task. Gives a guard; an empty one when stop is requested first. Resumes where the lock was given back, or at once.
  detail::core_awaitable<mutex> lock() noexcept { return {*this, _core, stoppable::yes}; }
  /// The same, but stop requests do not end it: the guard is never empty.
  detail::core_awaitable<mutex> lock_unstoppably() noexcept { return {*this, _core, stoppable::no}; }
  /// Any thread. False: it is held.
  [[nodiscard]] bool try_lock() noexcept { return _core.try_take(); }
  /// A thread that is no worker.
  guard blocking_lock() {
    take_blocking(_core, "mutex::blocking_lock");
    return {*this, std::adopt_lock};
  }
  /// Whoever holds it, on any thread.
  void unlock() noexcept { _core.give(); }

 private:
  lock_core _core;
};

/// Many readers or one writer; in the order in which they came, so neither starves.
class shared_mutex {
  /// What lock_shared() guards: unlock() is unlock_shared().
  class shared_side {
   public:
    explicit shared_side(shared_mutex& of) noexcept : _of(of) {}
    void unlock() noexcept { _of.unlock_shared(); }

   private:
    shared_mutex& _of;
  };

 public:
  using guard = basic_guard<shared_mutex>;
  using shared_guard = basic_guard<shared_side>;

  shared_mutex() = default;

  /// As mutex::lock.
  detail::lock_awaitable<shared_mutex> lock() noexcept { return {*this, _permits, all, stoppable::yes}; }
  detail::lock_awaitable<shared_side> lock_shared() noexcept { return {_shared, _permits, 1, stoppable::yes}; }
  [[nodiscard]] bool try_lock() noexcept { return _permits.try_take(all); }
  [[nodiscard]] bool try_lock_shared() noexcept { return _permits.try_take(1); }
  guard blocking_lock() {
    take_blocking(_permits, all, "shared_mutex::blocking_lock");
    return {*this, std::adopt_lock};
  }
  shared_guard blocking_lock_shared() {
    take_blocking(_permits, 1, "shared_mutex::blocking_lock_shared");
    return {_shared, std::adopt_lock};
  }
  void unlock() noexcept { _permits.give(all); }
  void unlock_shared() noexcept { _permits.give(1); }

 private:
  /// As many readers as there could ever be; a writer takes all of them.
  static constexpr std::uint64_t all = std::uint64_t{1} << 32;
  permits _permits{all};
  shared_side _shared{*this};
};

}  // namespace faio::sync
