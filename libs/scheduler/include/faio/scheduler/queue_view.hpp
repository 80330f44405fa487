// queue_view -- what a thief sees of another worker's short queue: will its owner have got to its end before a theft would be worth it?
//
//   first look: time, turns and sleeps so far  ....  second look: so many turns in so much time, for so many in the queue
//
// Tasks that talk to each other run for a fraction of a microsecond and wake each other; to part them costs each of their words a journey between
// two processors. What waits behind a long task, or in a long queue, is what a thief is for.
//
// Tasks whose I/O has completed are dearer still: a theft takes a connection away from its ring. They are taken from an owner that stands still, or that
// had no time to sleep between the two looks: then there is more to do than one worker can.
//
// An owner with something in its queue takes a turn before it sleeps. So one that has made no turn since the first look has stood still since then, however
// long ago that was: a thief that lost its processor between two looks is none the less sure.   WorkerTest.TheVictimIsTheLongestQueue
//
// Rejected: the time at which each item came. It would have to be read at each push; a thief has the time to look twice.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace faio::scheduler {

enum class prospect : std::uint8_t { waits_long, waits_briefly, unsure };

/// One thread's.
class queue_view {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// What would wait for longer is worth a theft.
  static constexpr std::chrono::nanoseconds worth_stealing{10'000};
  /// How far apart the two looks are, at least and at most.
  static constexpr std::chrono::nanoseconds least{2'000};
  static constexpr std::chrono::nanoseconds longest{20'000};
  /// The same for completions: a request of a server is answered in a few microseconds, and a batch of them in some dozens.
  static constexpr std::chrono::nanoseconds least_of_completions{100'000};
  static constexpr std::chrono::nanoseconds busy_for_long{200'000};
  /// And where they have gathered: to submit as many sends as there are connections is one turn, of some hundred microseconds.
  static constexpr std::chrono::nanoseconds least_away{1'000'000};
  static constexpr std::chrono::nanoseconds longest_of_completions{3'000'000};

  /// What the owner has done since it began.
  struct progress {
    std::uint64_t turns;
    std::uint64_t sleeps;
  };

  /// `length`: how many are in its queue. unsure: look again after `least`.
  prospect judge(time_point now, progress owner, std::size_t length) noexcept {
    const auto age = now - _looked_at;
    const std::uint64_t made = owner.turns - _then.turns;
    if (age >= least && made == 0) return prospect::waits_long;  // it stands still
    if (age > longest) return begin(now, owner);
    if (age < least) return prospect::unsure;
    return age * length > worth_stealing * made ? prospect::waits_long : prospect::waits_briefly;
  }

  /// The same for a queue of nothing but completions. unsure: look again some time. `is_home`: connections may live with the thief; if not, only one that
  /// stands still is helped.
  prospect judge_completions(time_point now, progress owner, bool is_home = true) noexcept {
    const auto age = now - _looked_at;
    const bool stands_still = owner.turns == _then.turns;
    if (age >= (is_home ? least_of_completions : least_away) && stands_still) return prospect::waits_long;
    if (age > longest_of_completions || (owner.sleeps != _then.sleeps && !stands_still)) return begin(now, owner);
    return is_home && age >= busy_for_long ? prospect::waits_long : prospect::unsure;
  }

  /// For a thief that no processor is free for. True: it has made no turn for long; there is something that others would do sooner.
  bool stands_still(time_point now, progress owner) noexcept {
    if (owner.turns == _then.turns) return now - _looked_at >= least_of_completions;
    (void)begin(now, owner);
    return false;
  }

  /// The same while its queue is empty, as it is between two batches. True: it has not slept for long; the next batch is worth waiting for.
  bool is_busy_for_long(time_point now, progress owner) noexcept {
    const auto age = now - _looked_at;
    if (age > longest_of_completions || owner.sleeps != _then.sleeps) {
      (void)begin(now, owner);
      return false;
    }
    return age >= busy_for_long && owner.turns != _then.turns;
  }

  // ---- end of the public interface ----

 private:
  prospect begin(time_point now, progress owner) noexcept {
    _looked_at = now;
    _then = owner;
    return prospect::unsure;
  }

  time_point _looked_at{};
  progress _then{.turns = ~std::uint64_t{0}, .sleeps = 0};  // as nobody has made: not looked yet
};

}  // namespace faio::scheduler
