// waker_model -- the handshake of sleeping and waking, alone and as part of the whole sleep protocol of a worker.
#include <array>
#include <faio/ioengine/bed_choice.hpp>
#include <faio/ioengine/waker.hpp>

#include "hall.hpp"

namespace faio::explorer::models {
namespace {

/// An engine as far as the handshake goes: the waker, and an eventfd whose count keeps a wake that comes early.
class sleeping_place {
 public:
  /// Any thread: engine::wake().
  void wake() {
    if (_waker.notify()) end_sleep();
  }
  /// Any thread: a completion or a timer ends the sleep, without a wake.
  void end_sleep() {
    // As an eventfd: the count says that there was a wake and carries nothing else, hence relaxed.
    _count.fetch_add(1, std::memory_order_relaxed);
    atomics::futex_wake_one(&_count);
  }
  /// Owner: engine::wait_and_drive().
  void sleep() {
    if (!_waker.prepare_sleep()) return;
    while (_count.exchange(0, std::memory_order_relaxed) == 0) atomics::futex_wait(_count, 0);
    _waker.finish_sleep();
  }

 private:
  ioengine::waker<atomics> _waker;
  atomics::atomic<std::uint32_t> _count{0};
};

/// Two publishers, an owner that sleeps until it has seen both. What they publish is relaxed: only the waker orders it.
void two_notifiers(run& run) {
  sleeping_place place;
  atomics::atomic<int> first{0};
  atomics::atomic<int> second{0};
  run.thread("first", [&] {
    first.store(1, std::memory_order_relaxed);
    place.wake();
  });
  run.thread("second", [&] {
    second.store(1, std::memory_order_relaxed);
    place.wake();
  });
  run.thread("owner", [&] {
    while (first.load(std::memory_order_relaxed) == 0 || second.load(std::memory_order_relaxed) == 0) place.sleep();
  });
  run.join();
}

/// A sleep that something else ends meanwhile: the wake that comes then is not lost either.
void a_sleep_that_a_completion_ends(run& run) {
  sleeping_place place;
  atomics::atomic<int> published{0};
  run.thread("notifier", [&] {
    published.store(1, std::memory_order_relaxed);
    place.wake();
  });
  run.thread("kernel", [&] { place.end_sleep(); });
  run.thread("owner", [&] {
    while (published.load(std::memory_order_relaxed) == 0) place.sleep();
  });
  run.join();
}

/// No system call for a target that is awake: of any number of wakes before a look, none ends a sleep that there is not.
void nobody_is_called_who_is_awake(run& run) {
  ioengine::waker<atomics> waker;
  int calls = 0;
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] { calls += waker.notify() ? 1 : 0; });
  }
  run.join();
  check(calls == 0, "a wake made a system call though the owner is awake");
  check(!waker.prepare_sleep(), "a wake before the sleep was lost");
  check(waker.prepare_sleep(), "two wakes before a look are one");
}

/// The uring engine: the owner says where it lies down, on the ring or on a futex, before it does; who must wake it goes there.
class two_beds {
 public:
  void wake() {
    if (!_waker.notify()) return;
    end_sleep(_counts[_choice.is_aside() ? 1 : 0]);
  }
  /// Any thread: the kernel completes something.
  void complete() { end_sleep(_counts[0]); }
  /// Owner: wait_and_drive(). The other one than the last time.
  void sleep() {
    _aside = !_aside;
    if (!_choice.prepare_sleep(_waker, _aside)) return;
    lie_down(_counts[_choice.is_aside() ? 1 : 0]);
    if (_aside) _choice.get_up();
    _waker.finish_sleep();
  }
  /// Owner: drain(), which lies where the choice says without having made one.
  void drain() {
    if (!_waker.prepare_sleep()) return;
    lie_down(_counts[_choice.is_aside() ? 1 : 0]);
    _waker.finish_sleep();
  }
  /// Owner: between two drives somebody else's loop waits for the descriptor, which is the ring's.
  void rest() {
    if (!_waker.prepare_sleep()) return;
    lie_down(_counts[0]);
    _waker.finish_sleep();
  }

 private:
  static void end_sleep(atomics::atomic<std::uint32_t>& count) {
    // release: a completion brings what it completes; a wake's own is in the waker.
    count.fetch_add(1, std::memory_order_release);
    atomics::futex_wake_one(&count);
  }
  static void lie_down(atomics::atomic<std::uint32_t>& count) {
    while (count.exchange(0, std::memory_order_acquire) == 0) atomics::futex_wait(count, 0);
  }

  ioengine::waker<atomics> _waker;
  ioengine::bed_choice<atomics> _choice;
  std::array<atomics::atomic<std::uint32_t>, 2> _counts;
  bool _aside = false;
};

/// An owner that sleeps in its way until both have published.
template <class Sleep>
void sleep_until_two_have_published(run& run, two_beds& place, Sleep sleep) {
  atomics::atomic<int> published{0};
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] {
      published.fetch_add(1, std::memory_order_relaxed);
      place.wake();
    });
  }
  run.thread("owner", [&] {
    while (published.load(std::memory_order_relaxed) != 2) sleep();
  });
  run.join();
}

void an_owner_with_two_beds(run& run) {
  two_beds place;
  sleep_until_two_have_published(run, place, [&] { place.sleep(); });
}

/// It chose the bed aside, a wake kept it from lying down, and it lies down next without a choice.
void a_rest_after_a_sleep_that_was_prevented(run& run) {
  two_beds place;
  bool rests = false;
  sleep_until_two_have_published(run, place, [&] {
    rests ? place.rest() : place.sleep();
    rests = !rests;
  });
}

/// The same with a drain, which waits for a completion: that ends a sleep on the ring and no other.
void a_drain_after_a_sleep_that_was_prevented(run& run) {
  two_beds place;
  atomics::atomic<int> completed{0};
  run.thread("notifier", [&] { place.wake(); });
  run.thread("kernel", [&] {
    completed.store(1, std::memory_order_relaxed);
    place.complete();
  });
  run.thread("owner", [&] {
    place.sleep();
    while (completed.load(std::memory_order_relaxed) == 0) place.drain();
  });
  run.join();
}

/// Workers whose beds are engines: the state machine and the waker together.
class engine_bed {
 public:
  void wake() { _place.wake(); }
  void dismiss() {
    _over.store(1, std::memory_order_relaxed);
    _place.wake();
  }
  void sleep() { _place.sleep(); }
  bool dismissed() const { return _over.load(std::memory_order_relaxed) != 0; }

 private:
  sleeping_place _place;
  atomics::atomic<int> _over{0};
};

const model all[] = {
    {"two_notifiers", two_notifiers},
    {"a_sleep_that_a_completion_ends", a_sleep_that_a_completion_ends},
    {"nobody_is_called_who_is_awake", nobody_is_called_who_is_awake},
    {"an_owner_with_two_beds", an_owner_with_two_beds},
    {"a_rest_after_a_sleep_that_was_prevented", a_rest_after_a_sleep_that_was_prevented},
    {"a_drain_after_a_sleep_that_was_prevented", a_drain_after_a_sleep_that_was_prevented},
    {"a_job_for_a_lone_worker_in_its_engine", a_job_for_a_lone_worker<atomics, engine_bed>},
    {"a_job_for_two_workers_in_their_engines", a_job_for_two_parking_workers<atomics, engine_bed>},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
