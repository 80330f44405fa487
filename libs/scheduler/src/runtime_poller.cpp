// runtime_poller -- hosting and stopping.
#include "faio/scheduler/runtime_poller.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace faio::scheduler {

runtime_poller::runtime_poller(config wanted) : _shared(std::make_unique<shared_state>(std::move(wanted))) {}

runtime_poller::~runtime_poller() { (void)stop(); }

/// The calling thread as a worker; it becomes one with the first call. Null: the runtime has been stopped.
worker* runtime_poller::hosted(const char* call) {
  const auto refuse = [call](const char* why) { throw std::logic_error("faio: " + std::string(call) + why); };
  std::thread::id nobody;
  // relaxed: only whether it is the caller; what that thread wrote, it reads itself.
  if (!_host.compare_exchange_strong(nobody, std::this_thread::get_id(), std::memory_order_relaxed) &&
      nobody != std::this_thread::get_id()) {
    refuse(": run, run_once and native_handle belong to the one thread that called the first of them");
  }
  const worker* const here = current_worker();
  if (here != nullptr && here->inside()) refuse(" inside a task: its worker is running already; return instead");
  if (here != nullptr && here != _hosted) {
    refuse(": this thread is a worker of another runtime; host one runtime on a thread");
  }
  if (_hosted == nullptr) {
    auto made = _shared->host();
    if (!made && made.error() == errc::stopped) return nullptr;
    if (!made) throw std::system_error(made.error());
    _hosted = *made;
  }
  return _hosted;
}

void runtime_poller::end_hosting() { _shared->unhost(*std::exchange(_hosted, nullptr)); }

void runtime_poller::run() {
  worker* const here = hosted("run");
  if (here == nullptr) return;
  here->loop();
  end_hosting();
}

std::size_t runtime_poller::run_once(std::chrono::nanoseconds timeout) {
  // As many tasks as a host's own events may wait for.
  constexpr std::size_t most = 256;
  worker* const here = hosted("run_once");
  if (here == nullptr) return 0;
  const std::size_t ran = here->run_some(detail::after(_shared->time().now(), timeout), most);
  if (here->leaving()) end_hosting();
  return ran;
}

int runtime_poller::native_handle() {
  worker* const here = hosted("native_handle");
  if (here == nullptr) throw std::system_error(make_error_code(errc::stopped));
  const int handle = here->io().native_handle();
  here->run_some(_shared->time().now(), 0);  // from now on it rests between two calls
  return handle;
}

/// The host between two calls: it leaves now, nobody else can do that for it.
void runtime_poller::leave_host() {
  // relaxed: as in hosted().
  if (_host.load(std::memory_order_relaxed) != std::this_thread::get_id()) return;
  if (_hosted != nullptr && !_hosted->inside()) end_hosting();
}

stop_report runtime_poller::stop(std::chrono::nanoseconds grace) {
  if (_shared->ended()) return {};
  _shared->begin_stop();
  const auto now = std::chrono::steady_clock::now();
  const auto deadline = detail::after(now, grace);
  leave_host();
  if (this_thread().runtime == _shared.get()) {
    _shared->leave_when_quiet(deadline);
    return {.finished = false, .still_running = _shared->running_callables()};
  }
  // What is not quiet is told to leave, and dropped. After that nothing becomes quiet any more.
  const bool is_quiet = !_shared->workers_leave() && _shared->wait_until_quiet(deadline);
  stop_report report;
  if (!is_quiet) report.still_running = _shared->running_callables();
  // Idle workers leave at once; the little more than the grace is for their threads to end.
  constexpr std::chrono::milliseconds time_to_leave{100};
  const bool for_ever = deadline == ioengine::time_point::max();
  const auto last = std::max(deadline, std::chrono::steady_clock::now() + time_to_leave);
  if (!_shared->end_workers(for_ever ? deadline : last)) {
    return {.finished = false, .still_running = _shared->running_callables()};  // one may have begun as the grace ended
  }
  _shared->drop_leftovers();
  return report;
}

}  // namespace faio::scheduler
