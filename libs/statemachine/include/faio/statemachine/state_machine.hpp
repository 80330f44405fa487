// state_machine -- who works, who searches, who sleeps, and whom to wake.
//
//   _word:  [ workers:16 | working:16 | searching:16 ]  one atomic word      sleeping = workers - working
//   _sleepers: the ids of those who sleep, the latest last, under _mutex
//
// from       event                 call                            to         working  searching
// -          joins                 add_worker() -> id              running      +1         0   workers +1
// running    out of work           set_searching() -> true         searching     0        +1
// running    search refused        set_sleeping(id, false)         sleeping     -1         0   alone: looks again
// searching  found work            cancel_searching() -> was_last  running       0        -1   last: wakes another, or is alone
// searching  nothing found         set_sleeping(id, true)          sleeping     -1        -1   last: looks again
// either     expects something     set_sleeping_briefly(id, was)   sleeping     -1       0/-1  looks again after a bounded sleep
// sleeping   notified              worker_to_notify() -> id        searching    +1        +1   by the notifier
// sleeping   woke by itself        cancel_sleeping(id) -> true     running      +1         0
// searching  learns of its notice  cancel_sleeping(id) -> false    searching     0         0   counted by the notifier
// running    leaves                retire_worker(id)               -            -1         0   workers -1
//
// I1  searching <= working <= workers.
// I2  An id is in _sleepers exactly while its worker sleeps: both change under _mutex. So nobody is listed twice, and
//     whoever is taken from the list has been counted as working and searching before it knows.
// I3  searching is raised in one atomic step that checks the limit, so it is never over it.
//
// What each side does
//   A publisher: puts work where workers look; worker_to_notify(); wakes the id that it got, if any.
//   A searcher:  looks everywhere. Found something: cancel_searching(), and if it was the last, worker_to_notify() on behalf
//                of what it did not take. Found nothing: set_sleeping(); told to look again, it looks everywhere once more.
//                Found something now: cancel_sleeping(), which says how it is counted, and worker_to_notify() as above, since
//                it was the only one to look. Found nothing: it sleeps until woken, then cancel_sleeping().
//   A running worker looks for work before it sleeps, always.
//
// No lost wake-up: if work is published and worker_to_notify() called, some worker sees it without any further event.
//   The publisher stores its work and then reads _word, value v; the barrier pair keeps this order.
//   (a) v has no searcher and a sleeper: the publisher wakes one, which arrives as a searcher: (c) holds for it.
//   (b) v has no searcher and no sleeper: everybody runs. The first to fall asleep after v does so with nobody searching,
//       and is told to look again; or while somebody searches, and (c) holds for that search.
//   (c) v has a searcher: some later change of _word takes searching to 0. Either it is set_sleeping(), and told to look again;
//       or cancel_searching(), whose caller asks worker_to_notify(): then (a), (b) or (c) hold with a later v. Each such
//       turn has one more worker with work in hand, so there is an end to it.
//   (d) Who finds work when looking again takes one piece and asks worker_to_notify() for the rest: (a), (b) or (c) again.
//   (e) Who falls asleep by set_sleeping_briefly() is told nothing, and what (b) and (c) ask of it comes later, but comes: it wakes within its time, looks
//       everywhere, and falls asleep by set_sleeping() then, if nothing of its own has come.
//   (f) Who stops searching and was alone, the others asleep, may look for itself instead of waking another who would look: what a worker published it did before
//       it fell asleep, which is a release that cancel_searching() acquires by its barrier; and whoever is no worker published, passed a full barrier and read v, while
//       cancel_searching() changed _word and passed a full barrier before the look: the one sees the searcher gone, or the other sees the work. Whoever
//       wakes or joins meanwhile changes _word after that, and reads no v with a searcher in it.
//   Who is told to look again changed _word after v was read, then passed a heavy_barrier(); the publisher stored its work
//   before it read v. So the look sees the work. Acquire and release would not do: both sides store and then load.
//   Explored in tests/explorer/models/state_machine_model.cpp, where mutants break each step of this argument.
//
// Rejected: only the last searcher looks again. A worker that was refused the search, because others searched, can fall
// asleep after those have found work: then nobody searches, and work published in between waits for a worker that computes.
// (StateMachine.TellsAWorkerThatWasRefusedTheSearchToLookAgainOnceNobodySearches)
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "faio/statemachine/atomics.hpp"

namespace faio::statemachine {

/// What set_sleeping() says. Converts to was_last_searcher.
struct sleep_verdict {
  bool was_last_searcher;
  /// Look at every queue once more before sleeping: nobody else will.
  bool look_again;
  constexpr operator bool() const noexcept { return was_last_searcher; }
};

/// What cancel_searching() says. Converts to was_last.
struct search_verdict {
  bool was_last;
  /// All others slept. Then nobody but threads that are no workers can have published: see cancel_searching().
  bool alone;
  constexpr operator bool() const noexcept { return was_last; }
};

template <class Policy>
class basic_state_machine {
 public:
  using worker_id = std::size_t;
  static constexpr std::size_t max_workers = 0xFFFF;

  /// `num_workers` running workers with ids from 0.
  explicit basic_state_machine(std::size_t num_workers);
  basic_state_machine(const basic_state_machine&) = delete;
  basic_state_machine& operator=(const basic_state_machine&) = delete;

  /// A running worker. True: it searches now. False: half of the workers, rounded up, do already.
  bool set_searching() noexcept;

  /// A searching worker that found work. True when it was the last searcher: then call worker_to_notify(). If it was alone, and threads that are no
  /// workers call worker_to_notify_outside(), then only if a look at all that can be published to finds something: a wake of another costs more than
  /// that look. See (f).
  search_verdict cancel_searching() noexcept;

  /// A running or searching worker, which says which. It counts as asleep when this returns. Allocates nothing.
  sleep_verdict set_sleeping(worker_id id, bool was_searching);

  /// The same for a worker that gets up by itself after a bounded time, whatever happens, looks everywhere then, and does not do this again unless
  /// something of its own has woken it: it need not look again before it sleeps, and there is no barrier to be paid for. See (e).
  void set_sleeping_briefly(worker_id id, bool was_searching) { (void)fall_asleep(id, was_searching); }

  /// The worker, after each set_sleeping(), whatever ended its sleep. True: it woke by itself and is running. False: it
  /// was notified and is searching.
  bool cancel_sleeping(worker_id id);

  /// Any thread, after it published work. A worker that the caller must wake, already counted as searching; empty when
  /// somebody searches or nobody sleeps: then it took no lock and wrote nothing that is shared.
  std::optional<worker_id> worker_to_notify() {
    // The caller's publishing, then its look at _word: against the sleeper's steps in set_sleeping().
    Policy::light_barrier();
    const worker_id id = should_notify(load()) ? take_sleeper() : nobody;
    return id != nobody ? std::optional(id) : std::nullopt;
  }

  /// The same for a thread that is none of the workers.
  std::optional<worker_id> worker_to_notify_outside() {
    Policy::full_barrier();  // against the one in cancel_searching()
    return worker_to_notify();
  }

  /// A searching worker. True when it is the only one and somebody runs: then it may look on for a while before it sleeps. A moment's view.
  bool may_linger() const noexcept {
    const auto now = unpack(load());
    return now.searching == 1 && now.working > 1;
  }

  /// Any thread. A new running worker. Ids are not reused. Throws std::length_error past max_workers.
  worker_id add_worker();

  /// A running worker, about itself: not searching, not asleep. A worker that was notified cancels its search first.
  void retire_worker(worker_id id);

  /// Any thread. A moment's view.
  std::size_t workers() const noexcept { return unpack(load()).workers; }
  std::size_t working() const noexcept { return unpack(load()).working; }
  std::size_t searching() const noexcept { return unpack(load()).searching; }
  std::size_t sleeping() const noexcept { return unpack(load()).sleeping(); }
  std::size_t running() const noexcept { return unpack(load()).running(); }

  // ---- end of the public interface ----

 private:
  struct counts {
    std::size_t workers;
    std::size_t working;
    std::size_t searching;
    constexpr std::size_t sleeping() const noexcept { return workers - working; }
    constexpr std::size_t running() const noexcept { return working - searching; }
  };
  static constexpr std::uint64_t one_searching = 1;
  static constexpr std::uint64_t one_working = std::uint64_t{1} << 16;
  static constexpr std::uint64_t one_worker = std::uint64_t{1} << 32;

  static constexpr counts unpack(std::uint64_t word) noexcept {
    return {(word >> 32) & 0xFFFF, (word >> 16) & 0xFFFF, word & 0xFFFF};
  }
  static constexpr bool should_notify(std::uint64_t word) noexcept {
    const counts now = unpack(word);
    return now.searching == 0 && now.sleeping() > 0;
  }
  /// relaxed throughout this class: _word hands no data over, only numbers; what must not be reordered around it is
  /// kept by the barrier pair, and the list beside it has a mutex.
  std::uint64_t load() const noexcept { return _word.load(std::memory_order_relaxed); }

  static constexpr worker_id nobody = ~worker_id{0};
  sleep_verdict fall_asleep(worker_id id, bool was_searching);
  /// The rest of worker_to_notify(), with the lock. Not inlined, so that the look before it is; and no optional, which g++
  /// returns from a call through memory: 8 ns (bench/state_machine_bench.cpp).
  [[gnu::noinline]] worker_id take_sleeper();

  typename Policy::template atomic<std::uint64_t> _word;
  // On a line of its own: who sleeps and wakes must not disturb those who only look at _word.
  alignas(128) typename Policy::mutex _mutex;
  typename Policy::template plain<std::vector<worker_id>> _sleepers;
  typename Policy::template plain<worker_id> _next_id;
};

using state_machine = basic_state_machine<std_atomics>;

template <class Policy>
basic_state_machine<Policy>::basic_state_machine(std::size_t num_workers)
    : _word(num_workers * (one_worker + one_working)), _next_id(num_workers) {
  if (num_workers > max_workers) throw std::length_error("faio::statemachine: at most 65535 workers");
  _sleepers.write().reserve(num_workers);
  Policy::prepare_barriers();
}

template <class Policy>
bool basic_state_machine<Policy>::set_searching() noexcept {
  std::uint64_t word = load();
  do {
    const counts now = unpack(word);
    if (2 * now.searching >= now.workers) return false;
    // One step with the check (I3). relaxed: see load(); it orders nothing by itself, the way down does.
  } while (!_word.compare_exchange_weak(word, word + one_searching, std::memory_order_relaxed));
  return true;
}

template <class Policy>
search_verdict basic_state_machine<Policy>::cancel_searching() noexcept {
  // relaxed: see load(). The worker_to_notify() that follows has its barrier; and who is alone has the one below, which makes this an acquire, against the
  // release in fall_asleep() and retire_worker(): (f).
  const std::uint64_t before = _word.fetch_sub(one_searching, std::memory_order_relaxed);
  const counts then = unpack(before);
  assert(then.searching > 0 && "cancel_searching() by a worker that does not search");
  const search_verdict verdict{.was_last = then.searching == 1, .alone = then.working == 1};
  if (verdict.alone) Policy::full_barrier();  // our not searching, then our look: against worker_to_notify_outside()
  return verdict;
}

template <class Policy>
sleep_verdict basic_state_machine<Policy>::set_sleeping(worker_id id, bool was_searching) {
  const sleep_verdict verdict = fall_asleep(id, was_searching);
  // Our being asleep, then our look at the queues: against the publisher's work, then its look at _word.
  if (verdict.look_again) Policy::heavy_barrier();
  return verdict;
}

template <class Policy>
sleep_verdict basic_state_machine<Policy>::fall_asleep(worker_id id, bool was_searching) {
  std::uint64_t before = 0;
  {
    const std::lock_guard lock(_mutex);
    assert(id < _next_id.read() && "set_sleeping(): no worker has this id");
    assert(std::ranges::find(_sleepers.read(), id) == _sleepers.read().end() &&
           "set_sleeping() by a worker that sleeps");
    _sleepers.write().push_back(id);  // room was reserved when the worker joined
    // release, pairs with cancel_searching(): (f).
    before = _word.fetch_sub(one_working + (was_searching ? one_searching : 0), std::memory_order_release);
  }
  assert((!was_searching || unpack(before).searching > 0) &&
         "set_sleeping() by a worker that says that it searches, and does not");
  assert(unpack(before).working > 0 && "set_sleeping() by a worker that does not run");
  const std::size_t others = unpack(before).searching - (was_searching ? 1 : 0);
  return {.was_last_searcher = was_searching && others == 0, .look_again = others == 0};
}

template <class Policy>
bool basic_state_machine<Policy>::cancel_sleeping(worker_id id) {
  const std::lock_guard lock(_mutex);
  auto& sleepers = _sleepers.write();
  const auto at = std::ranges::find(sleepers, id);
  assert(id < _next_id.read() && "cancel_sleeping(): no worker has this id");
  assert((at != sleepers.end() || unpack(load()).searching > 0) &&
         "cancel_sleeping() by a worker that did not sleep: whoever was notified counts as searching");
  if (at == sleepers.end()) return false;
  sleepers.erase(at);
  // relaxed: see load(). Without this step the worker would count as asleep for ever, and be notified no more.
  _word.fetch_add(one_working, std::memory_order_relaxed);
  return true;
}

template <class Policy>
auto basic_state_machine<Policy>::take_sleeper() -> worker_id {
  const std::lock_guard lock(_mutex);
  std::uint64_t word = load();
  do {
    if (!should_notify(word)) return nobody;
    // relaxed: see load(). One step with the check: two notifiers do not both find nobody searching.
  } while (!_word.compare_exchange_weak(word, word + one_working + one_searching, std::memory_order_relaxed));
  auto& sleepers = _sleepers.write();
  const worker_id id = sleepers.back();  // the latest: its caches are the warmest
  sleepers.pop_back();
  return id;
}

template <class Policy>
auto basic_state_machine<Policy>::add_worker() -> worker_id {
  const std::lock_guard lock(_mutex);
  if (unpack(load()).workers == max_workers) throw std::length_error("faio::statemachine: at most 65535 workers");
  auto& sleepers = _sleepers.write();
  if (const std::size_t room = unpack(load()).workers + 1; room > sleepers.capacity()) sleepers.reserve(2 * room);
  _word.fetch_add(one_worker + one_working, std::memory_order_relaxed);  // relaxed: see load()
  return _next_id.write()++;
}

template <class Policy>
void basic_state_machine<Policy>::retire_worker([[maybe_unused]] worker_id id) {
  const std::lock_guard lock(_mutex);
  assert(id < _next_id.read() && "retire_worker(): no worker has this id");
  assert(std::ranges::find(_sleepers.read(), id) == _sleepers.read().end() &&
         "retire_worker() by a worker that sleeps");
  [[maybe_unused]] const std::uint64_t before =
      _word.fetch_sub(one_worker + one_working, std::memory_order_release);  // as in fall_asleep()
  assert(unpack(before).running() > 0 && "retire_worker() by a worker that does not run");
}

}  // namespace faio::statemachine
