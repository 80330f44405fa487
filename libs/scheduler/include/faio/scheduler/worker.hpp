// worker -- one thread's loop: its queues, its engine, and how it finds, steals and waits for work.
//
//          post_to ──> inbox ─┐                        ┌── slot    newest spawned or woken, runs next, at most 3 in a row
//        post_self ──────────> private, never stolen   ├── deque   fork-join children; in `lifo` all spawned tasks. Newest first
//                                                      └── ring    everything else, oldest first; full: half goes to the global queue
//
//   tick:  every io_interval: drive I/O;  every global_queue_interval: the global queue first
//          private, at most 16 in a row -> slot -> deque -> ring -> a batch of the global queue -> drive I/O that is done at once -> search
//          -> drive I/O -> sleep in the engine; a brief sleep drives by itself
//   search: the longest queue of a worker that does not search itself, ties from a random start; then the global queue; then slots. A short
//           queue whose owner gets on well is left alone (queue_view.hpp), and watched as a slot is.
//           The only searcher looks on for some microseconds before it sleeps (linger)
//
// The slot. Taking every spawned task from it would make thieves fight for the tasks of two that only talk to each other, so
// a thief takes a slot only when it found nothing else and the slot's owner has stood still, on the same tick with the same item,
// between two of its looks. Between the two it sleeps with a time limit: it is the watcher (a look that only makes sure before
// a sleep is not the second one: WorkerTest.AThiefSleepsBeforeItTakesASlot). As long as there is one, filling a slot
// wakes nobody; without one it notifies like any other work. A watcher that gets other work to do, or leaves,
// asks for another one. Who was woken and found nothing watches for a while too: two that talk to each other fill a slot and empty it before a woken thief has come. A watcher that finds the slots empty goes to sleep like everybody else, by set_sleeping() and the look after it, so a slot that was filled meanwhile is seen (state_machine.hpp,
// the watcher in the part of the searcher). Kept by WorkerTest.AChildSpawnedBeforeALongSpinStartsElsewhere.
//
// Brief sleeps. A worker that its own I/O has just woken will be woken by it again: it sleeps with a time limit, as one more watcher. So it needs no barrier
// before (state_machine.hpp, e), gives what it has submitted to the kernel in the same system call, and need not be woken for a few completions of
// another worker: it comes by. One that nothing came for sleeps like everybody else the next time. Kept by BriefSleepTest.
// Tasks whose I/O has completed stay where they are unless their owner stands still or has no time to sleep (queue_view.hpp).
//
// Late completions. A ring is driven by its worker alone, so what completes there waits for the end of the task that runs. After a long one, half of what has
// waited goes to a worker that sleeps, and connections live from then on where they were given to: the tasks that compute keep the worker for themselves.
// Kept by LateTest; ADR 22.
//
// Homes. Where workers wait for processors, connections live on some of them only (gathering.hpp). One that is no home does all it did but linger, leaves completions
// of others alone unless their owner stands still for long, and watches less often: it takes a processor from somebody with each look. ADR 30.
//
// Crowds. With more workers than processors, one more that has work takes a processor from those who have. So when as many have work as there are processors, a
// long queue, or a share of the global one, wakes nobody while somebody watches, as for a slot; and a thief takes only from an owner that stands still. One who falls asleep then watches, if nobody else
// does. Forks, posts from outside and private work wake as ever. Kept by CrowdTest; ADR 31.
//
// Thread roles: "Owner only" is the worker's thread. Fields are grouped by who writes them.
//
// Rejected: a wake for each filled slot. Two tasks that wake each other would wake a third worker every time: a system call each.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <memory>
#include <optional>
#include <random>
#include <source_location>
#include <span>
#include <thread>
#include <vector>

#include "faio/ioengine/buffer_pool.hpp"
#include "faio/ioengine/engine.hpp"
#include "faio/queue/deque.hpp"
#include "faio/queue/inbox.hpp"
#include "faio/queue/local_queue.hpp"
#include "faio/scheduler/config.hpp"
#include "faio/scheduler/export.hpp"
#include "faio/scheduler/fresh_wait.hpp"
#include "faio/scheduler/gathering.hpp"
#include "faio/scheduler/metrics.hpp"
#include "faio/scheduler/parcel.hpp"
#include "faio/scheduler/pool.hpp"
#include "faio/scheduler/processor_time.hpp"
#include "faio/scheduler/queue_atomics.hpp"
#include "faio/scheduler/queue_view.hpp"
#include "faio/scheduler/thread_state.hpp"
#include "faio/scheduler/work_item.hpp"

namespace faio::scheduler {

class shared_state;
class timer_item;

class FAIO_SCHEDULER_API worker {
 public:
  worker(shared_state& runtime, pool& home, worker_kind kind, std::size_t station);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  // ---- What runs on the worker calls these. Owner only.

  /// May run next: the slot, and what was there goes to the ring. For a task that was just spawned or woken. In `lifo`: the deque.
  void push_next(work_item& item);
  /// To the back of the ring.
  void push_back(work_item& item) {
    note_ring_has(of_others);
    put_into_ring(item);
    notify_of_ring();
  }
  /// As push_back, for one that runs here and gives way: if there is nobody to give way to it goes on at once, and nobody need come for it.
  void push_behind(work_item& item) {
    const bool alone = queue_length() == 0 && _slot.load(std::memory_order_relaxed) == nullptr;  // relaxed: our own
    note_ring_has(of_others);
    put_into_ring(item);
    if (!alone) notify_of_ring();
  }
  /// As push_back, for completions: they wake nobody one by one (drive_io).
  void push_quietly(work_item& item) {
    if (_ring.empty()) note_ring_has(of_completions);
    put_into_ring(item);
  }
  /// Children of a fork, `child(0)` to `child(count - 1)`; the last one is popped first.
  template <class Child>
  [[gnu::always_inline]] void fork(std::size_t count, Child child) {
    _deque.push_all(count, [&](std::size_t i) -> work_item* { return &child(i); });
    _pool.notify_one();
  }
  void fork(work_item& child) {
    _deque.push(&child);
    _pool.notify_one();
  }
  /// The newest of the deque, or null.
  work_item* pop_fork() {
    work_item* item = nullptr;
    return _deque.pop_into(item) ? item : nullptr;
  }
  /// Never stolen.
  void push_private(work_item& item) {
    _private.push_back(&item);
    if (!_inside) _engine->wake();  // a host's thread between two calls: its handle tells
  }
  /// To the global queue: with batch_posts at the end of the turn, together with the turn's others.
  void post_global(work_item& item);

  /// False: so many coroutines have followed each other without coming back to the loop that it is the loop's turn: bounce.
  [[nodiscard]] bool may_transfer() noexcept { return --_transfers > 0; }
  /// The loop runs it next, unless others have waited too long for the thread.
  void bounce(work_item& item) noexcept { _bounced = &item; }

  /// A callable that was posted there begins; it has ended: the default value. For the report of stop().
  void runs_callable(std::source_location where) noexcept {
    _callable.store(where, std::memory_order_relaxed);
  }  // relaxed: static text
  [[nodiscard]] ioengine::engine& io() noexcept { return *_engine; }
  /// Buffers of its engine for whoever receives before anybody asks; made with the first call. Null: its engine has none, or there was no memory.
  [[nodiscard]] ioengine::buffer_pool* buffers() noexcept {
    return _buffers != nullptr ? _buffers.get() : make_buffers();
  }
  /// Owner only. Waits that began since it last drove its engine.
  [[nodiscard]] fresh_waits& fresh() noexcept { return _fresh; }
  /// True while the worker is leaving: what its engine cancels was not asked for, and goes on elsewhere.
  [[nodiscard]] bool leaving() const noexcept { return _leave.load(std::memory_order_relaxed); }

  // ---- Any thread.

  [[nodiscard]] std::size_t id() const noexcept { return _id; }
  [[nodiscard]] worker_kind kind() const noexcept { return _kind; }
  [[nodiscard]] shared_state& runtime() const noexcept { return _runtime; }
  [[nodiscard]] pool& home() const noexcept { return _pool; }
  /// How much others could take. A moment's view.
  [[nodiscard]] std::size_t queue_length() const noexcept { return _ring.size() + _deque.size(); }
  /// Something to run, wherever it came from. A moment's view.
  [[nodiscard]] bool has_work() const noexcept {
    return queue_length() != 0 || !_inbox.empty() ||
           _slot.load(std::memory_order_relaxed) != nullptr;  // relaxed: a view
  }
  [[nodiscard]] std::size_t timers() const noexcept { return _timers.get(); }
  /// Where the callable that runs now was posted; line 0: none runs.
  [[nodiscard]] std::source_location callable_place() const noexcept {
    return _callable.load(std::memory_order_relaxed);
  }  // relaxed: a view
  [[nodiscard]] std::size_t station() const noexcept { return _station; }
  /// Connections may live there. False: they have gathered on others (gathering.hpp).
  [[nodiscard]] bool is_home() const noexcept { return _is_home.load(std::memory_order_relaxed); }  // relaxed: a choice
  /// What it did lately; nothing if it has done nothing for a while.
  [[nodiscard]] gathering::load recent_load(gathering::time_point now) const noexcept;
  /// Owner only. Into its wheel.
  void arm(timer_item& timer, ioengine::time_point deadline) noexcept;
  /// Owner only. False: it was not pending.
  bool disarm(timer_item& timer) noexcept;
  [[nodiscard]] worker_metrics metrics() const noexcept;

  // ---- For the runtime that owns it.

  /// Under the pool's lock, while it is a member.
  void wake() noexcept { _engine->wake(); }
  /// Under the runtime's lock, while it is active. Runs on this worker alone.
  void deliver(parcel what) {
    if (_inbox.push(what)) _engine->wake();
  }
  void set_home(bool may_live_here) noexcept {
    _is_home.store(may_live_here, std::memory_order_relaxed);
  }  // relaxed: as is_home()
  /// Any thread. The loop ends after the task that runs.
  void ask_to_leave() noexcept { _leave.store(true, std::memory_order_relaxed); }

  /// The thread that will be the owner. Makes the engine and joins the pool; an error otherwise.
  [[nodiscard]] std::expected<void, ioengine::setup_error> begin(std::size_t id);
  /// Owner only. Runs until it is asked to leave.
  void loop();
  /// Owner only. As much as there is, at most `most` tasks; if there is nothing, waits until the deadline for something.
  std::size_t run_some(ioengine::time_point deadline, std::size_t most);
  /// Owner only. It lives on a thread of the user's, which may not come back.
  [[nodiscard]] bool hosted() const noexcept { return _hosted; }
  void set_hosted() noexcept { _hosted = true; }
  /// Owner only. True inside loop() or run_some(): something of the worker's is running.
  [[nodiscard]] bool inside() const noexcept { return _inside; }
  /// Owner only. Hands everything over to the others, ends its engine, leaves the pool.
  void wind_down();

  // ---- end of the public interface ----

 private:
  static constexpr std::size_t ring_capacity = 256;
  /// A thief that holds the slot of a worker that stands still: looks again after this, then after each `watch_interval`.
  static constexpr std::chrono::microseconds first_watch{100};
  static constexpr std::chrono::microseconds watch_interval{1000};
  /// One that has to wait for a processor whenever it gets up, and makes another one wait (gathering.hpp).
  static constexpr std::chrono::microseconds watch_interval_away{5000};
  /// A sleep that its own completions ended sooner was brief; so will be the next one (sleeps_briefly).
  static constexpr std::chrono::microseconds brief{500};
  /// Completions are late when they may have waited for so long, behind turns that took so long each: a long batch of short tasks is no reason (share_late).
  static constexpr std::chrono::microseconds late{200};
  static constexpr std::chrono::microseconds long_turn{100};
  /// How often it looks how long it ran and waited.
  static constexpr std::chrono::milliseconds load_interval{20};
  /// Watches of a worker that was told of work and found none: what it was told of was in a slot, and is gone. The next one will be too.
  static constexpr int watches_after_a_vain_notice = 8;
  /// A thief that is faster than the one it steals from gets a few short tasks each time, and takes the lines that this one writes. When they have kept
  /// it busy for less than is worth a steal, it waits before the next look, longer each time, until it gets more at once (ADR 28).
  static constexpr std::chrono::nanoseconds worth_a_steal{2'000};
  static constexpr std::chrono::nanoseconds longest_wait_between_steals{8'000};
  static constexpr std::chrono::nanoseconds first_wait_between_steals{250};
  /// The same for the global queue, from which a share is taken: by how many there were at once. In pauses.
  static constexpr int longest_wait_between_takes = 256;
  static constexpr int first_wait_between_takes = 8;
  static constexpr std::size_t good_take = 8;
  /// How long a searcher that finds nothing goes on looking before it sleeps: at most, at least, and after how many sleeps it tries again when
  /// it was not worth it (linger).
  static constexpr std::chrono::nanoseconds longest_linger{50'000};
  static constexpr std::chrono::nanoseconds shortest_linger{2'000};
  static constexpr int sleeps_without_linger = 32;
  /// Between two looks: each takes lines from those who run.
  static constexpr int pauses_between_looks = 8;
  /// So many in a queue are worth a theft, and a notice, whatever their owner does (queue_view.hpp).
  static constexpr std::size_t backlog = 64;
  static constexpr bool of_completions = true;
  static constexpr bool of_others = false;
  static constexpr int slot_streak_limit = 3;
  static constexpr int private_streak_limit = 16;
  /// Transfers between two returns to the loop. Where the compiler makes calls of them, this many frames are on the stack.
  static constexpr int transfer_limit = 64;
  /// Returns to the loop after which a task that never suspends goes to the back of the queue.
  static constexpr int bounce_limit = 16;

  /// What a thief saw of another worker.
  struct station_view {
    void see_slot(work_item* what, std::uint64_t when, std::uint64_t watch_then) noexcept {
      item = what;
      tick = when;
      watch = watch_then;
    }
    work_item* item = nullptr;  // in its slot
    std::uint64_t tick = 0;
    std::uint64_t watch = 0;  // when it was first seen so: the number of watches slept through until then
    queue_view queue;
    bool moves = false;  // it has work, and gets on: others_get_on()
  };

  work_item* next();
  work_item* next_after_chores();
  work_item* next_private();
  work_item* before_the_ring(work_item* item);
  work_item* next_local();
  work_item* next_of_deque();
  void count_tick() {
    _tick.add();
    ++_since_io;
    ++_since_global;
  }
  work_item* take_slot() noexcept;
  work_item* take_global_batch();
  work_item* steal();
  work_item* take_in_sight();
  work_item* steal_queues();
  worker* find_victim();
  bool is_worth_it(const worker& owner, std::size_t length, bool& is_unsure);
  bool is_between_batches(const worker& owner);
  void wait_between_steals();
  static int next_wait_between_takes(int wait, std::size_t taken) noexcept;
  work_item* watch_slots();
  work_item* search();
  work_item* linger();
  work_item* wait_for_batch();
  work_item* look_for(std::chrono::nanoseconds time);
  work_item* search_or_sleep(ioengine::time_point deadline);
  work_item* got_up_with(work_item* item);
  void become_watcher() noexcept;
  bool stop_watching() noexcept;
  void hand_on_the_watch();
  void park(ioengine::time_point deadline);
  void notify_unless_watched();
  void notify_unless_crowded();
  [[nodiscard]] bool is_in_a_crowd() const noexcept;
  [[nodiscard]] bool others_get_on();
  [[nodiscard]] station_view& view_of(const worker& other);
  [[nodiscard]] bool processors_are_taken(std::chrono::steady_clock::time_point now) noexcept;
  [[nodiscard]] bool leaves_watch_to_others() noexcept;
  [[nodiscard]] bool is_watched_by_others() const noexcept {
    return _pool.watchers.load(std::memory_order_relaxed) > (_is_watcher ? 1U : 0U);  // relaxed: a number
  }
  void notify_of_ring();
  void put_into_ring(work_item& item) {
    if (_ring_is_whole && _ring.try_push_back(&item)) [[likely]]
      return;
    put_into_full_ring(item);
  }
  void put_into_full_ring(work_item& item);
  void note_ring_has(bool completions) noexcept {
    if (_only_completions.load(std::memory_order_relaxed) == completions) return;  // relaxed, both: a hint for thieves
    _only_completions.store(completions, std::memory_order_relaxed);
  }
  [[nodiscard]] bool sleeps_briefly() const noexcept;
  void found_work();
  void execute(work_item& item);
  void end_search();
  void run_bounced();
  void flush_posts() {
    if (!_outgoing.empty()) [[unlikely]]
      hand_over_posts();
  }
  void hand_over_posts();
  std::size_t drive_io(std::size_t runs_next = 0);
  void limit_drive();
  ioengine::buffer_pool* make_buffers() noexcept;
  void note_timers();
  [[nodiscard]] bool comes_late(ioengine::time_point now) const noexcept;
  bool waited_for_processor(ioengine::time_point::duration late_by) noexcept;
  void note_load(ioengine::time_point now);
  void share_late(std::size_t completed, ioengine::time_point::duration late_by);
  void share_completions(std::size_t runs_next);
  void notify_of_completions();
  void rest();
  void come_back();
  void hand_over_queues(std::vector<work_item*>& all);
  [[nodiscard]] std::uint32_t random() noexcept { return static_cast<std::uint32_t>(_random()); }

  shared_state& _runtime;
  pool& _pool;
  const worker_kind _kind;
  const std::size_t _station;
  const bool _lifo;
  std::atomic<bool> _is_home{true};  // written rarely

  // Written by any thread.
  alignas(queue::line_size) queue::inbox<parcel> _inbox;
  std::atomic<bool> _leave{false};
  std::atomic<std::uint64_t> _stolen_from{0};  // by whoever steals from it

  // Written by the owner, read by thieves.
  alignas(queue::line_size) std::atomic<work_item*> _slot{nullptr};  // thieves write null
  owned_counter _tick;
  std::atomic<bool> _searching{false};
  std::atomic<bool> _only_completions{false};  // in the ring; what else there is may have been made to be shared
  std::atomic<bool> _asleep{false};
  owned_counter _tasks_run, _steals_tried, _steals_won, _slots_taken, _searches, _parks, _wakes, _polls, _overflows,
      _given_away, _timers;
  std::atomic<double> _ran{0};  // these three: recent_load()
  std::atomic<double> _waited{0};
  std::atomic<gathering::time_point> _loaded_at{};
  std::atomic<std::size_t> _id{0};
  std::atomic<std::source_location> _callable{};

  // The owner's alone.
  alignas(queue::line_size) int _transfers = 0;
  work_item* _bounced = nullptr;
  const work_item* _last_run = nullptr;  // compared only: it may be gone
  int _slot_streak = 0;
  int _private_streak = 0;
  // Ticks since it last looked there. Counted, not taken from the tick's remainder: ticks also pass between two looks, while a
  // task bounces, and a remainder could be missed for ever.   NextTaskTest.BouncingTasksDoNotHideTheGlobalQueue
  std::uint32_t _since_io = 0;
  std::uint32_t _io_interval = 0;             // the config's
  bool _ring_is_whole = true;                 // the config asks for no smaller one
  ioengine::time_point _drove_at{};           // when it last looked there
  std::chrono::nanoseconds _waited_so_far{};  // for a processor, as last seen
  ioengine::time_point _next_load{};
  processor_time::spent _spent{};  // as last seen
  std::uint32_t _since_global = 0;
  std::uint32_t _global_interval = 0;  // the config's, or less (note_timers)
  std::uint32_t _since_ring = 0;       // turns
  bool _counted_searching = false;     // in the state machine
  bool _counted_asleep = false;        // there, while it looks again before it sleeps
  bool _resting = false;               // a host's worker between two calls (pool.hpp)
  bool _inside = false;
  bool _hosted = false;
  bool _watching = false;       // saw a slot that it must look at again
  bool _is_watcher = false;     // one of those that the pool counts
  bool _owes_a_watch = false;   // watched in its last sleep, and has not slept since
  bool _slept_briefly = false;  // the last time, and woke of its own completions
  bool _looked_once = false;
  int _patience = 0;  // watches that it will do although it saw no slot
  std::chrono::nanoseconds _wait_between_steals{0};
  std::chrono::steady_clock::time_point
      _stole_at;                  // the last time, from a queue; the epoch: it has slept since, or waited
  int _wait_between_takes = 0;    // from the global queue
  bool _sees_crowd = false;       // those who get on have all processors, and are left alone
  bool _processors_taken = true;  // as far as it knows: processors_are_taken()
  std::chrono::steady_clock::time_point _asked_processors_at{};  // the epoch: never
  std::chrono::nanoseconds _used_processors{};                   // by this process, then
  bool _sees_busy = false;   // somebody whose queue is empty and who is busy with completions all the time
  int _batches_to_skip = 0;  // how often not to wait for what that one has next
  int _skip_next = 0;
  std::chrono::nanoseconds _linger = shortest_linger;
  int _sleeps_until_linger = 0;
  std::uint64_t _watches = 0;  // slept through to their time limit
  std::size_t _number = 0;     // in the state machine
  fresh_waits _fresh;
  std::unique_ptr<ioengine::engine> _engine;
  std::optional<processor_time> _processor_time;    // empty: nobody wants to know
  std::unique_ptr<ioengine::buffer_pool> _buffers;  // behind the engine: it goes first
  std::deque<work_item*> _private;
  std::vector<work_item*> _outgoing;
  std::vector<station_view> _views;
  std::minstd_rand _random;

  queue::deque<work_item*, deque_atomics> _deque;
  queue::local_queue<work_item*, ring_capacity> _ring;
};

}  // namespace faio::scheduler
