// job -- a callable as a work item: runs once on behalf of the scope that posted it, then frees itself.
#pragma once

#include <chrono>
#include <concepts>
#include <exception>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "faio/scheduler/frame_allocator.hpp"
#include "faio/scheduler/shared_state.hpp"
#include "faio/scheduler/thread_state.hpp"
#include "faio/scheduler/timer_item.hpp"
#include "faio/scheduler/work_item.hpp"

namespace faio::scheduler {

/// What can be posted: called without arguments, once; what it returns is dropped.
template <class F>
concept callable = std::invocable<std::decay_t<F>&> && std::constructible_from<std::decay_t<F>, F>;

namespace detail {

/// What all jobs share: whose they are, where they were posted, and what becomes of what they throw.
class job_core {
 public:
  job_core(shared_state& runtime, const std::source_location& where) noexcept
      : _runtime(runtime), _where(where), _scope(scope_of_caller(runtime)) {
    if (_scope != nullptr) _scope->retain();
  }
  job_core(const job_core&) = delete;
  job_core& operator=(const job_core&) = delete;
  ~job_core() {
    if (_scope != nullptr) _scope->release();
  }

  template <class F>
  void call(F& f) noexcept {
    thread_state& here = this_thread();
    here.scope = _scope;
    if (here.current != nullptr) here.current->runs_callable(_where);
    try {
      static_cast<void>(f());
    } catch (...) {
      _runtime.report_unhandled(std::current_exception(), _where);
    }
    if (here.current != nullptr) here.current->runs_callable({});
    here.scope = nullptr;
  }

 private:
  /// A thread of another runtime works on behalf of a scope that this one neither waits for nor stops.
  static ambient_scope* scope_of_caller(const shared_state& runtime) noexcept {
    const thread_state& here = this_thread();
    return here.runtime == &runtime ? here.scope : nullptr;
  }

  shared_state& _runtime;
  std::source_location _where;
  ambient_scope* _scope;
};

/// Memory from the frames' lists; from the heap for a callable with a larger alignment than theirs.
struct recycled {
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void* operator new(std::size_t size, std::align_val_t alignment) { return ::operator new(size, alignment); }
  static void operator delete(void* memory, std::size_t size) noexcept { free_frame(memory, size); }
  static void operator delete(void* memory, std::size_t size, std::align_val_t alignment) noexcept {
    ::operator delete(memory, size, alignment);
  }
};

/// `delay` from `now`; a delay past the end of time is the end of time.
[[nodiscard]] inline ioengine::time_point after(ioengine::time_point now, std::chrono::nanoseconds delay) noexcept {
  return delay < ioengine::time_point::max() - now ? now + delay : ioengine::time_point::max();
}

template <class F>
class job final : public work_item, public recycled {
 public:
  template <class G>
  job(shared_state& runtime, const std::source_location& where, G&& f)
      : work_item(how), _core(runtime, where), _f(std::forward<G>(f)) {}

 private:
  static void run_it(work_item& item) noexcept {
    auto& self = static_cast<job&>(item);
    self._core.call(self._f);
    delete &self;
  }
  static void drop_it(work_item& item) noexcept { delete &static_cast<job&>(item); }
  static constexpr operations how{&run_it, &drop_it};

  job_core _core;
  F _f;
};

/// Runs first on the worker whose wheel it shall wait in, and once more when it is due. A worker that leaves sends it through the
/// queue: then it runs elsewhere, and waits there for the rest of its time.
template <class F>
class timed_job final : public timer_item, public recycled {
 public:
  template <class G>
  timed_job(shared_state& runtime, const std::source_location& where, ioengine::time_point when, G&& f)
      : timer_item(how, &fire), _core(runtime, where), _when(when), _f(std::forward<G>(f)) {}

 private:
  static void run_it(work_item& item) noexcept {
    auto& self = static_cast<timed_job&>(static_cast<timer_item&>(item));
    if (!self._due) {
      current_worker()->arm(self, self._when);
      return;
    }
    self._core.call(self._f);
    delete &self;
  }
  static void drop_it(work_item& item) noexcept { delete &static_cast<timed_job&>(static_cast<timer_item&>(item)); }
  static void fire(ioengine::timer_entry& timer) noexcept {
    auto& self = static_cast<timed_job&>(static_cast<timer_item&>(timer));
    self._due = true;
    current_worker()->push_private(self);
  }
  static bool moves(timer_item& /*item*/) noexcept { return true; }
  static constexpr timer_operations how{{&run_it, &drop_it}, &moves};

  job_core _core;
  ioengine::time_point _when;
  bool _due = false;
  F _f;
};

/// Gives the item to `schedule`, which says whether it took it; otherwise frees it and throws.
template <class Item, class Schedule>
void schedule_or_throw(Item* item, Schedule&& schedule, errc why) {
  if (schedule(*item)) return;
  static_cast<work_item*>(item)->drop();
  throw std::system_error(make_error_code(why));
}

template <class F>
auto make_job(shared_state& runtime, const std::source_location& where, F&& f) {
  return new job<std::decay_t<F>>(runtime, where, std::forward<F>(f));
}
template <class F>
auto make_timed_job(shared_state& runtime, const std::source_location& where, ioengine::time_point when, F&& f) {
  return new timed_job<std::decay_t<F>>(runtime, where, when, std::forward<F>(f));
}

}  // namespace detail
}  // namespace faio::scheduler
