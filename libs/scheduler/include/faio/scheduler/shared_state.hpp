// shared_state -- what the workers of one runtime have in common: the pools, who is where, and the way from start to stop.
//
// from      event                     to        posts from outside   workers
// running   begin_stop()              stopping  refused              run what is queued, then sleep
// stopping  end_workers()             leaving   refused              leave after the task that runs
// leaving   the last thread joined    ended     refused              none; what is left over is dropped
//
// Thread roles: all functions are for any thread unless they say otherwise; _mutex guards who is attached, not the work.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "faio/scheduler/blocking_threads.hpp"
#include "faio/scheduler/config.hpp"
#include "faio/scheduler/errors.hpp"
#include "faio/scheduler/export.hpp"
#include "faio/scheduler/gathering.hpp"
#include "faio/scheduler/metrics.hpp"
#include "faio/scheduler/pool.hpp"
#include "faio/scheduler/residents.hpp"
#include "faio/scheduler/worker.hpp"

namespace faio::scheduler {

/// A runtime that would have to wait for the thread that destroys it: says so on stderr and ends the program.
[[noreturn]] FAIO_SCHEDULER_API void die_on_own_worker() noexcept;

class FAIO_SCHEDULER_API shared_state {
 public:
  using time_point = ioengine::time_point;

  /// Starts the workers. Throws std::invalid_argument for a nonsensical config, std::system_error when an engine that was asked
  /// for by name is refused; its message names the policy and the remedy.
  explicit shared_state(config wanted);
  shared_state(const shared_state&) = delete;
  shared_state& operator=(const shared_state&) = delete;
  /// Not on one of its workers: die_on_own_worker(). Waits for user code that runs.
  ~shared_state();

  // ---- Work. False: refused, the item stays with the caller.

  /// Any worker. From a worker of this runtime: gathered with the others of its turn.
  bool post(work_item& item);
  /// Any worker, for what was begun before and can go on: not refused by a runtime that is stopping, only by one that has ended.
  bool post_again(work_item& item);
  /// The compute workers; they are started with the first.
  bool post_compute(work_item& item);
  /// That worker alone.
  bool post_to(std::size_t id, work_item& item);
  /// That worker alone; when it has left meanwhile, any. False: there is none any more.
  bool post_to(worker& target, work_item& item);
  /// That worker first, and whoever helps it; when it has left meanwhile, any.
  void hand_to(worker& target, std::span<work_item* const> items);
  /// Threads that may block.
  bool post_blocking(work_item& item);
  /// Of two I/O workers drawn at random, the one with fewer timers. A host is none of them: it may not come back.
  bool post_to_fewest_timers(work_item& item);

  // ---- Workers.

  /// The I/O worker with the fewest residents, for one more, of those that are homes. A host is none of them: it may not come back. Null: there is none any more.
  [[nodiscard]] worker* emptiest_home();
  /// A worker, now and then when it is busy: on which workers connections live from now on (gathering.hpp). `hold_up`: it holds others up.
  void choose_homes(bool hold_up);
  /// One worker less is a home, of two at the least; what choose_homes() does when it sees fit.
  void gather();
  /// True: not on all.
  [[nodiscard]] bool gathered() const noexcept {
    return _gathered.load(std::memory_order_relaxed);
  }  // relaxed: a choice
  std::expected<std::size_t, std::error_code> attach(worker_kind kind);
  /// Waits until it has left, unless it is called on a worker.
  std::expected<void, std::error_code> detach(std::size_t id);
  /// Makes the calling thread a worker; it drives it by itself and ends it by unhost().
  std::expected<worker*, std::error_code> host();
  void unhost(worker& hosted);

  // ---- The end.

  void begin_stop();
  /// For a stop that nobody waits for: the workers leave by themselves when all is quiet, or at the deadline.
  void leave_when_quiet(time_point deadline);
  /// True when all workers sleep and nothing is queued, before the deadline.
  bool wait_until_quiet(time_point deadline);
  /// Asks all to leave; true when all have, before the deadline.
  bool end_workers(time_point deadline);
  /// After all have left: everything that will never run is dropped.
  void drop_leftovers();
  [[nodiscard]] bool accepts_work() const noexcept { return _phase.load(std::memory_order_acquire) == phase::running; }
  [[nodiscard]] bool ended() const noexcept { return _phase.load(std::memory_order_acquire) == phase::ended; }
  [[nodiscard]] bool stopping() const noexcept { return !accepts_work(); }
  /// The workers have been told to leave: what waits in a queue will not run any more.
  [[nodiscard]] bool workers_leave() const noexcept { return _phase.load(std::memory_order_acquire) >= phase::leaving; }

  // ---- What it knows.

  [[nodiscard]] runtime_metrics metrics() const;
  /// Where the callables were posted that run now, and the watches whose callbacks do. A moment's view.
  [[nodiscard]] std::vector<std::source_location> running_callables() const;
  /// Counts it and tells the config's handler, or stderr.
  void report_unhandled(std::exception_ptr what, const std::source_location& where) noexcept;
  [[nodiscard]] const ioengine::clock& time() const noexcept;
  [[nodiscard]] std::uint64_t next_seed() noexcept;

  /// Set by the layer above before there is work: on whose behalf runs what belongs to nobody else.
  ambient_scope* root = nullptr;
  const config settings;
  const std::shared_ptr<scheduler::residents> residents = std::make_shared<scheduler::residents>();
  pool io;
  pool compute;

  // ---- For its workers and helpers.

  /// A thread that may block, about itself: its name and its processors.
  void begin_blocking_thread() const;

  /// A worker that goes to sleep: stop() may be waiting for that.
  void tell_quiet();
  /// How long a sleeper may sleep until it must look whether it is time to leave. Empty: as it likes.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> time_to_stop() const;
  /// A worker that leaves and has nobody to hand these to.
  void leave_over(std::vector<work_item*> items);
  void engine_is(const ioengine::engine& made);

  // ---- end of the public interface ----

 private:
  enum class phase : std::uint8_t { running, stopping, leaving, ended };
  struct seat {
    std::unique_ptr<worker> occupant;
    std::thread thread;
    std::size_t id = 0;
    bool active = false;  // can be addressed
    bool open = false;    // can be delivered to: until its thread winds it down
    bool hosted = false;
    bool counted = false;  // its numbers are not among _departed yet
    bool exited = false;   // its thread is about to end: join does not wait for user code
  };

  pool& pool_of(worker_kind kind) noexcept { return kind == worker_kind::io ? io : compute; }
  std::expected<seat*, std::error_code> take_seat(worker_kind kind);
  std::expected<std::size_t, ioengine::setup_error> start(worker_kind kind);
  std::expected<void, ioengine::setup_error> begin_on_this_thread(seat& at);
  void thread_main(seat& at, void* startup);
  std::error_code start_compute_workers();
  void pin(const worker& who) const;
  void run_anywhere() const;
  void deactivate(seat& at);
  [[nodiscard]] bool quiet() const;
  void ask_all_to_leave();
  [[nodiscard]] std::size_t active_of(worker_kind kind) const;
  seat* find(std::size_t id);
  /// Under the lock.
  [[nodiscard]] bool is_open(const worker& target) const;
  /// An I/O worker to which timers and connections may be given for long: no host, which may not come back.
  [[nodiscard]] static bool is_lasting(const seat& at) noexcept {
    return at.active && !at.hosted && at.occupant->kind() == worker_kind::io;
  }
  template <class Wanted>
  [[nodiscard]] worker* emptiest(Wanted wanted) const;
  void use_homes(gathering::advice advice);

  std::atomic<phase> _phase{phase::running};
  mutable std::mutex _mutex;
  std::condition_variable _changed;
  std::vector<std::unique_ptr<seat>> _seats;
  std::vector<work_item*> _leftovers;
  gathering _gathering;
  std::atomic<bool> _gathered{false};
  std::vector<int> _processors;  // with pin_threads: those that the thread that made the runtime may use
  worker_metrics _departed;
  std::recursive_mutex _dropping;  // drop_leftovers() is done when it returns, whoever else calls it too
  std::size_t _next_id = 0;
  bool _leave_when_quiet = false;
  time_point _stop_deadline = time_point::max();
  std::atomic<bool> _compute_started{false};
  std::mutex _compute_starting;
  std::atomic<std::uint64_t> _unhandled{0};
  std::atomic<std::uint64_t> _seed;
  ioengine::engine_kind _engine_kind = ioengine::engine_kind::automatic;
  std::string _engine_reason;
  blocking_threads _blocking;
};

}  // namespace faio::scheduler
