// task_list -- up to N tasks in place, for a fork whose children are counted only when it is made; as much of std::inplace_vector as that needs.
//
// Rejected: an array of N tasks. All N are made empty and looked at again when they go, in every node of a tree, where most nodes have few children
// (docs/adr/0020).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "faio/context/export.hpp"
#include "faio/context/task.hpp"

namespace faio {

namespace context {
[[noreturn]] FAIO_CONTEXT_API void throw_list_full();
}  // namespace context

/// Effect: keeps tasks where it is itself, in a coroutine's frame say, without memory of its own. It destroys those that were not awaited.
/// Call from: anywhere, one thread at a time. Errors: std::length_error for one more than N, which is destroyed.
///     faio::task_list<int, 8> children; std::array<int, 8> sums;
///     for (int i = 0; i < n; ++i) children.push_back(add(i, i));
///     co_await faio::when_all(children.all(), std::span(sums));                               // tests/when_all_test.cpp
template <class T, std::size_t N>
class task_list {
 public:
  task_list() noexcept {}  // NOLINT(modernize-use-equals-default): of the tasks there is none yet
  task_list(const task_list&) = delete;
  task_list& operator=(const task_list&) = delete;
  ~task_list() { std::destroy_n(_tasks.data(), _count); }

  /// One more, behind the others. std::length_error: there are N already.
  void push_back(task<T> one) {
    if (_count == N) [[unlikely]]
      context::throw_list_full();
    std::construct_at(_tasks.data() + _count, std::move(one));
    ++_count;
  }
  /// How many there are.
  [[nodiscard]] std::size_t size() const noexcept { return _count; }
  /// All of them, for when_all.
  [[nodiscard]] std::span<task<T>> all() noexcept { return {_tasks.data(), _count}; }

  // ---- end of the public interface ----

 private:
  std::size_t _count = 0;
  union {
    std::array<task<T>, N> _tasks;  // of which the first _count are there
  };
};

}  // namespace faio
