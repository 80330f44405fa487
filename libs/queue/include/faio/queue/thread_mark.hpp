// thread_mark -- tells threads apart, and knows which of them have ended; for the role checks of debug builds.
//
// A thread's mark is the address of a thread-local object that is listed for as long as the thread runs. A later thread may
// get the address again: then the earlier one has ended.
// What holds the marks is shown by every shared library that has it, so that all of them agree on one: a thread must not have
// a mark in the program and another in libfaio_scheduler.so. Kept by ci/check_install.
#pragma once

#include <mutex>
#include <vector>

namespace faio::queue::detail {

class thread_mark {
 public:
  /// Any thread. Not inlined: a coroutine that moved may see a cached thread-local address.
  [[gnu::noinline, gnu::visibility("default")]] static const void* mine() {
    static thread_local const thread_mark mark;
    return &mark;
  }

  /// Any thread. True once the thread-locals of that thread are gone, so also after it was joined.
  static bool has_ended(const void* mark) {
    register_of_threads& all = threads();
    const std::lock_guard lock(all.mutex);
    for (const void* each : all.running) {
      if (each == mark) return false;
    }
    return true;
  }

 private:
  struct register_of_threads {
    std::mutex mutex;
    std::vector<const void*> running;
  };
  /// Never destroyed: a thread may end after the statics of the process are gone.
  [[gnu::visibility("default")]] static register_of_threads& threads() {
    static register_of_threads& all = *new register_of_threads;
    return all;
  }

  thread_mark() {
    register_of_threads& all = threads();
    const std::lock_guard lock(all.mutex);
    all.running.push_back(this);
  }
  ~thread_mark() {
    register_of_threads& all = threads();
    const std::lock_guard lock(all.mutex);
    std::erase(all.running, static_cast<const void*>(this));
  }
};

}  // namespace faio::queue::detail
