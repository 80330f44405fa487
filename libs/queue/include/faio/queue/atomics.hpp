// atomics -- what the queues ask of the machine, as one policy: the standard library unless told otherwise.
//
// Every queue takes this policy as its last template parameter, so that tests/explorer runs the very same code under a
// scheduler that controls each access. With std_atomics a queue compiles to exactly what it would with std::atomic
// written out; ci/same_instructions shows it.
#pragma once

#if __cplusplus < 202100L
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include <atomic>
#include <cstddef>
#include <utility>

#include "faio/queue/thread_mark.hpp"

namespace faio::queue {

struct std_mutex;  // faio/queue/std_mutex.hpp

struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  /// A field that is not atomic. Its accesses are marked so that a policy can check them for data races.
  template <class T>
  class plain {
   public:
    plain() = default;
    explicit plain(T value) : _value(std::move(value)) {}
    const T& read() const noexcept { return _value; }
    T& write() noexcept { return _value; }

   private:
    T _value{};
  };

  using mutex = std_mutex;

  template <class T, class... Args>
  static T* make(Args&&... args) {
    return new T(std::forward<Args>(args)...);
  }
  template <class T>
  static void destroy(T* object) noexcept {
    delete object;
  }

  /// A value that differs between threads that run at the same time.
  static const void* this_thread() noexcept { return detail::thread_mark::mine(); }
  /// Whether the thread with this value has ended.
  static bool has_ended(const void* thread) noexcept { return detail::thread_mark::has_ended(thread); }
};

/// Distance between fields that different threads write: two 64-byte lines, because x86 fetches lines in pairs.
/// A constant instead of std::hardware_destructive_interference_size, which may differ between a user's flags and ours.
inline constexpr std::size_t line_size = 128;

}  // namespace faio::queue
