// engine -- one execution at a time: its threads, its memory, its objects, and what went wrong in it.
//
// There is one, kept for the life of the process: its pools are warm after the first execution, and what a failed
// execution left behind stays reachable.
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

#include "arena.hpp"
#include "choices.hpp"
#include "explorer/explore.hpp"
#include "explorer/report.hpp"
#include "heap.hpp"
#include "memory.hpp"
#include "objects.hpp"
#include "scheduler.hpp"

namespace faio::explorer {

class engine {
 public:
  /// The engine of the process.
  static engine& instance();
  /// The same, but only from inside a body: anything else is a mistake that ends the process with a message.
  static engine& executing() {
    if (_current == nullptr) [[unlikely]]
      used_outside();
    return *_current;
  }

  /// Makes one execution with what `choices` answer. True when it ended well.
  bool execute(const options& how, const std::function<void(run&)>& what, std::uint64_t number, bool recording);

  /// Ends the execution as failed. Never returns: nothing is unwound, so it may be called under noexcept.
  [[noreturn]] void fail(failure_kind kind, std::string message);

  [[nodiscard]] std::uint32_t choose(std::uint32_t count, choice what);
  /// Among `count` ways of which the first deals with the newest value and the others do not.
  [[nodiscard]] std::uint32_t choose_value(std::uint32_t count);
  /// True when a bounded spurious event is to happen here.
  [[nodiscard]] bool choose_spurious(unsigned& budget);

  /// The live object at the address, its access by the running thread checked and noted; fails otherwise.
  object& use(const void* address, operations::kind kind, std::source_location at);
  object& use_to_write(const void* address, operations::kind kind, std::source_location at);
  object& create(const void* address, operations::kind kind, std::source_location at);
  void destroy(const void* address, operations::kind kind);

  [[nodiscard]] bool recording() const noexcept { return _recording; }
  void record(const std::string& text, std::source_location at = {});
  [[nodiscard]] std::string here(std::source_location at) const;

  /// The body's part of an execution, run on its fiber.
  void run_body();

  class choices choices;
  arena space;
  class memory memory;
  class objects objects;
  class heap heap;
  class scheduler scheduler{*this};

  unsigned spurious_wakes = 0;  // still allowed in this execution
  unsigned weak_failures = 0;

  // Of the last execution.
  failure_kind failure = failure_kind::none;
  std::string message;
  std::vector<std::string> log;

  /// The oldest message of the location that the running thread may deal with now: what the memory allows, less what it
  /// has read too often already.
  [[nodiscard]] unsigned floor(unsigned location, std::memory_order order) const noexcept;
  void note_read(unsigned location, unsigned index);
  /// Time has passed for the running thread: what it has read since this was last called is no longer stale.
  void refresh_reads();

 private:
  struct last_read {
    std::uint64_t period = 0;  // only valid within the thread's current one
    std::uint32_t timestamp = 0;
    std::uint32_t times_stale = 0;
  };
  // A store becomes visible "in a finite period of time" ([intro.progress]): a thread that has read the same stale
  // message this often reads a newer one next. Without it a loop that polls would have an endless execution. Three is a
  // check, a second look and one more.
  static constexpr std::uint32_t max_stale_times = 3;

  [[noreturn]] static void used_outside();
  [[noreturn]] void fail_to_repeat();
  [[noreturn]] void dead(const void* address, operations::kind kind, const object* record, std::source_location at);
  [[noreturn]] void race(const object& what, const char* now, const char* before, unsigned other,
                         std::source_location at, std::source_location other_at);
  void check_read(object& what, std::source_location at);
  void check_write(object& what, const char* verb, std::source_location at);

  static inline engine* _current = nullptr;  // while an execution runs
  const std::function<void(run&)>* _body = nullptr;
  bool _recording = false;
  unsigned _stale_reads = 0;  // still allowed
  std::array<std::array<last_read, max_locations>, max_threads> _last_reads{};
  std::array<std::vector<unsigned>, max_threads> _read_in_period;  // locations
  std::array<std::uint64_t, max_threads> _periods{};  // only ever grow: nothing to clear between executions
};

}  // namespace faio::explorer
