// watcher -- a raw event source: a callback each time that a descriptor is ready, on one worker.
#pragma once

#include <functional>
#include <memory>
#include <source_location>

#include "faio/ioengine/result.hpp"
#include "faio/scheduler/export.hpp"
#include "faio/scheduler/shared_state.hpp"

namespace faio::scheduler {

class watcher;
FAIO_SCHEDULER_API ioengine::result<watcher> watch(shared_state& runtime, int fd, short events,
                                                   std::function<void(int)> ready,
                                                   std::source_location where = std::source_location::current());

/// Ends the watching when it goes away; the callback is not called again once reset() or the destructor has returned, unless that
/// happens inside the callback itself. The descriptor stays the caller's: keep it open as long.
class FAIO_SCHEDULER_API watcher {
 public:
  watcher() = default;
  watcher(watcher&&) noexcept = default;
  watcher& operator=(watcher&& other) noexcept;
  ~watcher() { reset(); }

  /// Any thread.
  void reset() noexcept;
  /// Any thread. False: it has ended, by reset() or because the runtime did.
  [[nodiscard]] bool active() const noexcept;

  // ---- end of the public interface ----

  struct source;

 private:
  friend ioengine::result<watcher> watch(shared_state&, int, short, std::function<void(int)>, std::source_location);
  std::shared_ptr<source> _source;
};

/// Any thread. Calls `ready(events)` on one worker whenever one of `events` (POLLIN, POLLOUT, ...) holds, until the watcher goes.
/// What the callback throws reaches config.on_unhandled with `where`, and the watching goes on.
/// bad_file_descriptor; errc::not_watchable for what is always ready; errc::stopped.
ioengine::result<watcher> watch(shared_state& runtime, int fd, short events, std::function<void(int)> ready,
                                std::source_location where);

}  // namespace faio::scheduler
