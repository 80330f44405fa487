// epoll_engine -- the operations of the ring by readiness: try, wait for the descriptor, try again; files on a few threads.
//
//   start -> try_now --done---------------------------------------------> ready list -> completion function
//                \--wait---> the descriptor's queue --event--> try_now --^
//                \--block--> blocking_pool ------------------------------^
//
// Invariants
//   I1 Trying comes first, functions later: an event batch is worked off, with its system calls, before any completion function
//      runs. So nobody can close a descriptor, and get its number again, between an event and the calls it leads to.
//   I2 On each side of a descriptor operations are served in the order of their submits: who finds others waiting, waits.
//   I3 A number may come to mean another file while operations wait (the owner closed it). The registration in epoll is by
//      number *and* file, so epoll_ctl(MOD) fails then. It is asked whenever an operation begins to wait, and again before an
//      event's calls are made; operations that waited for the old file become orphans, which only cancel and drain end. On the
//      ring such operations keep the old file open; here they do not.               ReuseTest
//   I4 A descriptor's registration is one-shot: an event that nobody waits for comes at most once.
//   I5 A descriptor that is ready for ever and gives EAGAIN for ever (a datagram socket or a unix listener that was shut down) ends those who
//      wait for it with what a call that blocks gives.       SocketTest.AReceiveEndsWhenItsDatagramSocketIsShutDown
#pragma once

#include <sys/epoll.h>

#include <array>
#include <memory>
#include <vector>

#include "blocking_pool.hpp"
#include "engine_factory.hpp"
#include "engine_loop.hpp"
#include "operation_access.hpp"
#include "system_call.hpp"

namespace faio::ioengine::detail {

class epoll_engine final : public engine_loop<epoll_engine> {
 public:
  epoll_engine(const engine_options& options, std::string reason);
  [[nodiscard]] std::expected<void, setup_error> open();
  ~epoll_engine() override;

 private:
  friend engine_loop<epoll_engine>;

  /// Who waits for a descriptor number, and what epoll knows of it.
  struct descriptor {
    operation_link readers;
    operation_link urgent;  // receives with MSG_OOB: they wait for something else than the readers
    operation_link writers;
    operation_link pollers;
    std::uint32_t polled = 0;      // what the pollers want, or more: looked at anew with each event
    std::uint32_t generation = 0;  // counts the files that this number was registered for
    bool registered = false;

    descriptor() noexcept {
      for (operation_link* side : sides()) make_empty(*side);
    }
    [[nodiscard]] std::array<operation_link*, 4> sides() noexcept { return {&readers, &urgent, &writers, &pollers}; }
    [[nodiscard]] bool unused() const noexcept {
      return is_empty(readers) && is_empty(urgent) && is_empty(writers) && is_empty(pollers);
    }
    [[nodiscard]] operation_link& side(const operation& op) noexcept {
      if (op.code() == opcode::poll) return pollers;
      const std::uint32_t events = awaited_events(op);
      return events == EPOLLOUT ? writers : events == EPOLLPRI ? urgent : readers;
    }
    [[nodiscard]] std::uint32_t wanted() const noexcept {
      return (is_empty(readers) ? 0U : EPOLLIN) | (is_empty(urgent) ? 0U : EPOLLPRI) |
             (is_empty(writers) ? 0U : EPOLLOUT) | (is_empty(pollers) ? 0U : polled);
    }
  };

  void start(operation& op) noexcept;
  void start_special(operation& op) noexcept { start(op); }
  void ask_to_cancel(operation& op) noexcept override;
  void enter(std::chrono::nanoseconds timeout) noexcept override;
  std::size_t reap() noexcept override { return 0; }  // everything goes through the ready list
  void end_sleep() noexcept override;
  void cancel_all() noexcept override;
  void keep_going(operation& op) noexcept override;
  [[nodiscard]] bool busy() const noexcept override { return !is_empty(_again) || !is_empty(_later); }
  int make_handle() noexcept override;
  void arm_handle(std::chrono::nanoseconds timeout) noexcept override;
  result<void*> add_pool(buffer_pool&) noexcept override {
    return nullptr;
  }  // the pool's own stack of free buffers will do
  void remove_pool(buffer_pool&) noexcept override {}

  [[nodiscard]] attempt try_guarded(operation& op, bool ready) noexcept;
  bool settle(operation& op, const attempt& tried) noexcept;
  void finish(operation& op, int result) noexcept;
  void wait_for_descriptor(operation& op) noexcept;
  void give_to_pool(operation& op) noexcept;
  void try_again() noexcept;
  void collect_from_pool() noexcept;

  [[nodiscard]] descriptor& descriptor_of(int fd);
  [[nodiscard]] int arm(int fd, descriptor& entry) noexcept;
  void orphan_all(descriptor& entry) noexcept;
  void handle_event(const epoll_event& event) noexcept;
  void serve(operation_link& side) noexcept;
  void end_if_shut_down(int fd, operation_link& readers) noexcept;
  void serve_pollers(descriptor& entry, std::uint32_t events) noexcept;
  int wait_for_events(epoll_event* events, int capacity, std::chrono::nanoseconds timeout) noexcept;

  int _epoll_fd = -1;
  int _event_fd = -1;
  int _timer_fd = -1;  // only with a handle
  bool _precise_wait = true;
  std::size_t _waiting = 0;  // operations in descriptors' queues
  std::size_t _in_pool = 0;
  operation_link _again;
  operation_link _later;
  operation_link _orphans;
  std::vector<std::unique_ptr<descriptor>> _descriptors;  // by number; allocated when first waited for
  std::unique_ptr<blocking_pool> _pool;                   // started when first needed
  const unsigned _pool_threads;
};

// Made in epoll_engine.cpp only, where start, enter and reap can be inlined into it.
extern template class engine_loop<epoll_engine>;

}  // namespace faio::ioengine::detail
