// scheduler -- the threads of an execution, who of them may run, and the choice of who does.
//
// A thread gives others a chance at one kind of place only: just before a visible operation, point(). Accesses to plain
// fields are not visible: if the order of two of them matters they race, and the clocks find that in any order.
//
//   state      leaves it by
//   ready      point(): stays ready, but another may be picked, which is a preemption while it could have gone on
//              block_on(): blocked        pause(): ready, but not eligible       its function's end: finished
//   blocked    unblock(), wake(): ready
//   finished   -
//
// Spinning. A thread that called pause() will look again at what it has seen already. Running it at once shows nothing
// new, and two such threads that take turns for ever would keep a depth-first search from ending. The rules:
//   S1  a paused thread is not eligible before another thread has made a step;
//   S2  if nobody else has changed a value since its previous pause either, not before somebody has;
//   S3  not before each thread has made a step that was ready all the time since its previous pause and was not picked
//       (fairness, as in Musuvathi and Qadeer, "Fair stateless model checking", 2008);
//   S4  if nobody at all is eligible, the paused threads get further turns (a retry after a spurious failure succeeds
//       without help), in every order for the first round, in a fixed order after it; after idle_rounds without a
//       change it is a livelock.
//
// Rejected: sleep sets and other partial-order reductions. Together with a preemption bound they cut executions whose
// equivalent needs more preemptions than the bound allows, so a clean result would no longer mean "clean at this
// bound".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fiber.hpp"
#include "memory.hpp"
#include "objects.hpp"

namespace faio::explorer {

class engine;

class scheduler {
 public:
  explicit scheduler(engine& owner) : _engine(owner) {}

  void begin(unsigned preemptions, unsigned max_steps);
  /// Runs the body on thread 0 until it has ended or the execution has failed.
  void run_body();
  /// Leaves the execution for good, from any thread.
  [[noreturn]] void abort();
  /// After an execution that failed: its fibers stay as they are and are not used again.
  void abandon_fibers();

  void add(const char* name, void* closure, void (*call)(void*));
  void join();
  [[nodiscard]] bool all_joined() const noexcept { return _joined == _count; }

  /// Before each visible operation of the running thread.
  void point();
  /// Before each access to a plain field: a loop that makes no step must end too.
  void count_plain_access();
  /// The running thread's operation changed a value that others could wait for.
  void wrote() noexcept {
    ++_writes;
    ++_threads[_running].writes;
  }
  void pause();
  /// The running thread waits until unblock(address) or wake(address).
  void block_on(const void* address, operations::kind what);
  /// All that wait for the mutex at the address may try again; `false`: it was taken again, they wait on.
  void unblock(const void* address, bool free) noexcept;
  /// Wakes one (a choice) or all that wait on the address. Says how many.
  unsigned wake(const void* address, bool all);
  [[nodiscard]] bool somebody_waits_on(const void* address) const noexcept;

  [[nodiscard]] unsigned running() const noexcept { return _running; }
  [[nodiscard]] unsigned count() const noexcept { return _count; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return _steps; }
  [[nodiscard]] const char* name(unsigned who) const noexcept { return _threads[who].name; }
  [[nodiscard]] const void* token() const noexcept { return &_threads[_running]; }
  /// What each thread that has not ended waits for, for messages.
  [[nodiscard]] std::string waiting() const;

 private:
  enum class state : std::uint8_t { ready, blocked, finished };
  using thread_set = unsigned;  // one bit for each
  struct thread {
    const char* name = "body";
    void* closure = nullptr;
    void (*call)(void*) = nullptr;
    state now = state::ready;
    bool chosen = false;  // picked, and has not made a step since: its next point() is no new choice
    bool paused = false;
    bool ever_paused = false;
    bool needs_write = false;              // S2 holds it back
    std::uint64_t steps = 0;               // its own
    std::uint64_t writes = 0;              // its own
    std::uint64_t steps_at_pause = 0;      // its own, at its last pause
    std::uint64_t foreign_at_pause = 0;    // the writes of others then
    std::uint64_t all_steps_at_pause = 0;  // everybody's steps then
    thread_set excused = 0;                // ran, or could not, since its last pause
    thread_set owed = 0;                   // S3: those that must come first
    std::uint64_t idle_since = 0;          // S4: the count of writes that its idle turns refer to
    unsigned idle_turns = 0;
    const void* waits_for = nullptr;
    operations::kind waits_kind{};
  };
  using candidates = std::array<unsigned, max_threads>;
  static constexpr unsigned idle_rounds = 100;

  static void fiber_main(void* self);
  static void body_main(void* self);
  [[nodiscard]] fiber& fiber_of(unsigned who);
  [[nodiscard]] thread_set ready() const noexcept;
  [[nodiscard]] bool eligible(const thread& who) const noexcept;
  [[nodiscard]] unsigned idle(candidates& out);
  [[nodiscard]] std::uint64_t foreign_writes(const thread& who) const noexcept { return _writes - who.writes; }
  void offer_preemption();
  void count_step();
  void give_way();
  void go_on_with(unsigned next);
  void finish();

  engine& _engine;
  std::array<thread, max_threads> _threads;
  unsigned _count = 1;
  unsigned _joined = 1;
  unsigned _running = 0;
  unsigned _preemptions = 0;  // still allowed
  unsigned _max_steps = 0;
  std::uint64_t _plain_accesses = 0;
  std::uint64_t _steps = 0;
  std::uint64_t _writes = 0;
  fiber* _root = nullptr;
  std::array<std::unique_ptr<fiber>, max_threads> _fibers;
  std::vector<std::unique_ptr<fiber>> _abandoned;
};

}  // namespace faio::explorer
