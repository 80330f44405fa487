// channel_model -- senders, receivers, stop requests and close: each value arrives once, or stays with its sender.
#include <faio/sync/channel_core.hpp>

#include "line_waiter.hpp"

namespace faio::explorer::models {
namespace {

using core = sync::basic_channel_core<std::size_t, atomics>;
using waiter = line_waiter<core::waiter>;
using sync::channel_outcome;

channel_outcome outcome_of(waiter& one, channel_outcome came) {
  if (came != channel_outcome::queued) return came;
  one.wait();
  if (one.state() == sync::wait_state::canceled) return channel_outcome::canceled;
  check(one.state() == sync::wait_state::granted, "it was woken for a reason");
  return one.closed.read() ? channel_outcome::closed : channel_outcome::done;
}
channel_outcome send(core& to, waiter& me, std::size_t value) {
  me.value.write().emplace(value);
  return outcome_of(me, to.send_or_wait(me));
}
channel_outcome send(core& to, std::size_t value) {
  waiter me;
  return send(to, me, value);
}
channel_outcome receive(core& from, waiter& me, ledger& out) {
  const auto came = outcome_of(me, from.receive_or_wait(me));
  check(me.value.read().has_value() == (came == channel_outcome::done), "a value came, or it says why not");
  if (me.value.read()) out.count(*me.value.read());
  return came;
}
channel_outcome receive(core& from, ledger& out) {
  waiter me;
  return receive(from, me, out);
}
void drain(core& from, ledger& out) {
  for (;;) {
    std::optional<std::size_t> value;
    if (from.try_receive(value) != channel_outcome::done) return;
    out.count(*value);
  }
}

// The short way, as the awaiters of channel.hpp take it. That the lock is one's own is biased_lock_model's concern: here it is any lock.
struct owner_atomics : atomics {
  class mutex : public atomics::mutex {
   public:
    bool try_lock_as_owner(int /*here*/) {
      lock();
      return true;
    }
    void unlock_as_owner() { unlock(); }
  };
};
using owned_core = sync::basic_channel_core<std::size_t, owner_atomics>;
using owned_waiter = line_waiter<owned_core::waiter>;
using quick = owned_core::quick;
constexpr int here = 0;

channel_outcome outcome_of(owned_waiter& one, channel_outcome came) {
  if (came != channel_outcome::queued) return came;
  one.wait();
  if (one.state() == sync::wait_state::canceled) return channel_outcome::canceled;
  check(one.state() == sync::wait_state::granted, "it was woken for a reason");
  return one.closed.read() ? channel_outcome::closed : channel_outcome::done;
}
channel_outcome send_here(owned_core& to, std::size_t value) {
  const auto quickly = to.send_here(value, here);
  if (quickly == quick::done) return channel_outcome::done;
  if (quickly == quick::held) {
    const auto came = to.send_as_owner(value);
    if (came != channel_outcome::would_wait) return came;
  }
  owned_waiter me;
  me.value.write().emplace(value);
  return outcome_of(me, to.send_or_wait(me));
}
channel_outcome receive_here(owned_core& from, owned_waiter& me, ledger& out) {
  std::size_t value = 0;
  std::optional<std::size_t> place;
  auto quickly = from.receive_here(&value, here);
  if (quickly == quick::done) {
    out.count(value);
    return channel_outcome::done;
  }
  auto came = channel_outcome::would_wait;
  if (quickly == quick::held) came = from.receive_as_owner(place);
  if (came == channel_outcome::would_wait) {
    quickly = from.wait_here(me, here);
    if (quickly == quick::done) {
      came = outcome_of(me, channel_outcome::queued);
    } else {
      came = from.receive_as_owner(me.value.write());
      if (came == channel_outcome::would_wait) came = channel_outcome::canceled;
    }
    place = me.value.read();
  }
  check(place.has_value() == (came == channel_outcome::done), "a value came, or it says why not");
  if (place) out.count(*place);
  return came;
}

template <std::size_t Capacity>
void the_short_way(run& run) {
  owned_core channel(Capacity);
  ledger out;
  run.thread("sender", [&] {
    for (std::size_t i = 1; i <= 2; ++i) check(send_here(channel, i) == channel_outcome::done, "sent");
  });
  run.thread("receiver", [&] {
    for (int i = 0; i < 2; ++i) {
      owned_waiter me;
      check(receive_here(channel, me, out) == channel_outcome::done, "received");
    }
  });
  run.join();
  out.expect_all(2);
}
/// Closed in the middle, as in closing().
void the_short_way_and_closing(run& run) {
  owned_core channel(1);
  ledger out;
  std::size_t sent = 0;
  run.thread("sender", [&] {
    for (std::size_t i = 1; i <= 2; ++i) {
      if (send_here(channel, i) == channel_outcome::done) ++sent;
    }
  });
  run.thread("closer", [&] { channel.close(); });
  run.thread("receiver", [&] {
    for (;;) {
      owned_waiter me;
      const auto came = receive_here(channel, me, out);
      if (came != channel_outcome::done) return check(came == channel_outcome::closed, "nobody has stopped it");
    }
  });
  run.join();
  check(channel.size() == 0, "receivers drain it before they are told");
  out.expect_all(sent);
}
/// A receiver is asked to give up while a value comes.
void the_short_way_and_a_stop(run& run) {
  owned_core channel(1);
  ledger out;
  owned_waiter who;
  bool got = false;
  run.thread("receiver", [&] {
    const auto came = receive_here(channel, who, out);
    check(came == channel_outcome::done || came == channel_outcome::canceled, "one of both");
    got = came == channel_outcome::done;
  });
  run.thread("sender", [&] { check(send_here(channel, 1) == channel_outcome::done, "there is room"); });
  run.thread("canceler", [&] {
    if (channel.cancel(who)) who.wake();
  });
  run.join();
  check(channel.size() == (got ? 0U : 1U), "the value is in one place");
}
/// Nothing is ever sent.
void the_short_way_is_stopped(run& run) {
  owned_core channel(1);
  ledger out;
  owned_waiter who;
  run.thread("receiver", [&] { check(receive_here(channel, who, out) == channel_outcome::canceled, "canceled"); });
  run.thread("canceler", [&] {
    if (channel.cancel(who)) who.wake();
  });
  run.join();
}
/// Room that the short way makes is for the first in line.
void the_short_way_makes_room(run& run) {
  owned_core channel(1);
  ledger out;
  run.thread("sender", [&] {
    for (std::size_t i = 1; i <= 2; ++i) check(send_here(channel, i) == channel_outcome::done, "sent");
  });
  run.thread("receiver", [&] {
    owned_waiter me;
    check(receive_here(channel, me, out) == channel_outcome::done, "received");
  });
  run.join();
  check(channel.size() == 1, "the second is in the ring");
}

/// Two senders, two receivers.
template <std::size_t Capacity>
void many_to_many(run& run) {
  core channel(Capacity);
  ledger out;
  run.thread("one", [&] { check(send(channel, 1) == channel_outcome::done, "sent"); });
  run.thread("two", [&] { check(send(channel, 2) == channel_outcome::done, "sent"); });
  for (const char* name : {"first", "second"}) {
    run.thread(name, [&] { check(receive(channel, out) == channel_outcome::done, "received"); });
  }
  run.join();
  out.expect_all(2);
  check(channel.size() == 0, "nothing is left");
}

/// One sender: in its order. What it wrote before it sent is visible.
void in_order(run& run) {
  core channel(1);
  atomics::plain<int> written{0};
  run.thread("sender", [&] {
    for (std::size_t i = 1; i <= 3; ++i) {
      written.write() = static_cast<int>(i);  // read by nobody before the last has come
      (void)send(channel, i);
    }
  });
  run.thread("receiver", [&] {
    for (std::size_t i = 1; i <= 3; ++i) {
      waiter me;
      check(outcome_of(me, channel.receive_or_wait(me)) == channel_outcome::done, "received");
      check(me.value.read() == i, "in the order of sending");
    }
    check(written.read() == 3, "what the sender did is visible");
  });
  run.join();
}

/// A receiver is asked to give up while a value comes: it has the value, or the value is there for the next.
void receiver_gives_up(run& run) {
  core channel(1);
  ledger out;
  waiter who;
  bool got = false;
  run.thread("receiver", [&] {
    const auto came = receive(channel, who, out);
    check(came == channel_outcome::done || came == channel_outcome::canceled, "one of both");
    got = came == channel_outcome::done;
  });
  run.thread("sender", [&] { check(send(channel, 1) == channel_outcome::done, "there is room"); });
  run.thread("canceler", [&] {
    if (channel.cancel(who)) who.wake();
  });
  run.join();
  check(channel.size() == (got ? 0U : 1U), "the value is in one place");
  drain(channel, out);
  out.expect_all(1);
}

/// A sender is asked to give up while a receiver comes: sent and received, or neither.
void sender_gives_up(run& run) {
  core channel(0);
  ledger out;
  waiter who;
  bool sent = false;
  run.thread("sender", [&] {
    const auto came = send(channel, who, 1);
    check(came == channel_outcome::done || came == channel_outcome::canceled, "one of both");
    sent = came == channel_outcome::done;
    if (!sent) check(who.value.read() == 1U, "it has kept its value");
  });
  run.thread("canceler", [&] {
    if (channel.cancel(who)) who.wake();
  });
  run.thread("receiver", [&] {
    std::optional<std::size_t> value;
    if (channel.try_receive(value) == channel_outcome::done) out.count(*value);
  });
  run.join();
  drain(channel, out);
  out.expect_all(sent ? 1 : 0);
}

/// The first in line gives up; the one behind it is served.
void those_behind_one_who_gives_up(run& run) {
  core channel(0);
  ledger out;
  waiter gives_up;
  gives_up.value.write().emplace(1U);
  check(channel.send_or_wait(gives_up) == channel_outcome::queued, "nobody receives yet");
  bool first_was_sent = false;
  run.thread("behind", [&] { (void)send(channel, 2); });
  run.thread("canceler", [&] {
    if (channel.cancel(gives_up)) {
      gives_up.wake();
    } else {
      first_was_sent = true;
      check(receive(channel, out) == channel_outcome::done, "there is one more");
    }
  });
  run.thread("receiver", [&] { check(receive(channel, out) == channel_outcome::done, "received"); });
  run.join();
  out.expect_all(first_was_sent ? 2 : 1);
}

/// Closed in the middle: what was sent is received, what was not is with its sender.
void closing(run& run) {
  core channel(1);
  ledger out;
  std::size_t sent = 0;
  run.thread("sender", [&] {
    for (std::size_t i = 1; i <= 2; ++i) {
      const auto came = send(channel, i);
      check(came == channel_outcome::done || came == channel_outcome::closed, "one of both");
      if (came == channel_outcome::done) ++sent;
    }
  });
  run.thread("closer", [&] { channel.close(); });
  run.thread("receiver", [&] {
    while (receive(channel, out) == channel_outcome::done) {
    }
  });
  run.join();
  check(channel.size() == 0, "receivers drain it before they are told");
  out.expect_all(sent);
}

/// Nobody receives: close alone must end the wait of a sender, which keeps its value.
void closing_on_a_sender(run& run) {
  core channel(0);
  run.thread("sender", [&] {
    waiter me;
    check(send(channel, me, 1) == channel_outcome::closed, "nobody has taken it");
    check(me.value.read() == 1U, "it has kept its value");
  });
  run.thread("closer", [&] { channel.close(); });
  run.join();
  std::optional<std::size_t> value;
  check(channel.try_receive(value) == channel_outcome::closed, "nothing was sent");
}

/// One value is taken from a full ring: the sender in line goes on, although nobody else receives.
void room_is_for_the_first_in_line(run& run) {
  core channel(1);
  ledger out;
  run.thread("sender", [&] {
    for (std::size_t i = 1; i <= 2; ++i) check(send(channel, i) == channel_outcome::done, "sent");
  });
  run.thread("receiver", [&] { check(receive(channel, out) == channel_outcome::done, "received"); });
  run.join();
  check(channel.size() == 1, "the second is in the ring");
  drain(channel, out);
  out.expect_all(2);
}

/// Nothing is ever sent: the stop request alone must end the wait, before the line or in it.
void canceled(run& run) {
  core channel(1);
  ledger out;
  waiter who;
  run.thread("receiver", [&] { check(receive(channel, who, out) == channel_outcome::canceled, "canceled"); });
  run.thread("canceler", [&] {
    if (channel.cancel(who)) who.wake();
  });
  run.join();
}

/// Closed and canceled at once: woken once.
void closed_and_canceled(run& run) {
  core channel(0);
  ledger out;
  waiter who;
  run.thread("receiver", [&] {
    const auto came = receive(channel, who, out);
    check(came == channel_outcome::closed || came == channel_outcome::canceled, "one of both");
  });
  run.thread("closer", [&] { channel.close(); });
  run.thread("canceler", [&] {
    if (channel.cancel(who)) who.wake();
  });
  run.join();
}

const model all[] = {
    {"rendezvous", many_to_many<0>},
    {"many_to_many", many_to_many<1>},
    {"in_order", in_order},
    {"receiver_gives_up", receiver_gives_up},
    {"sender_gives_up", sender_gives_up},
    {"those_behind_one_who_gives_up", those_behind_one_who_gives_up},
    {"closing", closing},
    {"closing_on_a_sender", closing_on_a_sender},
    {"room_is_for_the_first_in_line", room_is_for_the_first_in_line},
    {"canceled", canceled},
    {"closed_and_canceled", closed_and_canceled},
    {"the_short_way", the_short_way<1>},
    {"the_short_way_to_a_rendezvous", the_short_way<0>},
    {"the_short_way_and_closing", the_short_way_and_closing},
    {"the_short_way_and_a_stop", the_short_way_and_a_stop},
    {"the_short_way_is_stopped", the_short_way_is_stopped},
    {"the_short_way_makes_room", the_short_way_makes_room},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
