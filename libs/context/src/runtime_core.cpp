// runtime_core -- the default runtime, and the end of one.
#include "faio/context/runtime_core.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <utility>

#include "faio/context/live_task.hpp"

namespace faio::context {
namespace {

/// The runtimes that there are: an exception may find nobody to take it after its runtime is gone. One that is told of an exception
/// stays until its handler has returned.
struct directory {
  struct entry {
    const runtime_core* runtime;
    int handlers = 0;
  };
  std::mutex mutex;
  std::condition_variable returned;
  std::list<entry> there;

  std::list<entry>::iterator find(const runtime_core* runtime) {
    return std::ranges::find(there, runtime, &entry::runtime);
  }
};
directory& runtimes() {
  static auto* const one = new directory;  // never destroyed: handles may be dropped at the very end
  return *one;
}

/// The report of the workers, and before their callables the tasks.
stop_report with_tasks(std::vector<std::source_location> tasks, const stop_report& workers) {
  tasks.insert(tasks.end(), workers.still_running.begin(), workers.still_running.end());
  return {.finished = workers.finished, .still_running = std::move(tasks)};
}

}  // namespace

runtime_core::runtime_core(scheduler::config wanted) : poller(std::move(wanted)) {
  shared().root = &root;
  const std::lock_guard lock(runtimes().mutex);
  runtimes().there.push_back({.runtime = this});
}

runtime_core::~runtime_core() {
  poller.leave_host();
  if (is_here()) scheduler::die_on_own_worker();
  if (!stop(shared().settings.stop_grace)) {
    // Only here is user code waited for that will not end.
    (void)shared().end_workers(ioengine::time_point::max());
    destroy_leftovers();
  }
  await_announced();
  std::unique_lock lock(runtimes().mutex);
  const auto mine = runtimes().find(this);
  runtimes().returned.wait(lock, [&] { return mine->handlers == 0; });
  runtimes().there.erase(mine);
}

runtime_core& runtime_core::current() {
  if (scheduler::shared_state* const here = scheduler::this_thread().runtime;
      here != nullptr && here->root != nullptr) {
    return static_cast<scope*>(here->root)->runtime();
  }
  // A program that ends by exit() inside a task of this runtime cannot wait for that task.
  struct until_exit {
    runtime_core* runtime = new runtime_core(scheduler::config{});
    ~until_exit() {
      if (!runtime->is_here()) delete runtime;
    }
  };
  static until_exit process_wide;
  return *process_wide.runtime;
}

scope* runtime_core::admit() noexcept {
  scope& here = scope::current(*this);
  if (&here == &root) return admit_to_root();
  scheduler::thread_state& thread = scheduler::this_thread();
  if (thread.in_a_run) return &here.take_prepaid(thread.prepaid);
  scope& above = here.anchor();
  above.retain();
  return &above;
}

scope* runtime_core::admit_to_root() noexcept {
  const std::lock_guard lock(_mutex);
  if (_root_released) return nullptr;
  if (_prepaid == 0) {
    constexpr std::uint32_t at_once = 256;
    root.retain(at_once);
    _prepaid = at_once;
  }
  --_prepaid;
  return &root;
}

void runtime_core::report_unhandled(const runtime_core* runtime, std::exception_ptr what,
                                    const std::source_location& where) noexcept {
  std::unique_lock lock(runtimes().mutex);
  if (const auto found = runtimes().find(runtime); found != runtimes().there.end()) {
    ++found->handlers;
    lock.unlock();  // the handler may do anything, even cause another report
    const_cast<runtime_core*>(runtime)->shared().report_unhandled(std::move(what), where);
    lock.lock();
    --found->handlers;
    runtimes().returned.notify_all();
    return;
  }
  lock.unlock();
  std::fprintf(stderr, "faio: unhandled exception in the task spawned at %s:%u, after its runtime had ended\n",
               where.file_name(), where.line());
}

stop_report runtime_core::stop(std::chrono::nanoseconds grace) {
  const auto began = std::chrono::steady_clock::now();
  const auto longest = std::chrono::steady_clock::time_point::max() - began;
  const auto deadline = grace < longest ? began + grace : std::chrono::steady_clock::time_point::max();
  poller.leave_host();  // a host outside of its worker is a thread like any other
  shared().begin_stop();
  bool first = false;
  std::uint32_t counts = 1;
  {
    const std::lock_guard lock(_mutex);
    first = !std::exchange(_root_released, true);
    counts += std::exchange(_prepaid, 0);
  }
  if (first) {
    root.request_stop();
    root.release(counts);
  }
  if (is_here()) {
    return with_tasks(live.places(), poller.stop(grace));  // begins it, and lets the workers leave by themselves
  }
  // What has not ended is in the report. After the grace of an earlier stop nothing that is suspended ends any more.
  if (!shared().workers_leave()) (void)root.all_ended.wait_until(deadline);
  const auto now = std::chrono::steady_clock::now();
  auto places = live.places();
  auto report =
      with_tasks(std::move(places), poller.stop(deadline > now ? deadline - now : std::chrono::nanoseconds::zero()));
  if (report.finished) destroy_leftovers();
  return report;
}

void runtime_core::await_announced() const noexcept {
  // acquire, pairs with foreign_done(). They are few instructions away from it.
  while (_foreign.load(std::memory_order_acquire) != 0) std_atomics::pause(true);
}

/// It is on the list, and the end of the runtime may come for it at the same time: whoever has the lock first destroys it. The handle's part is the
/// caller's, and stays.
void runtime_core::destroy_refused(live_task& task, const join_state& of_handle) {
  const std::lock_guard lock(_cleaning);
  if (of_handle.has_task()) task.destroy();
}

/// All threads have ended, the queues are closed: frames that are left will never run.
void runtime_core::destroy_leftovers() {
  // Recursive, and not the one of admit_to_root(): destructors of the user's run here, and may spawn, which is refused, or stop again.
  const std::lock_guard lock(_cleaning);
  shared().drop_leftovers();
  if (std::exchange(_cleaned, true)) return;
  // From the leaves: a scope in a coroutine's frame outlives what hangs beneath it.
  for (live_task* each : live.from_the_leaves()) each->destroy();
}

}  // namespace faio::context
