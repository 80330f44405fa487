// stop_model -- a stop request meets waits that come and go, and lists that are just being linked: each is told, or refused, and may go then.
//
// Around the real lists, threads do what scope.cpp does. A wait touches its scope, and is destroyed, as soon as it may be.
#include <faio/context/stop_list.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

using list = context::basic_stop_list<atomics>;

/// A wait, or what stands for a list beneath.
class listener : public context::basic_stop_listener<atomics> {
 public:
  explicit listener(list* beneath = nullptr) : _beneath(beneath) {}
  [[nodiscard]] list* beneath() const { return _beneath; }
  void tell() {
    check(++_times.write() == 1, "somebody was told twice");
    _came.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] bool came() const { return _came.load(std::memory_order_relaxed); }
  [[nodiscard]] int times() const { return _times.read(); }

 private:
  list* _beneath;
  atomics::plain<int> _times{0};
  atomics::atomic<bool> _came{false};
};

/// What scope::tell_all does; a model's tree is flat enough to recurse.
void tell_all(list& asked) {
  while (auto* const next = static_cast<listener*>(asked.take())) {
    if (list* const below = next->beneath()) {
      if (below->ask()) tell_all(*below);
    } else {
      next->tell();
    }
    list::told(*next);
  }
}

class scene {
 public:
  void request(list& top) {
    _reason.write() = 1;
    if (top.ask()) tell_all(top);
  }
  /// Waits until a stop request ends it: one will come.
  void wait_for_stop(list& in) {
    auto* const me = atomics::make<listener>();
    if (in.add(*me)) {
      while (!me->came()) atomics::pause();
      check(!in.remove(*me), "it was told, so it was not in the list any more");
      check(me->times() == 1, "a stop request was lost");
    }
    check(_reason.read() == 1, "what the one who asked did before is visible");
    atomics::destroy(me);
  }
  /// Something else ends it, perhaps at the very moment of the request.
  void come_and_go(list& in) {
    auto* const me = atomics::make<listener>();
    if (in.add(*me)) {
      const bool untold = in.remove(*me);
      check(me->times() == (untold ? 0 : 1), "remove() says whether it was told");
    } else {
      check(_reason.read() == 1, "what the one who asked did before is visible");
    }
    atomics::destroy(me);
  }
  void look(list& at) {
    if (at.is_asked()) check(_reason.read() == 1, "what the one who asked did before is visible");
  }

 private:
  atomics::plain<int> _reason{0};
};

void a_wait_and_a_stop(run& run) {
  scene here;
  list top;
  run.thread("waits", [&] { here.wait_for_stop(top); });
  run.thread("stops", [&] { here.request(top); });
  run.join();
}

void waits_that_come_and_go(run& run) {
  scene here;
  list top;
  run.thread("one", [&] { here.come_and_go(top); });
  run.thread("other", [&] { here.come_and_go(top); });
  run.thread("stops", [&] { here.request(top); });
  run.join();
}

/// Only one of them tells; who comes second must not think that all have been told.
void two_who_stop(run& run) {
  list top;
  listener first;
  atomics::atomic<int> told{0};
  check(top.add(first), "nobody has asked yet");
  const auto request = [&] {
    if (!top.ask()) return;
    tell_all(top);
    told.fetch_add(1, std::memory_order_relaxed);
  };
  run.thread("one", request);
  run.thread("other", request);
  run.join();
  check(told.load(std::memory_order_relaxed) == 1, "exactly one of them tells");
  check(!top.remove(first) && first.times() == 1, "a stop request was lost");
}

/// A list is linked when the first wait in it comes, while the one above is asked; it goes when its wait has ended.
void a_list_beneath(run& run) {
  scene here;
  list top;
  run.thread("waits", [&] {
    auto* const child = atomics::make<list>();
    auto* const stands_for_it = atomics::make<listener>(child);
    child->link_to(top, *stands_for_it);
    here.wait_for_stop(*child);
    if (stands_for_it->is_added()) top.remove(*stands_for_it);
    atomics::destroy(stands_for_it);
    atomics::destroy(child);
  });
  run.thread("stops", [&] { here.request(top); });
  run.join();
}

/// Two waits of one scope, on two workers, link it at the same time.
void two_who_link(run& run) {
  scene here;
  list top;
  list child;
  listener stands_for_it(&child);
  run.thread("links", [&] { child.link_to(top, stands_for_it); });
  run.thread("links and waits", [&] {
    child.link_to(top, stands_for_it);
    here.wait_for_stop(child);
  });
  run.thread("stops", [&] { here.request(top); });
  run.join();
  if (stands_for_it.is_added()) top.remove(stands_for_it);
}

/// The list beneath is asked from above and by its own handle.
void asked_from_two_sides(run& run) {
  scene here;
  list top;
  list child;
  listener stands_for_it(&child);
  child.link_to(top, stands_for_it);
  run.thread("waits", [&] {
    listener me;
    if (!child.add(me)) return;
    while (!me.came()) atomics::pause();
    child.remove(me);
  });
  run.thread("above", [&] {
    if (top.ask()) tell_all(top);
  });
  run.thread("handle", [&] {
    if (child.ask()) tell_all(child);
  });
  run.join();
  top.remove(stands_for_it);
}

void a_look_beside_a_stop(run& run) {
  scene here;
  list top;
  run.thread("looks", [&] { here.look(top); });
  run.thread("stops", [&] { here.request(top); });
  run.join();
}

// A lock that is tried with a stale value is tried again: more than two stale loads an execution show nothing new, and multiply the rest.
const model all[] = {
    {"a_look_beside_a_stop", a_look_beside_a_stop},
    {"two_who_stop", two_who_stop},
    {"a_wait_and_a_stop", a_wait_and_a_stop},
    {"waits_that_come_and_go", waits_that_come_and_go, 1},
    {"asked_from_two_sides", asked_from_two_sides, 0},
    {"a_list_beneath", a_list_beneath, 2},
    {"two_who_link", two_who_link, 0},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
