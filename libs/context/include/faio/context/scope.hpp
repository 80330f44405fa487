// scope -- on whose behalf a coroutine runs: what must end before somebody goes on, and what a stop request reaches.
//
//   root of the runtime
//     ├── block_on ── spawned ── spawned              every arrow is one count in the scope above: a scope is complete when
//     │        └───── spawned                         its own task has ended and all scopes beneath it are complete
//     └── spawned from outside
//
// A scope travels with the coroutine, in its promise; the thread only knows that of what runs on it now (thread_state). So it
// is right after a sleep, a steal, or on a compute worker.
//
// I1  A scope outlives everything beneath it: each scope beneath holds one count of it.
// I2  A task whose handle was dropped cannot be stopped on its own any more: what it spawns hangs beneath the next scope that can
//     be (anchor). So a chain of tasks in which each spawns the next does not keep all of its links. Scope.AChainDoesNotGrow
// I3  A scope becomes a listener of the one above when something in it first wants to know of a stop request: most tasks never pay for it.
//     A std::stop_source is made only for a user who asks for the token.
// I4  A shielded scope is counted by the one above like any other, but does not hear its stop requests: shield.hpp.
//
// A stop request walks down the tree of those that are linked: stop_list.hpp. It needs no memory and no recursion, and holds nobody up but those
// whom it is just telling.
//
// Rejected: one counter for each block_on, and a set of live tasks for stopping. It needs a second count for the lifetime of what a
// child's stop request goes through; here it is the same one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <stop_token>

#include "faio/context/export.hpp"
#include "faio/context/group_counter.hpp"
#include "faio/context/stop_list.hpp"
#include "faio/scheduler/thread_state.hpp"

namespace faio::context {

class runtime_core;
using stop_list = basic_stop_list<std_atomics>;

class stop_listener;

/// In front of the listener's own fields, behind which there is room for a small one of a wait's: 16 bytes of every task that sleeps.
struct told_by {
  struct ways {
    /// On the thread that requests the stop. For one that stands for a list: gives it, as often as asked. For others: at most once, and null;
    /// brief, and does not wait for a task.
    stop_list* (*tell)(stop_listener&) noexcept;
  };
  const ways& _ways;
};

/// Who wants to know of a stop request. Its owner takes it out again before it goes: scope::unsubscribe.
///
/// What it does is a table that stays, not virtual functions: a wait whose frame is destroyed takes itself out in a destructor, and on the way there
/// each destructor changes which virtual functions are the object's, while the one who tells may be calling them.
/// ShutdownEverywhere.AFrameIsDestroyedWhileAStopRequestComesToItsWait
class stop_listener : told_by, public basic_stop_listener<std_atomics> {
 public:
  using told_by::ways;
  [[nodiscard]] stop_list* tell() noexcept { return _ways.tell(*this); }

 protected:
  explicit stop_listener(const ways& how) noexcept : told_by{how} {}
  ~stop_listener() = default;
  [[nodiscard]] const ways& how_to_tell() const noexcept { return _ways; }

  /// For a `Listener` with stop_asked(), whose friend this class is.
  template <class Listener>
  static stop_list* tell_one(stop_listener& one) noexcept {
    static_cast<Listener&>(one).stop_asked();
    return nullptr;
  }
  template <class Listener>
  static constexpr ways tells{&tell_one<Listener>};
};

namespace detail {
struct listener_and_more : stop_listener {
  std::uint32_t more;
};
static_assert(sizeof(listener_and_more) == sizeof(stop_listener), "there is room behind a listener's fields");
}  // namespace detail

class FAIO_CONTEXT_API scope : public scheduler::ambient_scope, stop_listener {
 public:
  /// Takes over one count of `above`, if there is one, that the caller holds.
  scope(runtime_core& runtime, scope* above, bool shielded = false) noexcept
      : stop_listener(stands_for_list),
        _depth(depth_beneath(above) & max_depth),
        _shielded(shielded ? 1 : 0),
        _runtime(runtime),
        _above(above) {}

  /// Somebody inside. One more to wait for.
  void retain() noexcept final { _inside.enter(); }
  /// Somebody inside. One less; the scope, and those above it, may be complete and gone afterwards.
  void release() noexcept final { release(1); }
  /// The same for several at once.
  void retain(std::uint32_t count) noexcept { _inside.enter(count); }
  void release(std::uint32_t count) noexcept;

  /// Somebody inside, on the thread of a stop request or not: as release(), but while this thread tells others of a stop request, later. What
  /// it has yet to tell may be what would be gone.
  void release_later() noexcept;

  /// Somebody inside. False: stop has been requested, and it will not be told.
  [[nodiscard]] bool subscribe(stop_listener& one) {
    if (!_listeners.is_linked()) link();
    return _listeners.add(one);
  }
  /// Somebody inside, for one that was added. Nobody tells it any more.
  void unsubscribe(stop_listener& one) noexcept { _listeners.remove(one); }

  /// Somebody inside.
  [[nodiscard]] std::stop_token token();
  [[nodiscard]] bool stop_requested() const noexcept;
  /// Somebody inside, or the handle of its task. True: it was the first to ask.
  bool request_stop() noexcept;

  /// Somebody inside. The nearest scope that can still be stopped on its own: where what is spawned here hangs.
  [[nodiscard]] scope& anchor() noexcept;
  /// For a stop_relay.
  [[nodiscard]] stop_list& listeners() noexcept { return _listeners; }
  /// More than that of what made it, and than that of the one above, which may be another one (anchor): at the end of the runtime frames are
  /// destroyed from the deepest, so a child's before that of the one who may have lent it something.
  [[nodiscard]] std::uint32_t depth() const noexcept { return _depth; }
  /// Somebody inside `other`, and any who holds this one. Whether each stop request for `other` reaches this one too: it was made beneath
  /// `other`, or beneath a scope above with none between them that can still be stopped on its own. Compares addresses: the one above
  /// this one may be gone.   SpawnTest.AChildStaysOnesOwnWhenAHandleAboveIsDropped
  [[nodiscard]] bool stops_with(const scope& other) const noexcept { return other.reaches(heard()); }
  /// The same, asked of the other one: whether each stop request for this one reaches what hears `heard`.
  [[nodiscard]] bool reaches(const scope* heard) const noexcept;
  [[nodiscard]] runtime_core& runtime() const noexcept { return _runtime; }
  /// Somebody inside, and not of the root.
  [[nodiscard]] scope& above() const noexcept { return *_above; }

  /// Whoever spawns, on a worker, in a run of its own (promise_base::run_it): one count of the scope above what it spawns. Who spawns many would meet those who
  /// end on another worker at this one number each time; so it takes several at once, and settle() gives back what is left.
  [[nodiscard]] scope& take_prepaid(scheduler::thread_state::prepaid_counts& prepaid) noexcept;
  /// The same thread: before the run ends, before the scope in which it spawned does, and before it goes on in another one.
  static void settle(scheduler::thread_state& here) noexcept {
    if (here.prepaid.spawner != nullptr) [[unlikely]]
      give_back(here.prepaid);
  }

  /// The calling thread's, if it works for this runtime; else the runtime's root.
  [[nodiscard]] static scope& current(runtime_core& runtime) noexcept;

  // ---- end of the public interface ----

 protected:
  ~scope();
  /// Called once, by the last to leave. May free the scope. Nothing beneath it is left.
  virtual void complete() noexcept = 0;
  /// Somebody inside. False: only with the scope above.
  [[nodiscard]] virtual bool can_be_stopped_alone() const noexcept { return true; }
  /// In complete(): no stop request from above reaches it any more.
  void leave_above() noexcept {
    if (is_added()) _above->_listeners.remove(*this);
  }

 private:
  static constexpr std::uint32_t max_depth = (1U << 31) - 1;
  /// One of another runtime's on this thread will do as well: it is only more.
  static std::uint32_t depth_beneath(const scope* above) noexcept {
    if (above == nullptr) return 0;
    const auto* const maker = static_cast<const scope*>(scheduler::this_thread().scope);
    const std::uint32_t least =
        maker == nullptr ? above->_depth : std::max<std::uint32_t>(above->_depth, maker->_depth);
    return std::min(least + 1, max_depth);
  }

  struct user_source;
  static stop_list* list_of(stop_listener& one) noexcept { return &static_cast<scope&>(one)._listeners; }
  static constexpr ways stands_for_list{&list_of};
  /// Whose stop requests reach it: the one above, or nobody's.
  [[nodiscard]] scope* heard() const noexcept { return _shielded != 0 ? nullptr : _above; }
  void link();
  static void tell_all(stop_list& asked) noexcept;
  static void give_back(scheduler::thread_state::prepaid_counts& prepaid) noexcept;

  // Every task has one: ordered, and packed, for size.
  const std::uint32_t _depth : 31;
  const std::uint32_t _shielded : 1;  // does not hear the one above
  runtime_core& _runtime;
  scope* const _above;
  [[no_unique_address]] stop_list _listeners;
  group_counter _inside;
  std::atomic<user_source*> _user{nullptr};
};

/// Passes a stop request for the scope that it listens to on to another one.
class stop_relay final : public stop_listener {
 public:
  explicit stop_relay(stop_list& to) noexcept : stop_listener(stands_for_list), _to(to) {}

 private:
  static stop_list* list_of(stop_listener& one) noexcept { return &static_cast<stop_relay&>(one)._to; }
  static constexpr ways stands_for_list{&list_of};

  stop_list& _to;
};

}  // namespace faio::context
