// ledger -- each task once: made, begun, ended; how long it waited although it was ready; and who is where.
//
// One book for each caller, so that a book must balance whenever its block_on returns: all that was made beneath it has begun and
// ended. A ticket is one task's entry: it goes with the task, in its frame or closure, and notices if it begins twice or never.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace steal_stress {

using clock = std::chrono::steady_clock;

/// How something became ready, or what it waits for.
enum class place : std::uint8_t {
  root,
  spawn,
  low_priority,
  when_all,
  when_any,
  timeout,
  group,
  yield,
  sleep,
  sleeper,
  read,
  talk,
  compute,
  blocking,
  post,
  post_to,
  post_local,
  post_self,
  post_after,
  post_self_after,
  post_compute,
  places
};
inline constexpr std::size_t places = static_cast<std::size_t>(place::places);
const char* name(place which) noexcept;

/// The first thing that went wrong, from any thread.
class faults {
 public:
  void report(std::string what);
  [[nodiscard]] bool any() const noexcept { return _any.load(std::memory_order_acquire); }
  [[nodiscard]] std::string first() const;

 private:
  mutable std::mutex _mutex;
  std::string _first;
  std::atomic<bool> _any{false};
};

/// Numbers, nothing is handed over by them: relaxed throughout. A balance is read after block_on has ordered everything.
class book {
 public:
  explicit book(faults& to) noexcept : _faults(to) {}

  void made() noexcept { _made.fetch_add(1, std::memory_order_relaxed); }
  void begun() noexcept { _begun.fetch_add(1, std::memory_order_relaxed); }
  void ended() noexcept { _ended.fetch_add(1, std::memory_order_relaxed); }
  void dropped() noexcept { _dropped.fetch_add(1, std::memory_order_relaxed); }
  void refused() noexcept { _refused.fetch_add(1, std::memory_order_relaxed); }
  /// It was ready and did not run for so long.
  void waited(place where, clock::duration how_long) noexcept;
  void arrive(place where) noexcept { at(where).here.fetch_add(1, std::memory_order_relaxed); }
  void depart(place where) noexcept { at(where).here.fetch_sub(1, std::memory_order_relaxed); }
  /// Nothing more will come.
  void close() noexcept { _closed.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool closed() const noexcept { return _closed.load(std::memory_order_relaxed); }
  void fault(std::string what) { _faults.report(std::move(what)); }

  /// After a block_on: says what does not balance.
  void expect_balance(const char* after);

  [[nodiscard]] std::uint64_t tasks() const noexcept { return _ended.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t refusals() const noexcept { return _refused.load(std::memory_order_relaxed); }
  /// Moves whenever something of this caller's does.
  [[nodiscard]] std::uint64_t progress() const noexcept {
    return _begun.load(std::memory_order_relaxed) + tasks() + _steps.load(std::memory_order_relaxed);
  }
  [[nodiscard]] clock::duration longest(place where) const noexcept {
    return clock::duration(_at[static_cast<std::size_t>(where)].longest.load(std::memory_order_relaxed));
  }
  [[nodiscard]] std::int64_t here(place where) const noexcept {
    return _at[static_cast<std::size_t>(where)].here.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::string figures() const;

 private:
  struct spot {
    std::atomic<std::int64_t> here{0};
    std::atomic<clock::rep> longest{0};
  };
  spot& at(place where) noexcept { return _at[static_cast<std::size_t>(where)]; }

  faults& _faults;
  std::atomic<std::uint64_t> _made{0}, _begun{0}, _ended{0}, _dropped{0}, _refused{0}, _steps{0};
  std::atomic<bool> _closed{false};
  std::array<spot, places> _at;
};

/// One task's entry in the book.
class ticket {
 public:
  ticket(book& in, place where) : _book(&in), _where(where), _ready(clock::now()) { in.made(); }
  /// One that is ready only after `delay`.
  ticket(book& in, place where, std::chrono::nanoseconds delay) : ticket(in, where) { _ready += delay; }
  ticket(ticket&& other) noexcept
      : _book(std::exchange(other._book, nullptr)), _where(other._where), _begun(other._begun), _ready(other._ready) {}
  ticket& operator=(ticket&&) = delete;
  ~ticket();

  /// The first thing that the task does.
  void begin();

 private:
  book* _book;
  place _where;
  bool _begun = false;
  clock::time_point _ready;
};

/// While it lives, somebody is at that place.
class presence {
 public:
  presence(book& in, place where) noexcept : _book(in), _where(where) { in.arrive(where); }
  presence(const presence&) = delete;
  presence& operator=(const presence&) = delete;
  ~presence() { _book.depart(_where); }

 private:
  book& _book;
  place _where;
};

}  // namespace steal_stress
