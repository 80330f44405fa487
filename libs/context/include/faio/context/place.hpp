// place -- how a call that takes any arguments still learns the line that the user wrote.
//
// A place is a std::source_location with a default, and a default does not follow a pack: the pack would not be deduced. So
//   - where something of a known type comes first, a priority or a runtime, it is taken as a `placed`: the conversion brings the place;
//   - where the callable comes first, there are parameters for six arguments before the place, `absent` where the call has none. More
//     of them are taken by a pack, which knows no place.
// Not taken: placed<F> for the callable too: F is not deduced through a conversion. An overload for each number of arguments: six of
// each of seven functions. tests/place_test.cpp has all forms.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

namespace faio::context {

/// A T, and where it was passed as an argument.
template <class T>
struct placed {
  template <std::convertible_to<T> From>
  placed(From&& from, std::source_location at = std::source_location::current())  // implicit: that is its use
      : value(std::forward<From>(from)), where(at) {}
  T value;
  std::source_location where;
};

/// Stands where an argument could. One object for all calls: a temporary in a coroutine would be a part of its frame. Not made by `{}`, which a
/// user may write.
struct absent_t {
  explicit constexpr absent_t() = default;
};
inline constexpr absent_t absent{};
using no_argument = const absent_t&;

template <class T>
concept is_absent = std::same_as<std::remove_cvref_t<T>, absent_t>;

/// How many arguments can be given beside a place.
inline constexpr std::size_t arguments_with_place = 6;

/// `call` with the arguments that are there; those that are absent come last.
template <class Call, class... Args>
decltype(auto) with_given(Call&& call, Args&&... args) {
  if constexpr ((is_absent<Args> || ...)) {
    constexpr std::size_t given = (std::size_t{0} + ... + std::size_t{!is_absent<Args>});
    auto all = std::forward_as_tuple(std::forward<Args>(args)...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
      return std::forward<Call>(call)(std::get<I>(std::move(all))...);
    }(std::make_index_sequence<given>{});
  } else {
    return std::forward<Call>(call)(std::forward<Args>(args)...);
  }
}

template <class Given, class F, class... Args>
struct invocable_with;
template <class... Given, class F, class... Rest>
struct invocable_with<std::tuple<Given...>, F, Rest...> : std::is_invocable<F, Given...> {};
template <class... Given, class F, class First, class... Rest>
  requires(!is_absent<First>)
struct invocable_with<std::tuple<Given...>, F, First, Rest...>
    : invocable_with<std::tuple<Given..., std::decay_t<First>>, F, Rest...> {};

/// F can be called with copies of those of Args that are there.
template <class F, class... Args>
concept invocable_with_given = invocable_with<std::tuple<>, std::decay_t<F>, Args...>::value;

}  // namespace faio::context
