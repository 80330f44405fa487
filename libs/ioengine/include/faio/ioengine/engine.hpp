// engine -- takes operations, hands them to the kernel in batches, and calls their completion functions. Start here.
//
//   auto made = engine::create();                       // on the thread that will own it
//   if (!made) die(made.error().message);
//   engine& io = **made;
//   io.submit(op);                                      // nothing happens yet
//   while (op.in_flight()) io.wait_and_drive();         // submits, sleeps, calls op's function   tests/first_engine.cpp
//
//   any thread ----wake()-------------------+
//                                           v
//   owner -> submit -> [batch] -> drive / wait_and_drive -> completion functions -> ...
//                                           ^
//   timers -> timer_wheel ------------------+
//
// Invariants
//   I1 An engine belongs to the thread that made it, and is used and destroyed there; only wake() is for others. (The ring
//      takes submissions from its own thread alone, and that is what makes it fast.) Asserted in debug builds.
//   I2 Completion functions and timers run inside drive, wait_and_drive and drain only. They may submit, cancel, add and
//      cancel timers; they may not drive, drain or destroy the engine.
//   I3 Nothing is lost and nothing spins: what does not fit into the kernel's rings waits in an intrusive list.
//                                                                     EngineTest.CompletesAHundredThousandOperationsOnA64EntryRing
//
// After a fork the child has no engine: it may exec, exit, and destroy the object (which closes its copies of descriptors and
// touches nothing that the parent sees). Nothing else; operations that were in flight are so for ever there. The parent goes on
// undisturbed. ForkTest
//
// Rejected: a template parameter for the kind of engine. It spreads through everything above, and saves one indirect call on
// each turn of the loop. A submit of the common kind writes its entry of the ring without a call (submission_window.hpp), and completions
// call the operation's own function and meet no engine type.
#pragma once

#include <cassert>
#include <chrono>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "faio/ioengine/clock.hpp"
#include "faio/ioengine/engine_options.hpp"
#include "faio/ioengine/export.hpp"
#include "faio/ioengine/operation.hpp"
#include "faio/ioengine/result.hpp"
#include "faio/ioengine/submission_window.hpp"
#include "faio/ioengine/timer_wheel.hpp"
#include "faio/ioengine/waker.hpp"

namespace faio::ioengine {

namespace detail {
template <class Kind>
class engine_loop;
}

class FAIO_IOENGINE_API engine {
 public:
  /// Makes an engine for the calling thread. `automatic` takes io_uring unless the machine refuses it; a kind asked for by
  /// name is that kind or an error. The error's message names the limit or policy that refused, and the remedy.
  [[nodiscard]] static std::expected<std::unique_ptr<engine>, setup_error> create(const engine_options& options = {});

  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Owner only. Drains: completion functions may still be called from here. Timers that are pending do not fire.
  virtual ~engine();

  /// Owner only. Starts the operation; its function is called from a later drive. Any error, also a bad descriptor, arrives
  /// there. False, and a debug assert: it is in flight already; nothing was done.
  bool submit(operation& op) noexcept {
    assert(_owner == std::this_thread::get_id() && "submit on a thread that does not own the engine");
    if (_special != 0 || !_window.has_room() || !detail::submission_window::is_plain(op)) [[unlikely]]
      return submit_otherwise(op);
    ++_in_flight;
    _window.submit(op);
    return true;
  }

  /// Owner only. Asks for an early end: the operation completes exactly once all the same, with -ECANCELED or, if it was
  /// faster, what it would have given. False: it is not in flight. It must be in flight at this engine.
  bool cancel(operation& op) noexcept;

  /// Owner only. Submits the batch, completes what has come, fires the timers that are due; does not block. Gives the number of
  /// functions called. Costs no system call when there is nothing to submit and nothing has come (epoll: nothing in flight).
  virtual std::size_t drive() noexcept = 0;

  /// Owner only. Whether a drive now might well call a function, as far as that can be told without a system call: something has come, a timer is
  /// due, or there is an operation among the submitted that the kernel often completes at once, a send say. False: what was submitted can as well go
  /// to the kernel with the next wait_and_drive, in one system call.
  [[nodiscard]] bool answers_soon() const noexcept { return has_ready() || is_timer_due() || expects_answers(); }

  /// Owner only. As drive, but sleeps until something has completed, a timer is due, wake() was called, or the deadline has
  /// passed; 0 in the last two cases. Signals do not end it.
  virtual std::size_t wait_and_drive(time_point deadline) noexcept = 0;
  std::size_t wait_and_drive() noexcept { return wait_and_drive(time_point::max()); }

  /// Any thread. The wait_and_drive that is running, or else the next one, returns; what was written before the call is visible
  /// to the owner then. No system call unless the owner sleeps. The engine must outlive the call.
  void wake() noexcept {
    if (_waker.notify()) end_sleep();
  }

  /// Owner only. Cancels everything in flight and returns when all of it has completed. What completion functions submit
  /// meanwhile ends with -ECANCELED too. Timers stay. The engine can be used afterwards.
  void drain() noexcept;

  /// Owner only. `timer_wheel::add`, `rearm` and `cancel`: the entry fires in the first drive after its deadline.
  void add_timer(timer_entry& timer, time_point deadline) noexcept;
  void rearm_timer(timer_entry& timer, time_point deadline) noexcept;
  bool cancel_timer(timer_entry& timer) noexcept;
  /// Owner only. From now on at most so many fire in one drive, and the rest in the next ones, before those that are due later: for a loop that has
  /// room for so many. At first there is no limit.
  void limit_timers(std::size_t most) noexcept { _most_timers = most; }
  /// Owner only. The same for completion functions, by and large: what has come beyond that stays where it is until the next drive. At least 1.
  void limit_completions(std::size_t most) noexcept { _most_completions = most; }
  /// Owner only. True: the limit kept some that were due from firing in the last drive.
  [[nodiscard]] bool is_behind() const noexcept { return _wheel.is_behind(); }
  /// Owner only. `timer_wheel::take`: a pending timer that now belongs to the caller, nullptr if there is none; for handing all
  /// of them to another engine. Timeouts that are operations are not among the caller's: drain() first.
  [[nodiscard]] timer_entry* take_timer() noexcept { return _wheel.take(); }

  /// Owner only. Timers that are pending.
  [[nodiscard]] std::size_t timers() const noexcept { return _wheel.size(); }
  /// Owner only. When the next timer is due.
  [[nodiscard]] std::optional<time_point> next_deadline() const noexcept { return _wheel.next_deadline(); }
  /// Owner only. Operations submitted and not completed.
  [[nodiscard]] std::size_t in_flight() const noexcept { return _in_flight; }

  /// Owner only. How many of them go to the kernel with the next drive, in one system call; 0 for engines that do not gather them.
  [[nodiscard]] virtual std::size_t unsubmitted() const noexcept { return 0; }

  /// Any thread. uring, epoll or thread.
  [[nodiscard]] engine_kind kind() const noexcept { return _kind; }
  /// Any thread. One sentence: what it uses of the kernel, or why it is not uring.
  [[nodiscard]] const std::string& kind_reason() const noexcept { return _reason; }
  /// Any thread.
  [[nodiscard]] const clock& time() const noexcept { return *_time; }

  /// Owner only. A descriptor that is readable when drive() has something to do, timers and wake() included, for an event loop
  /// of somebody else's; -1 for the thread engine. It stays the engine's. In such a loop: drive() after every submit, and whenever
  /// it is readable.
  [[nodiscard]] int native_handle() noexcept;

  // ---------------------------------------------------------------------------------------- end of the public interface

 protected:
  template <class Kind>
  friend class detail::engine_loop;
  friend class buffer_pool;
  friend class timeout_operation;

  engine(engine_kind kind, const engine_options& options);

  // What a kind of engine does; src/engine_loop.hpp makes the calls above of it. All owner only but end_sleep.
  static constexpr std::chrono::nanoseconds forever{-1};
  virtual bool submit_otherwise(operation& op) noexcept = 0;  // what is not plain, or finds no room in _window
  virtual void ask_to_cancel(operation& op) noexcept = 0;     // op is in a place of the kind's own
  virtual void cancel_all() noexcept = 0;                     // ask_to_cancel for all
  virtual void enter(
      std::chrono::nanoseconds timeout) noexcept = 0;  // submits; blocks at most once, until something came
  virtual std::size_t reap() noexcept = 0;             // completes what has come
  virtual void end_sleep() noexcept = 0;               // any thread: ends an enter that blocks, now or the next
  virtual void keep_going(operation&) noexcept {}      // a multishot operation in the ready list: its place from now on
  [[nodiscard]] virtual bool busy() const noexcept { return false; }  // has work that no descriptor will tell of
  [[nodiscard]] virtual bool expects_answers() const noexcept { return in_flight() != 0; }  // see answers_soon
  virtual int make_handle() noexcept = 0;  // first use of native_handle
  virtual void arm_handle(
      std::chrono::nanoseconds timeout) noexcept = 0;  // the handle shall be readable then, or never
  virtual result<void*> add_pool(buffer_pool& pool) noexcept = 0;
  virtual void remove_pool(buffer_pool& pool) noexcept = 0;

  /// Completes now: calls the function. Nothing of the operation may be touched afterwards.
  void complete(operation& op, int result, std::uint32_t flags) noexcept;
  void complete_plain(operation& op, int result, std::uint32_t flags) noexcept;
  /// Completes in the next drive, never inside the call that is running.
  void complete_later(operation& op, int result, std::uint32_t flags = 0) noexcept;
  /// Something to do without the kernel: a sleep would be wrong.
  [[nodiscard]] bool has_ready() const noexcept { return _ready.next != &_ready; }

  [[nodiscard]] std::size_t most_completions() const noexcept { return _most_completions; }

  /// True in the process that made the engine, false in a child of a fork.
  [[nodiscard]] bool in_own_process() const noexcept;

  bool _poison_buffers;
  /// Why submit may not take its common way: bits, so that it asks once.
  static constexpr std::uint8_t draining = 1U << 0;
  static constexpr std::uint8_t kind_is_special = 1U << 1;  // the kind's own reason
  static constexpr std::uint8_t watched = 1U << 2;          // a sanitizer is told of each operation
  std::uint8_t _special = 0;
  detail::submission_window _window;
  std::string _reason;

 private:
  bool enter_drive() noexcept;
  std::size_t leave_drive(std::size_t called) noexcept;
  std::size_t run_ready() noexcept;
  bool started_here(operation& op) noexcept;
  void rest_with_handle() noexcept;
  [[nodiscard]] std::chrono::nanoseconds time_until(time_point when) const noexcept;
  [[nodiscard]] bool is_timer_due() const noexcept {
    return !_wheel.empty() && *_wheel.next_deadline() <= _time->now();
  }
  void arm_handle_for_timers() noexcept;

  waker<> _waker;
  engine_kind _kind;
  bool _driving = false;
  bool _woken_between = false;  // with a handle: a wake came since the last drive
  int _handle = no_handle;
  int _process;
  std::thread::id _owner;
  std::size_t _in_flight = 0;
  detail::operation_link _ready;
  detail::operation_link _timeouts;
  const clock* _time;
  timer_wheel _wheel;
  std::size_t _most_timers = timer_wheel::unlimited;
  static constexpr std::size_t no_limit = ~std::size_t{0};
  std::size_t _most_completions = no_limit;

  static constexpr int no_handle = -2;  // nobody asked for it yet
};

}  // namespace faio::ioengine
