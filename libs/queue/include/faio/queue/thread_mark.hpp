// thread_mark -- tells threads apart, and knows which of them have ended; for the role checks of debug builds.
//
// A thread's mark is the address of a thread-local object that is listed for as long as the thread runs. A later thread may
// get the address again: then the earlier one has ended.
// What holds the marks is shown by every shared library that has it, so that all of them agree on one: a thread must not have
// a mark in the program and another in libfaio_scheduler.so. Kept by ci/check_install.
#pragma once

#include "faio/queue/spin_lock.hpp"

namespace faio::queue::detail {

class thread_mark {
 public:
  thread_mark(const thread_mark&) = delete;
  thread_mark& operator=(const thread_mark&) = delete;

  /// Any thread. Not inlined: a coroutine that moved may see a cached thread-local address.
  [[gnu::noinline, gnu::visibility("default")]] static const void* mine() {
    static thread_local thread_mark mark;
    return &mark;
  }

  /// Any thread. True once the thread-locals of that thread are gone, so also after it was joined.
  static bool has_ended(const void* mark) {
    const hold all(threads());
    for (const thread_mark* each = all.threads.first; each != nullptr; each = each->_next) {
      if (each == mark) return false;
    }
    return true;
  }

 private:
  /// Those that run. Never destroyed, having nothing to destroy: a thread may end after the statics of the process are gone.
  struct register_of_threads {
    spin_lock lock;
    thread_mark* first = nullptr;
  };
  [[gnu::visibility("default")]] static register_of_threads& threads() {
    static constinit register_of_threads all;
    return all;
  }
  // In place of std::lock_guard and a vector: for their headers every user of a queue would pay (tools/compile_cost).
  struct hold {
    explicit hold(register_of_threads& of) : threads(of) { threads.lock.lock(); }
    hold(const hold&) = delete;
    hold& operator=(const hold&) = delete;
    ~hold() { threads.lock.unlock(); }
    register_of_threads& threads;
  };

  thread_mark() {
    const hold all(threads());
    _next = all.threads.first;
    if (_next != nullptr) _next->_previous = this;
    all.threads.first = this;
  }
  ~thread_mark() {
    const hold all(threads());
    (_previous != nullptr ? _previous->_next : all.threads.first) = _next;
    if (_next != nullptr) _next->_previous = _previous;
  }

  thread_mark* _previous = nullptr;
  thread_mark* _next = nullptr;
};

}  // namespace faio::queue::detail
