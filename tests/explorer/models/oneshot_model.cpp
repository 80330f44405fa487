// oneshot_model -- a sender, who receives, stop requests and ends that leave: the value arrives once, and one end frees the memory.
#include <faio/sync/oneshot_core.hpp>

#include "line_waiter.hpp"

namespace faio::explorer::models {
namespace {

using core = sync::basic_oneshot_core<std::size_t, atomics>;
using waiter = line_waiter<core::waiter>;
using sync::oneshot_outcome;

core* make() { return atomics::make<core>(2U); }
void leave(core* from) {
  if (from->leave()) atomics::destroy(from);
}
/// As sender_type::send.
bool send_and_leave(core* to, std::size_t value) {
  const auto came = to->send_and_leave(value);
  if (came.last) atomics::destroy(to);
  return came.sent;
}
oneshot_outcome receive(core& from, waiter& me, ledger& out) {
  auto came = from.receive_or_wait(me);
  if (came == oneshot_outcome::queued) {
    me.wait();
    if (me.state() == sync::wait_state::canceled) return oneshot_outcome::canceled;
    check(me.state() == sync::wait_state::granted, "it was woken for a reason");
    came = me.closed.read() ? oneshot_outcome::closed : oneshot_outcome::done;
  }
  if (came == oneshot_outcome::done) out.count(from.value());
  return came;
}
oneshot_outcome receive(core& from, ledger& out) {
  waiter me;
  return receive(from, me, out);
}
/// What is left for one who comes last.
oneshot_outcome look(core& from, ledger& out) {
  const auto came = from.try_receive();
  if (came == oneshot_outcome::done) out.count(from.value());
  return came;
}

/// An answer. Each end goes as soon as it is done.
void an_answer(run& run) {
  core* const shared = make();
  ledger out;
  atomics::plain<int> written{0};
  run.thread("sender", [&, shared] {
    written.write() = 7;
    check(send_and_leave(shared, 1), "sent");
  });
  run.thread("receiver", [&, shared] {
    check(receive(*shared, out) == oneshot_outcome::done, "received");
    check(written.read() == 7, "what the sender did is visible");
    leave(shared);
  });
  run.join();
  out.expect_all(1);
}

/// One that only looks, and goes.
void a_look(run& run) {
  core* const shared = make();
  ledger out;
  run.thread("sender", [&, shared] { (void)send_and_leave(shared, 1); });
  run.thread("receiver", [&, shared] {
    const auto came = shared->looks_empty() ? oneshot_outcome::would_wait : look(*shared, out);
    check(came == oneshot_outcome::done || came == oneshot_outcome::would_wait, "nobody has closed it");
    if (came == oneshot_outcome::done) {
      check(look(*shared, out) == oneshot_outcome::closed, "there is only one");
    }
    leave(shared);
  });
  run.join();
}

/// Nobody sends: who waits is told when the sender goes.
void a_sender_that_goes(run& run) {
  core* const shared = make();
  ledger out;
  run.thread("sender", [shared] { leave(shared); });
  run.thread("receiver", [&, shared] {
    check(receive(*shared, out) == oneshot_outcome::closed, "nothing will come");
    leave(shared);
  });
  run.join();
  out.expect_all(0);
}

/// The receiver gives up, or goes: the value is sent in time, or the sender is told.
void a_receiver_that_goes(run& run) {
  core* const shared = make();
  ledger out;
  run.thread("sender", [&, shared] { (void)send_and_leave(shared, 1); });
  run.thread("receiver", [&, shared] { leave(shared); });
  run.join();
}
void a_receiver_that_closes(run& run) {
  core* const shared = make();
  ledger out;
  bool sent = false;
  run.thread("sender", [&, shared] { sent = send_and_leave(shared, 1); });
  run.thread("receiver", [&, shared] { shared->close(); });
  run.join();
  check(look(*shared, out) == (sent ? oneshot_outcome::done : oneshot_outcome::closed), "sent or not");
  leave(shared);
  out.expect_all(sent ? 1 : 0);
}

/// Asked to stop while the value comes: it has the value, or the value is there for the next time.
void a_receiver_is_stopped(run& run) {
  core* const shared = make();
  ledger out;
  waiter who;
  bool got = false;
  run.thread("receiver", [&, shared] {
    const auto came = receive(*shared, who, out);
    check(came == oneshot_outcome::done || came == oneshot_outcome::canceled, "one of both");
    got = came == oneshot_outcome::done;
  });
  run.thread("sender", [&, shared] { check(send_and_leave(shared, 1), "sent"); });
  run.thread("canceler", [&, shared] {
    if (shared->cancel(who)) who.wake();
  });
  run.join();
  check(look(*shared, out) == (got ? oneshot_outcome::closed : oneshot_outcome::done), "the value is in one place");
  leave(shared);
  out.expect_all(1);
}
/// Nothing is ever sent: the stop request alone must end the wait, before the line or in it.
void stopped(run& run) {
  core* const shared = make();
  ledger out;
  waiter who;
  run.thread("receiver", [&, shared] { check(receive(*shared, who, out) == oneshot_outcome::canceled, "stopped"); });
  run.thread("canceler", [&, shared] {
    if (shared->cancel(who)) who.wake();
  });
  run.join();
  leave(shared);
  leave(shared);
}

/// Two that send: one is told that it came too late. Two that receive: likewise.
void two_that_send(run& run) {
  core* const shared = make();
  shared->add_end();
  ledger out;
  std::size_t sent = 0;
  for (const std::size_t value : {1U, 2U}) {
    run.thread(value == 1 ? "one" : "two", [&, shared, value] {
      if (send_and_leave(shared, value)) ++sent;
    });
  }
  run.join();
  check(sent == 1, "one of both was sent");
  check(look(*shared, out) == oneshot_outcome::done, "and can be received");
  leave(shared);
}
void two_that_receive(run& run) {
  core* const shared = make();
  ledger out;
  std::size_t closed = 0;
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&, shared] {
      if (receive(*shared, out) == oneshot_outcome::closed) ++closed;
    });
  }
  run.thread("sender", [shared] { check(send_and_leave(shared, 1), "sent"); });
  run.join();
  out.expect_all(1);
  check(closed == 1, "the other one is told");
  leave(shared);
}

/// A second sender is made while the first one goes.
void an_end_more(run& run) {
  core* const shared = make();
  run.thread("sender", [shared] { leave(shared); });
  run.thread("receiver", [shared] {
    shared->add_end();
    leave(shared);
    leave(shared);
  });
  run.join();
}

const model all[] = {
    {"an_answer", an_answer},
    {"a_look", a_look},
    {"a_sender_that_goes", a_sender_that_goes},
    {"a_receiver_that_goes", a_receiver_that_goes},
    {"a_receiver_that_closes", a_receiver_that_closes},
    {"a_receiver_is_stopped", a_receiver_is_stopped},
    {"stopped", stopped},
    {"two_that_send", two_that_send},
    {"two_that_receive", two_that_receive},
    {"an_end_more", an_end_more},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
