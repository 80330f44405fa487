// wait_model -- a wait that can end by its event, by a stop request, or move to another worker: exactly one resumes it.
//
// Around the real handshake, workers do what leaf_wait.cpp does. What it relies on is plain here: the home of the wait, which the
// canceller reads to know whom to send its message to, and what the canceller did before, which whoever resumes as cancelled sees.
#include <faio/context/wait_handshake.hpp>

#include "model.hpp"

namespace faio::explorer::models {
namespace {

class scene {
 public:
  /// The worker, when the event has come.
  void event(std::size_t worker) {
    if (_handshake.fire()) {
      resume(false);
    } else {
      await_message(worker);
    }
  }
  /// The first worker leaves with the wait in its engine.
  void leave() {
    if (_handshake.leave()) {
      _queue.store(true, std::memory_order_release);
    } else {
      await_message(0);
    }
  }
  /// The second takes it from the queue, if it was moved. True: it is armed here now.
  bool arrive() {
    if (!_queue.load(std::memory_order_acquire)) return false;
    _home.write() = 1;
    if (_handshake.rearm()) return true;
    resume(true);
    return false;
  }
  void cancel() {
    _reason.write() = 1;
    if (!_handshake.cancel()) return;
    ++_sent;
    _messages[_home.read()].store(true, std::memory_order_release);  // as an inbox hands it over
  }
  /// The worker has nothing but a message to wait for.
  void await_message(std::size_t worker) {
    while (!_messages[worker].load(std::memory_order_acquire)) atomics::pause();
    ++_taken;
    resume(true);
  }
  void look() {
    if (_handshake.is_asked()) check(_reason.read() == 1, "what the canceller did before is visible");
  }

  [[nodiscard]] bool moved() const { return _queue.load(std::memory_order_relaxed); }
  [[nodiscard]] bool resumed() const { return _resumed == 1; }
  [[nodiscard]] bool resumed_as_canceled() const { return _canceled; }
  /// After all: it went on once, and no message is on its way to a coroutine that may be gone.
  void expect_end() const {
    check(resumed(), "nobody resumed the coroutine");
    check(_sent == _taken, "a message was sent to a coroutine that has gone on");
  }

 private:
  void resume(bool canceled) {
    check(++_resumed == 1, "the coroutine was resumed twice");
    if (canceled) check(_reason.read() == 1, "what the canceller did before is visible");
    _canceled = canceled;
  }

  context::basic_wait_handshake<atomics> _handshake;
  atomics::plain<std::size_t> _home{0};
  atomics::plain<int> _reason{0};
  atomics::atomic<bool> _queue{false};
  std::array<atomics::atomic<bool>, 2> _messages;
  int _resumed = 0;
  int _sent = 0;
  int _taken = 0;
  bool _canceled = false;
};

/// The bare race: the event, or the message.
void an_event_and_a_cancel(run& run) {
  scene here;
  run.thread("worker", [&] { here.event(0); });
  run.thread("canceller", [&] { here.cancel(); });
  run.join();
  here.expect_end();
}

/// No event ever comes: only the stop request can end it, wherever it is meanwhile.
void a_cancel_while_it_moves(run& run) {
  scene here;
  run.thread("leaves", [&] { here.leave(); });
  run.thread("takes over", [&] {
    for (int looks = 0; looks < 2; ++looks) {
      if (here.arrive()) here.await_message(1);
      if (here.resumed() || here.moved()) return;
    }
  });
  run.thread("canceller", [&] { here.cancel(); });
  run.join();
  if (!here.resumed()) {
    // The second worker did not see it come: it does now. The request has been made, so this cannot arm it again.
    check(here.moved(), "nobody resumed the coroutine");
    check(!here.arrive(), "a stop request was lost");
  }
  check(here.resumed_as_canceled(), "a stop request was lost");
  here.expect_end();
}

/// All three: the event at the new home, the move, the stop request.
void an_event_after_a_move(run& run) {
  scene here;
  run.thread("leaves", [&] { here.leave(); });
  run.thread("takes over", [&] {
    if (here.arrive()) here.event(1);
  });
  run.thread("canceller", [&] { here.cancel(); });
  run.join();
  if (!here.resumed() && here.arrive()) here.event(1);
  here.expect_end();
}

/// A worker that looks whether it was asked sees what the one who asked did before.
void a_look_beside_a_cancel(run& run) {
  scene here;
  run.thread("worker", [&] {
    here.look();
    here.event(0);
  });
  run.thread("canceller", [&] { here.cancel(); });
  run.join();
  here.expect_end();
}

const model all[] = {
    {"an_event_and_a_cancel", an_event_and_a_cancel},
    {"a_cancel_while_it_moves", a_cancel_while_it_moves},
    {"an_event_after_a_move", an_event_after_a_move},
    {"a_look_beside_a_cancel", a_look_beside_a_cancel},
};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
