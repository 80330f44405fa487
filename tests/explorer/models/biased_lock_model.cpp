// biased_lock_model -- one to whom the lock belongs, and others who come: one at a time, and each sees what the one before it did.
#include <faio/sync/biased_lock.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

template <class Policy>
struct guarded {
  sync::basic_biased_lock<Policy> lock{1};  // the lock belongs to whoever has it twice in a row
  typename Policy::template plain<int> counter{0};
  typename Policy::template plain<bool> taken{false};

  void use(const void* me) {
    lock.lock(me);
    count();
    lock.unlock();
  }
  /// The short way, if the lock is one's own.
  void use_as_owner(const void* me) {
    if (!lock.try_lock_as_owner(me)) return use(me);
    count();
    lock.unlock_as_owner();
  }

 private:
  void count() {
    check(!taken.read(), "one at a time");
    taken.write() = true;
    ++counter.write();
    taken.write() = false;
  }
};

/// The lock belongs to the first; the second takes it away.
template <class Policy>
void an_owner_and_another(run& run) {
  guarded<Policy> it;
  const int first = 1;
  const int second = 2;
  run.thread("owner", [&] {
    for (int i = 0; i < 4; ++i) it.use(&first);
  });
  run.thread("other", [&] { it.use(&second); });
  run.join();
  check(it.counter.read() == 5, "each was counted");
}

/// The same, by the short way once the lock is its own.
template <class Policy>
void an_owner_by_the_short_way_and_another(run& run) {
  guarded<Policy> it;
  const int first = 1;
  const int second = 2;
  run.thread("owner", [&] {
    for (int i = 0; i < 4; ++i) it.use_as_owner(&first);
  });
  run.thread("other", [&] { it.use(&second); });
  run.join();
  check(it.counter.read() == 5, "each was counted");
}

/// Both become the owner in turn.
template <class Policy>
void two_owners(run& run) {
  guarded<Policy> it;
  const int names[2]{};
  for (const int& each : names) {
    run.thread(&each == names ? "first" : "second", [&] {
      for (int i = 0; i < 3; ++i) it.use(&each);
    });
  }
  run.join();
  check(it.counter.read() == 6, "each was counted");
}

/// The first is interrupted as it enters, and comes back when the second has become the owner and is inside.
template <class Policy>
void an_owner_that_comes_back_late(run& run) {
  guarded<Policy> it;
  const int first = 1;
  const int second = 2;
  run.thread("first", [&] {
    for (int i = 0; i < 3; ++i) it.use(&first);
  });
  run.thread("second", [&] {
    for (int i = 0; i < 4; ++i) it.use(&second);
  });
  run.join();
  check(it.counter.read() == 7, "each was counted");
}

/// And a thread that never becomes the owner.
template <class Policy>
void an_owner_and_two_others(run& run) {
  guarded<Policy> it;
  const int first = 1;
  const int second = 2;
  run.thread("owner", [&] {
    for (int i = 0; i < 3; ++i) it.use(&first);
  });
  run.thread("other", [&] { it.use(&second); });
  run.thread("outside", [&] { it.use(nullptr); });
  run.join();
  check(it.counter.read() == 5, "each was counted");
}

const model all[] = {
    {"an_owner_and_another", an_owner_and_another<atomics>},
    {"an_owner_by_the_short_way_and_another", an_owner_by_the_short_way_and_another<atomics>},
    {"two_owners", two_owners<atomics>},
    {"an_owner_that_comes_back_late", an_owner_that_comes_back_late<atomics>},
    {"an_owner_and_two_others", an_owner_and_two_others<atomics>},
    {"an_owner_and_another_without_membarrier", an_owner_and_another<fenced_atomics>},
    {"two_owners_without_membarrier", two_owners<fenced_atomics>},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
