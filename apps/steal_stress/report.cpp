// report -- lines of text.
#include "report.hpp"

#include <unistd.h>

#include <algorithm>

namespace steal_stress {
namespace {

double milliseconds(clock::duration of) { return std::chrono::duration<double, std::milli>(of).count(); }
unsigned long long wide(std::uint64_t number) { return number; }

}  // namespace

progress_bar::progress_bar() : _terminal(::isatty(STDOUT_FILENO) == 1) {}

void progress_bar::show(const options& wanted, double seconds, std::uint64_t tasks, const faio::worker_metrics& total) {
  if (!_terminal && seconds < _next) return;
  _next = seconds + 1;
  constexpr std::size_t width = 30;
  const double share = std::min(seconds / wanted.length.count(), 1.0);
  const auto full = static_cast<std::size_t>(share * width);
  const std::string bar = std::string(full, '#') + std::string(width - full, '.');
  std::printf("%s[%s] %5.1f s  %10llu tasks  %9llu steals  %8llu parks%s", _terminal ? "\r" : "", bar.c_str(), seconds,
              wide(tasks), wide(total.steals_won), wide(total.parks), _terminal ? "" : "\n");
  std::fflush(stdout);
}

void progress_bar::clear() {
  if (_terminal) std::printf("\r\033[K");
}

wait_record longest_wait(std::span<book* const> books) {
  wait_record record;
  for (const book* each : books) {
    for (std::size_t i = 0; i < places; ++i) {
      const auto where = static_cast<place>(i);
      if (each->longest(where) > record.longest) record = {each->longest(where), where};
    }
  }
  return record;
}

std::string describe(const options& wanted) {
  const char* const engine = wanted.engine == faio::engine_kind::uring   ? "uring"
                             : wanted.engine == faio::engine_kind::epoll ? "epoll"
                                                                         : "automatic";
  return "--engine " + std::string(engine) + " --discipline " +
         (wanted.discipline == faio::discipline::lifo ? "lifo" : "fifo") + " --workers " +
         std::to_string(wanted.workers) + " --callers " + std::to_string(wanted.callers) + " --host " +
         (wanted.host ? "on" : "off") + " --chaos " + (wanted.chaos ? "on" : "off") + " --seed " +
         std::to_string(wanted.seed);
}

void print_waits(std::FILE* to, std::span<book* const> books) {
  std::fprintf(to, "  longest wait of what was ready, by how it became so [ms]:");
  for (std::size_t i = 0; i < places; ++i) {
    const auto where = static_cast<place>(i);
    clock::duration longest{};
    for (const book* each : books) longest = std::max(longest, each->longest(where));
    if (longest > clock::duration::zero()) std::fprintf(to, " %s %.1f", name(where), milliseconds(longest));
  }
  std::fprintf(to, "\n");
}

void print_whereabouts(std::FILE* to, std::span<book* const> books, const faio::runtime_metrics& now) {
  for (std::size_t i = 0; i < books.size(); ++i) {
    std::fprintf(to, "  caller %zu: %s; waiting in:", i, books[i]->figures().c_str());
    for (std::size_t at = 0; at < places; ++at) {
      const auto where = static_cast<place>(at);
      if (const auto here = books[i]->here(where); here != 0) {
        std::fprintf(to, " %s %lld", name(where), static_cast<long long>(here));
      }
    }
    std::fprintf(to, "\n");
  }
  std::fprintf(to, "  global queue %zu, compute queue %zu; workers:\n", now.global_queue_length,
               now.compute_queue_length);
  for (const auto& each : now.workers) {
    std::fprintf(to, "    %s %zu: ran %llu, queue %zu, timers %zu, parks %llu, wakes %llu, steals %llu of %llu\n",
                 each.kind == faio::worker_kind::io ? "io" : "compute", each.id, wide(each.tasks_run),
                 each.queue_length, each.timers, wide(each.parks), wide(each.wakes), wide(each.steals_won),
                 wide(each.steals_tried));
  }
}

}  // namespace steal_stress
