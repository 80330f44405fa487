// gathering -- on how many workers connections live: on all, or on as few as suffice, where the others would only take processors from each other.
//
// A ring is driven by its own thread. With more threads that want to run than there are processors, a worker that has been woken waits for one, and
// everything that has completed in its ring waits with it, while another worker of the same runtime runs on half of a load. If fewer workers can
// do all of it, the same requests take less time and fewer switches of threads on these.
//
//   state      what the homes did lately                                            advice
//   spread     they waited for processors, and fewer can do it                      fewer: one worker is no home any more
//   gathered   they have no pause, or hold somebody up                              all
//              they still wait: it did not help                                     fewer, if these can do it; otherwise all
//              for long nothing of the kind, but a second worker would be of use    all, to see whether they would still wait
//
// Not with more workers than processors: these wait for each other, and whoever asks for that has a reason.
// What went wrong is not tried again at once: after each `all` that the load forced, twice as long as before.
//
// Rejected: by load alone, as few as suffice always. Half a load on one worker is answered later than a quarter on each of two that have a processor.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace faio::scheduler {

/// Under a lock of the caller's.
class gathering {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// What a worker did since it was last asked; parts of a processor's time.
  struct load {
    double ran = 0;
    double waited = 0;
  };
  /// What the workers did that are homes.
  struct view {
    std::size_t homes = 0;
    load all;         ///< together
    double most = 0;  ///< of one of them: how much it ran
    void add(const load& one) noexcept {
      ++homes;
      all.ran += one.ran;
      all.waited += one.waited;
      most = std::max(most, one.ran);
    }
  };
  enum class advice : std::uint8_t { stay, fewer, all };

  /// Waiting for so large a part of their running time is waiting. Two workers and a load generator on two processors: 0.3 to 0.6; one worker: under 0.02.
  static constexpr double crowded = 0.15;
  /// With fewer: when they wait for so much, it was in vain.
  static constexpr double in_vain = 0.4;
  /// What ran for so long on those that wait, one of them less can do, for each that is left: without the waiting it takes less (0.87 of what had taken 0.95 to 1.1).
  static constexpr double most_for_one = 1.15;
  /// A worker that runs for so much of the time has no pause, ...
  static constexpr double no_pause = 0.97;
  /// ... and one that runs for so much has a reason to be alone: requests come to all alike, a task that computes to one.
  static constexpr double busy_alone = 0.7;
  /// With less, a second worker would be of no use to anybody.
  static constexpr double worth_a_second = 0.5;
  /// What is judged is the mean of about so long; and nothing is judged for so long after a change.
  static constexpr std::chrono::milliseconds memory{100};
  static constexpr std::chrono::milliseconds settling{200};
  static constexpr std::chrono::milliseconds first_back_off{400};
  static constexpr std::chrono::seconds longest_back_off{20};
  static constexpr std::chrono::seconds first_stay{10};
  static constexpr std::chrono::seconds longest_stay{300};

  /// Now and then. `workers`: how many there are.
  advice judge(time_point now, const view& lately, std::size_t workers) noexcept {
    remember(now, lately);
    if (now - _changed < settling) return advice::stay;
    const auto homes = static_cast<double>(lately.homes);
    const bool waits = _all.waited > crowded * _all.ran && _all.ran > crowded;
    const bool fits = lately.homes > 1 && lately.all.ran >= worth_a_second && _all.ran <= most_for_one * (homes - 1) &&
                      std::max(_most, lately.most) <= busy_alone;
    if (lately.homes == workers) return waits && fits && now >= _not_before ? change(now, advice::fewer) : advice::stay;
    if (waits && fits) return change(now, advice::fewer);
    if (_all.waited > in_vain * _all.ran || _all.ran >= no_pause * homes) return spread(now);
    if (now - _changed < _stay || _all.ran < worth_a_second * homes) return advice::stay;
    _stay = std::min<std::chrono::nanoseconds>(2 * _stay, longest_stay);
    return change(now, advice::all);
  }
  /// While gathered: what completed on a home waited behind a long task. On all, at once.
  advice spread(time_point now) noexcept {
    const bool soon = now - _changed < 8 * _back_off;
    _back_off = soon ? std::min<std::chrono::nanoseconds>(2 * _back_off, longest_back_off) : first_back_off;
    _not_before = now + _back_off;
    _stay = first_stay;
    return change(now, advice::all);
  }

  // ---- end of the public interface ----

 private:
  advice change(time_point now, advice to) noexcept {
    _changed = now;
    _all = {};
    _most = _weight = 0;
    return to;
  }
  void remember(time_point now, const view& lately) noexcept {
    const std::chrono::duration<double> since = now - std::exchange(_looked_at, now);
    const double part = std::min(since / std::chrono::duration<double>(memory), longest_part);
    // Of what was seen since the last change: the first look is not diluted by what was before it.
    _weight += part * (1 - _weight);
    if (_weight == 0) return;
    const double share = part / _weight;
    _all.ran += share * (lately.all.ran - _all.ran);
    _all.waited += share * (lately.all.waited - _all.waited);
    _most += share * (lately.most - _most);
  }

  static constexpr double longest_part = 0.2;
  load _all;         // means
  double _most = 0;  // a mean
  double _weight = 0;
  time_point _looked_at{};
  time_point _changed{};
  time_point _not_before{};  // fewer, after it was all because it had to be
  std::chrono::nanoseconds _back_off = first_back_off;
  std::chrono::nanoseconds _stay = first_stay;  // with fewer, until it is looked whether they would still wait
};

}  // namespace faio::scheduler
