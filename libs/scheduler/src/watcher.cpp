// watcher -- a poll that is armed again after each callback, on whichever worker it lives.
//
//   step:    on a worker: calls back for what came, then arms the poll there        (also the first time, with nothing to call)
//   poll:    completes in the engine: puts step into that worker's private queue
//   cancel:  sent to the poll's worker by reset()
//
// The source keeps itself alive from the first step until the step that finds it ended. Its mutex is held during the
// callback: reset() on another thread waits for it, reset() inside it does not.
#include "faio/scheduler/watcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "faio/scheduler/thread_state.hpp"

namespace faio::scheduler {

struct watcher::source : std::enable_shared_from_this<source> {
  source(shared_state& of, int descriptor, short wanted, std::function<void(int)> call, const std::source_location& by)
      : runtime(of),
        fd(descriptor),
        events(wanted),
        ready(std::move(call)),
        where(by),
        step(*this),
        cancel(*this),
        poll(*this) {}

  struct step_item final : work_item {
    explicit step_item(source& of) : work_item(how), owner(of) {}
    static void run_it(work_item& item) noexcept { static_cast<step_item&>(item).owner.go_on(); }
    static void drop_it(work_item& item) noexcept { static_cast<step_item&>(item).owner.finish(); }
    static constexpr operations how{&run_it, &drop_it};
    source& owner;
  };
  struct cancel_item final : work_item {
    explicit cancel_item(source& of) : work_item(how), owner(of) {}
    static void run_it(work_item& item) noexcept { static_cast<cancel_item&>(item).owner.cancel_here(); }
    static void drop_it(work_item& item) noexcept {
      const auto last = std::move(static_cast<cancel_item&>(item).owner.kept_by_cancel);
    }
    static constexpr operations how{&run_it, &drop_it};
    source& owner;
  };
  struct poll_operation final : ioengine::operation {
    explicit poll_operation(source& of) : operation(&completed), owner(of) {}
    static void completed(operation& op) noexcept { static_cast<poll_operation&>(op).owner.polled(op.result()); }
    source& owner;
  };

  void go_on() noexcept {
    std::shared_ptr<source> last;
    const std::lock_guard lock(mutex);
    if (came != 0 && !ended) {
      current_worker()->runs_callable(where);
      try {
        ready(std::exchange(came, 0));
      } catch (...) {
        runtime.report_unhandled(std::current_exception(), where);
      }
      current_worker()->runs_callable({});
    }
    if (failed) ended = true;
    if (ended) {
      last = std::move(kept);
      return;
    }
    worker& here = *current_worker();
    home.store(&here, std::memory_order_relaxed);  // relaxed: read under the mutex, or by `here` itself
    poll.prepare_poll(fd, events);
    here.io().submit(poll);
  }

  void polled(int result) noexcept {
    if (result > 0) came = result;
    if (result < 0 && result != -ECANCELED) {
      came = POLLERR;
      failed = true;
    }
    current_worker()->push_private(step);
  }

  void finish() noexcept {
    std::shared_ptr<source> last;
    const std::lock_guard lock(mutex);
    ended = true;
    last = std::move(kept);
  }

  void end() noexcept {
    const std::lock_guard lock(mutex);
    if (std::exchange(ended, true) || kept == nullptr) return;
    worker* const at = home.load(std::memory_order_relaxed);
    if (at == nullptr) return;  // its first step is on the way and finds it ended
    kept_by_cancel = kept;
    if (!runtime.post_to(*at, cancel)) kept_by_cancel.reset();
  }

  void cancel_here() noexcept {
    const auto last = std::move(kept_by_cancel);
    worker* const here = current_worker();
    const std::lock_guard lock(mutex);
    if (home.load(std::memory_order_relaxed) == here) {
      if (poll.in_flight()) here->io().cancel(poll);
    } else if (kept != nullptr) {  // it moved meanwhile
      kept_by_cancel = kept;
      if (!runtime.post_to(*home.load(std::memory_order_relaxed), cancel)) kept_by_cancel.reset();
    }
  }

  shared_state& runtime;
  const int fd;
  const short events;
  const std::function<void(int)> ready;
  const std::source_location where;
  std::recursive_mutex mutex;
  bool ended = false;
  bool failed = false;  // the poll itself
  int came = 0;
  std::atomic<worker*> home{nullptr};
  std::shared_ptr<source> kept;
  std::shared_ptr<source> kept_by_cancel;
  step_item step;
  cancel_item cancel;
  poll_operation poll;
};

watcher& watcher::operator=(watcher&& other) noexcept {
  reset();
  _source = std::move(other._source);
  return *this;
}

void watcher::reset() noexcept {
  if (const auto last = std::exchange(_source, nullptr)) last->end();
}

bool watcher::active() const noexcept {
  if (_source == nullptr) return false;
  const std::lock_guard lock(_source->mutex);
  return !_source->ended;
}

ioengine::result<watcher> watch(shared_state& runtime, int fd, short events, std::function<void(int)> ready,
                                std::source_location where) {
  struct stat about{};
  if (::fstat(fd, &about) != 0) return std::unexpected(std::error_code(errno, std::system_category()));
  if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) return std::unexpected(make_error_code(errc::not_watchable));
  watcher made;
  made._source = std::make_shared<watcher::source>(runtime, fd, events, std::move(ready), where);
  made._source->kept = made._source;
  if (!runtime.post_to_fewest_timers(made._source->step)) {
    made._source->finish();
    return std::unexpected(make_error_code(errc::stopped));
  }
  return made;
}

}  // namespace faio::scheduler
