// atomics -- the policy that runs a concurrent type under the explorer instead of on the hardware.
//
// Give it to a type as its last template parameter, inside a body of explorer::explore(). The interface is that of the
// standard policy, so the code under test is the very same; each operation becomes a step that the explorer schedules,
// and each load may return any value that its memory order allows (README.md says what cannot be shown).
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "explorer/operations.hpp"

namespace faio::explorer {

namespace detail {

template <class T>
operations::word to_word(const T& value) noexcept {
  operations::word out = 0;
  std::memcpy(&out, std::addressof(value), sizeof(T));
  return out;
}

template <class T>
T from_word(operations::word value) noexcept {
  // A union, not T{}: T need not be default constructible.
  union storage {
    char none;
    T value;
    storage() : none{} {}
  } out;
  std::memcpy(static_cast<void*>(std::addressof(out.value)), &value, sizeof(T));
  return out.value;
}

std::string print_number(operations::word value);
std::string print_pointer(operations::word value);

template <class T>
std::string print(operations::word value) {
  if constexpr (std::is_same_v<T, bool>) {
    return from_word<T>(value) ? "true" : "false";
  } else if constexpr (std::is_pointer_v<T>) {
    return print_pointer(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return std::to_string(from_word<T>(value));
  } else {
    return print_number(value);
  }
}

template <class T>
concept arithmetic = std::integral<T> && !std::same_as<T, bool>;

/// The load order of a compare-exchange that names only one order, as in [atomics.types.operations].
constexpr std::memory_order failure_order(std::memory_order order) noexcept {
  if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order;
}

}  // namespace detail

struct atomics {
  /// The part of std::atomic that is used with explicit orders. There is no conversion and no `=`: an order left out by
  /// accident should not compile.
  template <class T>
  class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(operations::word),
                  "explorer: an atomic holds a trivially copyable value of at most 8 bytes");
    using where = std::source_location;
    using order_t = std::memory_order;

   public:
    using value_type = T;
    static constexpr bool is_always_lock_free = true;

    atomic() noexcept : atomic(T{}) {}
    atomic(T initial, where at = where::current()) noexcept {
      operations::create_atomic(this, detail::to_word(initial), &detail::print<T>, at);
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    ~atomic() { operations::destroy_atomic(this); }

    [[nodiscard]] T load(order_t order = std::memory_order_seq_cst, where at = where::current()) const noexcept {
      return detail::from_word<T>(operations::load(this, order, at));
    }
    void store(T value, order_t order = std::memory_order_seq_cst, where at = where::current()) noexcept {
      operations::store(this, detail::to_word(value), order, at);
    }
    T exchange(T value, order_t order = std::memory_order_seq_cst, where at = where::current()) noexcept {
      return modify("exchange", [](T, T operand) { return operand; }, value, order, at);
    }

    bool compare_exchange_weak(T& expected, T desired, order_t success, order_t failure,
                               where at = where::current()) noexcept {
      return compare_exchange(expected, desired, true, success, failure, at);
    }
    bool compare_exchange_weak(T& expected, T desired, order_t order = std::memory_order_seq_cst,
                               where at = where::current()) noexcept {
      return compare_exchange(expected, desired, true, order, detail::failure_order(order), at);
    }
    bool compare_exchange_strong(T& expected, T desired, order_t success, order_t failure,
                                 where at = where::current()) noexcept {
      return compare_exchange(expected, desired, false, success, failure, at);
    }
    bool compare_exchange_strong(T& expected, T desired, order_t order = std::memory_order_seq_cst,
                                 where at = where::current()) noexcept {
      return compare_exchange(expected, desired, false, order, detail::failure_order(order), at);
    }

    T fetch_add(T operand, order_t order = std::memory_order_seq_cst, where at = where::current()) noexcept
      requires detail::arithmetic<T>
    {
      return modify("fetch_add", [](T old, T by) { return wrapped(bits(old) + bits(by)); }, operand, order, at);
    }
    T fetch_sub(T operand, order_t order = std::memory_order_seq_cst, where at = where::current()) noexcept
      requires detail::arithmetic<T>
    {
      return modify("fetch_sub", [](T old, T by) { return wrapped(bits(old) - bits(by)); }, operand, order, at);
    }
    T fetch_or(T operand, order_t order = std::memory_order_seq_cst, where at = where::current()) noexcept
      requires detail::arithmetic<T>
    {
      return modify("fetch_or", [](T old, T with) { return wrapped(bits(old) | bits(with)); }, operand, order, at);
    }
    T fetch_and(T operand, order_t order = std::memory_order_seq_cst, where at = where::current()) noexcept
      requires detail::arithmetic<T>
    {
      return modify("fetch_and", [](T old, T with) { return wrapped(bits(old) & bits(with)); }, operand, order, at);
    }

    void wait(T old, order_t order = std::memory_order_seq_cst, where at = where::current()) const noexcept {
      operations::wait(this, detail::to_word(old), order, at);
    }
    void notify_one(where at = where::current()) noexcept { operations::notify(this, false, at); }
    void notify_all(where at = where::current()) noexcept { operations::notify(this, true, at); }

   private:
    // Atomic arithmetic wraps, for signed types too: done on the unsigned word, cut back to T.
    static operations::word bits(T value) noexcept { return detail::to_word(value); }
    static T wrapped(operations::word value) noexcept { return static_cast<T>(value); }

    template <class Apply>
    T modify(const char* name, Apply, T operand, order_t order, where at) noexcept {
      const operations::change apply = [](operations::word old, operations::word by) {
        return detail::to_word<T>(Apply{}(detail::from_word<T>(old), detail::from_word<T>(by)));
      };
      return detail::from_word<T>(operations::modify(this, name, apply, detail::to_word(operand), order, at));
    }

    bool compare_exchange(T& expected, T desired, bool weak, order_t success, order_t failure, where at) noexcept {
      operations::word seen = detail::to_word(expected);
      if (operations::compare_exchange(this, seen, detail::to_word(desired), weak, success, failure, at)) return true;
      expected = detail::from_word<T>(seen);
      return false;
    }

    // Never read or written: it gives the object the size and alignment that the real one has. The values live in the
    // engine's history.
    [[maybe_unused]] alignas(T) std::byte _place[sizeof(T)]{};
  };

  /// A field that is not atomic. Each access is checked for data races. Do not keep the reference across an atomic
  /// operation: the check is made when it is handed out.
  template <class T>
  class plain {
    using where = std::source_location;

   public:
    plain() : _value() { operations::create_plain(this, where::current()); }
    explicit plain(T initial, where at = where::current()) : _value(std::move(initial)) {
      operations::create_plain(this, at);
    }
    plain(const plain&) = delete;
    plain& operator=(const plain&) = delete;
    ~plain() { operations::destroy_plain(this); }

    [[nodiscard]] const T& read(where at = where::current()) const {
      operations::read_plain(this, at);
      return _value;
    }
    [[nodiscard]] T& write(where at = where::current()) {
      operations::write_plain(this, at);
      return _value;
    }

   private:
    T _value;
  };

  /// BasicLockable and try_lock. An unlock by a thread that does not hold it, a second lock by the holder, and
  /// destruction while held or waited for are failures.
  class mutex {
   public:
    mutex(std::source_location at = std::source_location::current()) { operations::create_mutex(this, at); }
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;
    ~mutex() { operations::destroy_mutex(this); }

    void lock() { operations::lock(this); }
    [[nodiscard]] bool try_lock() { return operations::try_lock(this); }
    void unlock() { operations::unlock(this); }
  };

  static void fence(std::memory_order order, std::source_location at = std::source_location::current()) noexcept {
    operations::fence(order, at);
  }

  static void full_barrier(std::source_location at = std::source_location::current()) noexcept {
    operations::fence(std::memory_order_seq_cst, at);
  }
  static void prepare_barriers() noexcept {}
  /// The cheap side of the asymmetric pair: only the compiler may not reorder, so here nothing at all.
  static void light_barrier() noexcept {}
  /// The dear side, membarrier(2): every thread executes a seq_cst fence where it stands, in one step.
  static void heavy_barrier(std::source_location at = std::source_location::current()) noexcept {
    operations::heavy_barrier(at);
  }

  /// Blocks while the newest value of `word` is `expected`, as the kernel does: it never compares a stale value. May
  /// return without a wake (options::spurious_wakes). Orders nothing.
  static void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::source_location at = std::source_location::current()) noexcept {
    operations::futex_wait(&word, expected, at);
  }
  /// By address only: legal after the object's death.
  static void futex_wake_one(const void* address, std::source_location at = std::source_location::current()) noexcept {
    operations::futex_wake(address, false, at);
  }
  static void futex_wake_all(const void* address, std::source_location at = std::source_location::current()) noexcept {
    operations::futex_wake(address, true, at);
  }

  /// Spin hint. The caller is not scheduled again before another thread has made a step, and what it has read since its
  /// last pause is no longer stale then. When every thread only spins, that is a livelock.
  static void pause(std::source_location at = std::source_location::current()) noexcept { operations::pause(at); }
  static void pause(bool /*long_since*/, std::source_location at = std::source_location::current()) noexcept {
    operations::pause(at);
  }

  /// Heap memory that is tracked: a leak, a second destroy and a use after it are failures. Not reused before the end
  /// of the execution.
  template <class T, class... Args>
  [[nodiscard]] static T* make(Args&&... args) {
    void* block = operations::allocate(sizeof(T), alignof(T), typeid(T).name());
    try {
      return ::new (block) T(std::forward<Args>(args)...);
    } catch (...) {
      operations::release(block);
      throw;
    }
  }
  template <class T>
  static void destroy(T* object) noexcept {
    if (object == nullptr) return;
    operations::require_live_block(object);
    object->~T();
    operations::release(const_cast<std::remove_cv_t<T>*>(object));
  }

  /// A token of the running thread, for role checks.
  [[nodiscard]] static const void* this_thread() noexcept { return operations::this_thread(); }
  /// Whether that thread has ended. Never, for a role check: in a model a queue is handed over by release_owner().
  [[nodiscard]] static bool has_ended(const void*) noexcept { return false; }
};

/// The same where membarrier(2) is refused: both sides are full fences.
struct fenced_atomics : atomics {
  static void light_barrier(std::source_location at = std::source_location::current()) noexcept {
    operations::fence(std::memory_order_seq_cst, at);
  }
  static void heavy_barrier(std::source_location at = std::source_location::current()) noexcept {
    operations::fence(std::memory_order_seq_cst, at);
  }
};

/// Names an object in the step log; `name` must outlive the exploration.
template <class T>
void label(const atomics::atomic<T>& object, const char* name) {
  operations::label(&object, operations::kind::atomic, name);
}
template <class T>
void label(const atomics::plain<T>& object, const char* name) {
  operations::label(&object, operations::kind::plain, name);
}
inline void label(const atomics::mutex& object, const char* name) {
  operations::label(&object, operations::kind::mutex, name);
}

}  // namespace faio::explorer
