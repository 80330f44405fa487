// blocking_pool -- threads that are started when needed and joined at the end.
#include "blocking_pool.hpp"

#include <signal.h>

#include <system_error>
#include <utility>

#include "sanitizers.hpp"
#include "system_call.hpp"

namespace faio::ioengine::detail {

using access = operation_access;

blocking_pool::blocking_pool(unsigned max_threads, std::function<void()> on_done)
    : _max_threads(max_threads), _on_done(std::move(on_done)) {
  make_empty(_queue);
  make_empty(_done);
  _threads.reserve(max_threads);
}

blocking_pool::~blocking_pool() {
  {
    const std::lock_guard lock(_mutex);
    _stopping = true;
  }
  _work.notify_all();
  for (std::thread& thread : _threads) thread.join();
}

void blocking_pool::push(operation& op) noexcept {
  bool more_threads = false;
  {
    const std::lock_guard lock(_mutex);
    access::set_flags(op, 0);
    push_back(_queue, op);
    more_threads = ++_queued > _idle;
  }
  if (more_threads && _threads.size() < _max_threads && !start_thread() && _threads.empty()) {
    // No thread, and none to wait for: better slow than never.
    if (remove(op)) {
      unpoison_buffers(op);
      access::result(op) = do_blocking(op);
      const std::lock_guard lock(_mutex);
      access::set_flags(op, done_mark);
      push_back(_done, op);
    }
    return;
  }
  _work.notify_one();
}

bool blocking_pool::start_thread() noexcept {
  // The program's signal handlers run on the program's threads, not on ours.
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    _threads.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    started = false;  // the limit of threads; the caller goes on with those it has
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool blocking_pool::remove(operation& op) noexcept {
  const std::lock_guard lock(_mutex);
  operation_link& link = access::link(op);
  if (link.next == nullptr || access::flags(op) == done_mark) return false;
  unlink(op);
  --_queued;
  return true;
}

void blocking_pool::take_done(operation_link& into) noexcept {
  const std::lock_guard lock(_mutex);
  move_all(_done, into);
}

void blocking_pool::work() noexcept {
  std::unique_lock lock(_mutex);
  for (;;) {
    ++_idle;
    _work.wait(lock, [this] { return _stopping || !is_empty(_queue); });
    --_idle;
    if (is_empty(_queue)) return;
    operation& op = pop_front(_queue);
    --_queued;
    access::link(op) = {};
    lock.unlock();
    unpoison_buffers(op);
    const int result = do_blocking(op);
    lock.lock();
    access::result(op) = result;
    access::set_flags(op, done_mark);
    push_back(_done, op);
    lock.unlock();
    _on_done();
    lock.lock();
  }
}

}  // namespace faio::ioengine::detail
