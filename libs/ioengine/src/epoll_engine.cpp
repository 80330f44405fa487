// epoll_engine -- trying, waiting, serving. Opening, waking and the handle: epoll_services.cpp.
#include "epoll_engine.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sanitizers.hpp"

namespace faio::ioengine::detail {

using access = operation_access;
using outcome = attempt::outcome;

namespace {

// One event array on the stack; what does not fit comes with the next call.
constexpr int event_batch = 128;

/// A socket whose peer, or owner, has ended what can be read. Not a pipe or a terminal: those say so when they are read.
bool is_shut_down(int fd) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return false;
  pollfd state{fd, POLLRDHUP, 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & (POLLRDHUP | POLLHUP)) != 0;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------- starting, trying

void epoll_engine::start(operation& op) noexcept {
  const int fd = access::fd(op);
  if (fd < 0 && op.code() != opcode::nop && op.code() != opcode::openat) {
    complete_later(op, -EBADF);
    return;
  }
  forget_progress(op);
  if (fd >= 0 && static_cast<std::size_t>(fd) < _descriptors.size() && _descriptors[static_cast<std::size_t>(fd)]) {
    descriptor& entry = *_descriptors[static_cast<std::size_t>(fd)];
    if (op.code() == opcode::close) {
      orphan_all(entry);
    } else if (op.code() != opcode::poll && op.code() != opcode::shutdown && op.code() != opcode::fsync &&
               !is_empty(entry.side(op))) {  // I2
      wait_for_descriptor(op);
      return;
    }
  }
  settle(op, try_guarded(op, false));
}

/// The sanitizer checks the buffers of the calls we make: while we make them, they are ours.
attempt epoll_engine::try_guarded(operation& op, bool ready) noexcept {
#ifdef FAIO_ADDRESS_SANITIZER
  if (_poison_buffers) {
    unpoison_buffers(op);
    const attempt tried = try_now(op, ready);
    if (tried.kind != outcome::done) poison_buffers(op);
    return tried;
  }
#endif
  return try_now(op, ready);
}

/// Puts an unlinked operation where its try says. True: it is done.
bool epoll_engine::settle(operation& op, const attempt& tried) noexcept {
  switch (tried.kind) {
    case outcome::done:
      finish(op, tried.result);
      return true;
    case outcome::wait:
    case outcome::unsure:
      wait_for_descriptor(op);
      return false;
    case outcome::block:
      give_to_pool(op);
      return false;
    case outcome::later:
      access::put(op, place::again);
      push_back(_later, op);
      return false;
  }
  return false;
}

void epoll_engine::finish(operation& op, int result) noexcept {
  std::uint32_t flags = 0;
  if (access::is(op, access::pooled) && result > 0) flags = access::flags(op);
  // A multishot accept goes on after each descriptor, a multishot receive after each piece of data; errors and the end are final.
  if (access::is(op, access::multishot) && (op.code() == opcode::accept ? result >= 0 : result > 0))
    flags |= access::more_flag;
  complete_later(op, result, flags);
}

void epoll_engine::keep_going(operation& op) noexcept {
  access::put(op, place::again);
  push_back(_again, op);
}

void epoll_engine::try_again() noexcept {
  operation_link batch;
  make_empty(batch);
  move_all(_again, batch);
  while (!is_empty(batch)) {
    operation& op = pop_front(batch);
    if (access::is(op, access::cancel_asked))
      complete_later(op, -ECANCELED);
    else
      settle(op, try_guarded(op, false));
  }
}

void epoll_engine::give_to_pool(operation& op) noexcept {
  if (!_pool) _pool = std::make_unique<blocking_pool>(_pool_threads, [this] { wake(); });
  access::put(op, place::pool);
  ++_in_pool;
  _pool->push(op);
}

void epoll_engine::collect_from_pool() noexcept {
  operation_link done;
  make_empty(done);
  _pool->take_done(done);
  while (!is_empty(done)) {
    operation& op = pop_front(done);
    --_in_pool;
    complete_later(op, access::result(op));
  }
}

// ---------------------------------------------------------------------------------------------------------------- waiting

epoll_engine::descriptor& epoll_engine::descriptor_of(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= _descriptors.size()) _descriptors.resize(std::max(index + 1, _descriptors.size() * 2));
  if (!_descriptors[index]) _descriptors[index] = std::make_unique<descriptor>();
  return *_descriptors[index];
}

void epoll_engine::wait_for_descriptor(operation& op) noexcept {
  const int fd = access::fd(op);
  descriptor& entry = descriptor_of(fd);
  access::put(op, place::waiting);
  ++_waiting;
  if (access::is(op, access::multishot))  // it keeps its turn from piece to piece
    push_front(entry.side(op), op);
  else
    push_back(entry.side(op), op);
  if (op.code() == opcode::poll) entry.polled |= awaited_events(op);
  int error = arm(fd, entry);
  if (error == ENOENT) {  // I3: those who were here before wait for a file that is gone
    unlink(op);
    --_waiting;
    orphan_all(entry);
    push_back(entry.side(op), op);
    access::put(op, place::waiting);
    ++_waiting;
    error = arm(fd, entry);
  }
  if (error == 0) return;
  unlink(op);
  --_waiting;
  if (error == EPERM)  // epoll knows no readiness for it: a regular file
    give_to_pool(op);
  else
    finish(op, -error);
}

/// Asks epoll for one event that somebody waits for. 0, ENOENT if the number means another file now, or another errno.
int epoll_engine::arm(int fd, descriptor& entry) noexcept {
  epoll_event event{};
  event.events = entry.wanted() | EPOLLONESHOT;
  if (entry.registered) {
    event.data.u64 = (std::uint64_t{entry.generation} << 32) | static_cast<std::uint32_t>(fd);
    if (::epoll_ctl(_epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0) return 0;
    entry.registered = false;
    return errno;
  }
  event.data.u64 = (std::uint64_t{++entry.generation} << 32) | static_cast<std::uint32_t>(fd);
  if (::epoll_ctl(_epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0 &&
      (errno != EEXIST || ::epoll_ctl(_epoll_fd, EPOLL_CTL_MOD, fd, &event) != 0))
    return errno;
  entry.registered = true;
  return 0;
}

void epoll_engine::orphan_all(descriptor& entry) noexcept {
  for (operation_link* side : entry.sides()) {
    while (!is_empty(*side)) {
      operation& op = pop_front(*side);
      --_waiting;
      access::put(op, place::orphaned);
      push_back(_orphans, op);
    }
  }
}

void epoll_engine::ask_to_cancel(operation& op) noexcept {
  switch (access::where(op)) {
    case place::waiting:
      --_waiting;
      [[fallthrough]];
    case place::orphaned:
      unlink(op);
      break;
    case place::pool:
      if (!_pool->remove(op)) return;  // a thread has begun: it ends by itself
      --_in_pool;
      break;
    default:
      return;  // place::again: the next turn sees that it was asked
  }
  // What has been moved is moved: the ring gives the count then, too.
  const int progress = progress_of(op);
  complete_later(op, progress != 0 ? progress : -ECANCELED);
}

void epoll_engine::cancel_all() noexcept {
  const auto cancel_list = [this](operation_link& list) {
    for (operation_link* link = list.next; link != &list;) {
      operation& op = access::from(*link);
      link = link->next;
      access::options(op) |= access::cancel_asked;
      ask_to_cancel(op);
    }
  };
  for (auto& entry : _descriptors) {
    if (!entry) continue;
    for (operation_link* side : entry->sides()) cancel_list(*side);
  }
  cancel_list(_orphans);
  cancel_list(_again);
  move_all(_later, _again);
  cancel_list(_again);
}

// ---------------------------------------------------------------------------------------------------------------- serving

void epoll_engine::enter(std::chrono::nanoseconds timeout) noexcept {
  if (_in_pool != 0) collect_from_pool();
  if (!is_empty(_again)) try_again();
  if (has_ready() || !is_empty(_again)) timeout = no_time;
  if (timeout == no_time && _waiting == 0 && _timer_fd < 0 && is_empty(_later)) return;
  if (!is_empty(_later)) {
    constexpr std::chrono::nanoseconds soon = std::chrono::milliseconds(1);
    timeout = timeout < no_time ? soon : std::min(timeout, soon);
    move_all(_later, _again);
  }
  std::array<epoll_event, event_batch> events;
  const int count = wait_for_events(events.data(), event_batch, timeout);
  for (int i = 0; i < count; ++i) handle_event(events[static_cast<std::size_t>(i)]);
  if (_in_pool != 0) collect_from_pool();
}

void epoll_engine::handle_event(const epoll_event& event) noexcept {
  const int fd = static_cast<int>(event.data.u64 & 0xffff'ffffU);
  if (fd < 0) return;  // our own eventfd or timerfd: edges, which have done their work by ending the sleep
  descriptor& entry = *_descriptors[static_cast<std::size_t>(fd)];
  if (entry.generation != event.data.u64 >> 32) return;  // of a file that this number meant before
  if (entry.unused()) return;
  epoll_event nothing{};
  nothing.events = EPOLLONESHOT;
  nothing.data = event.data;
  if (::epoll_ctl(_epoll_fd, EPOLL_CTL_MOD, fd, &nothing) != 0) {  // I3
    entry.registered = false;
    orphan_all(entry);
    return;
  }
  constexpr std::uint32_t bad = EPOLLERR | EPOLLHUP;
  if ((event.events & (EPOLLIN | bad)) != 0) {
    serve(entry.readers);
    if (!is_empty(entry.readers)) end_if_shut_down(fd, entry.readers);
  }
  if ((event.events & (EPOLLPRI | bad)) != 0) serve(entry.urgent);
  if ((event.events & (EPOLLOUT | bad)) != 0) serve(entry.writers);
  serve_pollers(entry, event.events);
  if (entry.unused()) return;
  if (arm(fd, entry) != 0) orphan_all(entry);
}

void epoll_engine::serve(operation_link& side) noexcept {
  while (!is_empty(side)) {
    operation& op = front(side);
    const attempt tried = try_guarded(op, true);
    if (tried.kind == outcome::wait || tried.kind == outcome::unsure) return;
    unlink(op);
    --_waiting;
    settle(op, tried);
    // A multishot operation has one piece at a time; its next try is before those who wait behind it.
    if (access::where(op) == place::ready && access::is(op, access::multishot)) return;
  }
}

/// Ready, and yet they wait: another one was faster, or it is I5.
void epoll_engine::end_if_shut_down(int fd, operation_link& readers) noexcept {
  if (!is_shut_down(fd)) return;
  serve(readers);  // what came between their try and the end
  while (!is_empty(readers)) {
    operation& op = front(readers);
    if (op.code() == opcode::recvmsg) {
      auto& message = *static_cast<msghdr*>(access::address(op));
      message.msg_namelen = 0;
      message.msg_controllen = 0;
      message.msg_flags = 0;
    }
    unlink(op);
    --_waiting;
    finish(op, op.code() == opcode::accept ? -EINVAL : progress_of(op));
  }
}

void epoll_engine::serve_pollers(descriptor& entry, std::uint32_t events) noexcept {
  entry.polled = 0;
  for (operation_link* link = entry.pollers.next; link != &entry.pollers;) {
    operation& op = access::from(*link);
    link = link->next;
    const std::uint32_t matched = events & (awaited_events(op) | EPOLLERR | EPOLLHUP);
    if (matched == 0) {
      entry.polled |= awaited_events(op);
      continue;
    }
    unlink(op);
    --_waiting;
    finish(op, static_cast<int>(matched));
  }
}

template class engine_loop<epoll_engine>;

}  // namespace faio::ioengine::detail
