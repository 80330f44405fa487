// result_slot -- where a task puts its value or exception, and where whoever waits takes it from, once.
//
// Not synchronised: whoever lets the reader know that it is full (a resume, a counter, a signal) orders the two.
// T may be void, a reference or move-only.
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

namespace faio::context {

template <class T>
class result_slot {
  using stored = std::conditional_t<std::is_void_v<T>, std::monostate,
                                    std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, T>>;

 public:
  result_slot() noexcept {}
  result_slot(const result_slot&) = delete;
  result_slot& operator=(const result_slot&) = delete;
  ~result_slot() { destroy(); }

  template <class... U>
  void set_value(U&&... value) {
    if constexpr (std::is_reference_v<T>) {
      std::construct_at(&_value, std::addressof(value)...);
    } else {
      std::construct_at(&_value, std::forward<U>(value)...);
    }
    _state = state::value;
  }
  /// In place of a value too: a local's destructor that throws after co_return has the last word.
  void set_exception(std::exception_ptr what) noexcept {
    clear();
    std::construct_at(&_exception, std::move(what));
    _state = state::exception;
  }

  [[nodiscard]] bool empty() const noexcept { return _state == state::empty; }
  [[nodiscard]] bool has_exception() const noexcept { return _state == state::exception; }
  [[nodiscard]] bool has_value() const noexcept { return _state == state::value; }

  /// Once. Rethrows.
  T take() {
    if (_state == state::exception) [[unlikely]] {
      auto what = take_exception();
      std::rethrow_exception(std::move(what));
    }
    if constexpr (std::is_void_v<T>) {
      clear();
    } else if constexpr (std::is_reference_v<T>) {
      stored const where = _value;
      clear();
      return static_cast<T>(*where);
    } else if constexpr (std::is_trivially_destructible_v<T>) {
      return std::move(_value);  // nothing is left to be cleared
    } else {
      const clear_at_end at_end{*this};
      return std::move(_value);
    }
  }
  /// Drops what is there.
  void reset() noexcept { clear(); }
  /// Once, when there is one.
  std::exception_ptr take_exception() noexcept {
    auto what = std::move(_exception);
    clear();
    return what;
  }

 private:
  enum class state : unsigned char { empty, value, exception };
  struct clear_at_end {
    result_slot& slot;
    ~clear_at_end() { slot.clear(); }
  };

  void destroy() noexcept {
    if (_state == state::value) std::destroy_at(&_value);
    if (_state == state::exception) std::destroy_at(&_exception);
  }
  void clear() noexcept {
    destroy();
    _state = state::empty;
  }

  union {
    stored _value;
    std::exception_ptr _exception;
  };
  state _state = state::empty;
};

}  // namespace faio::context
