// view -- counts that are read twice make a rate; the difference is drawn.
#include "view.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

namespace tour {
namespace {

using namespace std::chrono_literals;

constexpr auto picture_every = 250ms;
constexpr int samples_a_picture = 10;
constexpr const char* steps[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

std::string with_commas(double value) {
  std::string digits = std::to_string(static_cast<std::uint64_t>(value + 0.5));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string in_words(std::chrono::nanoseconds length) {
  const auto ns = static_cast<double>(length.count());
  if (ns < 1e3) return std::to_string(length.count()) + " ns";
  char text[32];
  std::snprintf(text, sizeof text, ns < 1e6 ? "%.0f µs" : "%.1f ms", ns < 1e6 ? ns / 1e3 : ns / 1e6);
  return text;
}

std::string percentiles(const histogram::counts& of) {
  return "p50 " + in_words(histogram::at_most(of, 0.5)) + "  p99 " + in_words(histogram::at_most(of, 0.99)) +
         "  p99.9 " + in_words(histogram::at_most(of, 0.999));
}

/// A bar of `cells`, filled to `share`, in eighths.
std::string bar(double share, std::size_t cells) {
  const auto eighths = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells) * 8 + 0.5);
  constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  text += parts[eighths % 8];
  const std::size_t used = eighths / 8 + (eighths % 8 != 0 ? 1 : 0);
  for (std::size_t i = used; i < cells; ++i) text += "·";
  return text;
}

std::string curve(const std::deque<double>& values) {
  const double top = values.empty() ? 1 : std::max(*std::ranges::max_element(values), 1.0);
  std::string text;
  for (const double each : values) text += steps[static_cast<std::size_t>(each / top * 8)];
  return text;
}

std::string padded(std::string text, std::size_t to) {
  if (text.size() < to) text.insert(0, to - text.size(), ' ');
  return text;
}

const char* name_of(faio::worker_state state) {
  switch (state) {
    case faio::worker_state::working:
      return "working";
    case faio::worker_state::searching:
      return "searching";
    case faio::worker_state::asleep:
      return "asleep";
  }
  return "";
}

}  // namespace

view::moment view::look() const {
  return {.at = faio::clock::now(),
          .runtime = _runtime.metrics(),
          .requests = _notes.requests.read(),
          .lateness = _notes.lateness.read(),
          .calculations = _notes.calculations.load(std::memory_order_relaxed),  // relaxed, both: a number
          .forks = _notes.forks.load(std::memory_order_relaxed)};
}

faio::task<void> view::run() {
  faio::interval every(picture_every / samples_a_picture);
  moment before = look();
  if (_live) std::fputs("\x1b[?25l", stdout);  // no cursor
  while (faio::clock::now() - _began < _length) {
    std::vector<double> working;
    bool stopped = false;
    for (int i = 0; i < samples_a_picture && !stopped; ++i) {
      auto beat = co_await every.tick();
      stopped = !beat;
      const auto now = _runtime.metrics();
      working.resize(std::max(working.size(), now.workers.size()));
      for (std::size_t w = 0; w < now.workers.size(); ++w) {
        working[w] += now.workers[w].state == faio::worker_state::working ? 1.0 / samples_a_picture : 0;
      }
    }
    if (stopped) break;
    _busy = std::move(working);
    moment now = look();
    if (_live) {
      draw(before, now);
      before = std::move(now);
    } else if (now.at - before.at >= 1s) {
      say(before, now);
      before = std::move(now);
    }
  }
  if (_live) std::fputs("\x1b[?25h", stdout);
}

std::string view::worker_line(const faio::worker_metrics& before, const faio::worker_metrics& now, double seconds,
                              double busy) const {
  const auto rate = [&](std::uint64_t faio::worker_metrics::* what) {
    return with_commas(static_cast<double>(now.*what - before.*what) / seconds);
  };
  const bool computes = now.kind == faio::worker_kind::compute;
  std::string line = padded(std::to_string(now.id), 4) + (computes ? "  compute  " : "  I/O      ");
  line += bar(busy, 10) + "  ";
  std::string state = name_of(now.state);
  state.resize(10, ' ');
  line += state + padded(rate(&faio::worker_metrics::tasks_run), 9) + padded(std::to_string(now.queue_length), 7) +
          padded(rate(&faio::worker_metrics::steals_won), 8) + padded(rate(&faio::worker_metrics::parks), 8) +
          padded(with_commas(static_cast<double>(now.timers)), 8);
  return line;
}

void view::draw(const moment& before, const moment& now) {
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  const double gone = std::chrono::duration<double>(now.at - _began).count();
  const auto requests = histogram::since(now.requests, before.requests);
  const auto lateness = histogram::since(now.lateness, before.lateness);
  const double rate = static_cast<double>(histogram::total(requests)) / seconds;
  _history.push_back(rate);
  if (_history.size() > 30) _history.pop_front();

  picture whole;
  char head[64];
  std::snprintf(head, sizeof head, " %4.1f of %lld s", gone, static_cast<long long>(_length.count()));
  whole.above.push_back("\x1b[1mfaio\x1b[0m  " + bar(gone / static_cast<double>(_length.count()), 50) + head);
  whole.above.push_back("      " + now.runtime.engine_reason);
  whole.above.emplace_back();
  whole.above.emplace_back(
      "\x1b[2mworker         busy        now         tasks/s  queue  steals   parks  timers\x1b[0m");
  for (std::size_t w = 0; w < now.runtime.workers.size(); ++w) {
    const auto& worker = now.runtime.workers[w];
    faio::worker_metrics earlier;
    for (const auto& each : before.runtime.workers) {
      if (each.id == worker.id) earlier = each;
    }
    whole.workers.push_back(worker_line(earlier, worker, seconds, w < _busy.size() ? _busy[w] : 0));
  }
  const auto a_second = [&](std::uint64_t count) {
    return padded(with_commas(static_cast<double>(count) / seconds), 9);
  };
  whole.below.emplace_back();
  whole.below.push_back("\x1b[1mHTTP\x1b[0m      " + padded(with_commas(rate), 9) + " requests/s  " + curve(_history));
  whole.below.push_back("          " + std::to_string(_notes.connected.load()) +
                        " connections: " + percentiles(requests));
  whole.below.push_back("\x1b[1mtimers\x1b[0m    " + a_second(histogram::total(lateness)) +
                        " fired/s, late by: " + percentiles(lateness));
  whole.below.push_back("\x1b[1mforks\x1b[0m     " + a_second(now.forks - before.forks) +
                        " tasks/s, in bursts: the other workers steal them");
  whole.below.push_back("\x1b[1mcompute\x1b[0m   " + a_second(now.calculations - before.calculations) +
                        " calculations/s, beside all that");

  const auto terminal = ask_terminal();
  std::string drawn;
  if (_lines != 0 && terminal == _terminal) {
    drawn = "\x1b[" + std::to_string(_lines) + "A";
  } else if (_lines != 0) {
    drawn = "\x1b[H\x1b[J";  // its size has changed, and with it the lines of the last picture
  }
  const auto lines = fitted(whole, terminal);
  for (const auto& line : lines) drawn += line + "\x1b[K\n";
  drawn += "\x1b[J";
  _lines = lines.size();
  _terminal = terminal;
  std::fputs(drawn.c_str(), stdout);
  std::fflush(stdout);
}

void view::say(const moment& before, const moment& now) const {
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  const auto requests = histogram::since(now.requests, before.requests);
  const auto total = now.runtime.total();
  const auto earlier = before.runtime.total();
  std::printf(
      "%5.1f s  %9s requests/s  %s  %7s timers/s  %6s steals/s\n",
      std::chrono::duration<double>(now.at - _began).count(),
      with_commas(static_cast<double>(histogram::total(requests)) / seconds).c_str(), percentiles(requests).c_str(),
      with_commas(static_cast<double>(histogram::total(now.lateness) - histogram::total(before.lateness)) / seconds)
          .c_str(),
      with_commas(static_cast<double>(total.steals_won - earlier.steals_won) / seconds).c_str());
  std::fflush(stdout);
}

bool view::summarise() const {
  const moment now = look();
  const double seconds = std::chrono::duration<double>(now.at - _began).count();
  const auto requests = histogram::since(now.requests, _first.requests);
  const auto lateness = histogram::since(now.lateness, _first.lateness);
  const auto total = now.runtime.total();
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto connected = _notes.connected.load();
  const auto failures = _notes.failures.load();
  std::printf("\n%s requests in %.1f s over %llu connections, %s a second; %llu failed\n",
              with_commas(static_cast<double>(histogram::total(requests))).c_str(), seconds,
              static_cast<unsigned long long>(connected),
              with_commas(static_cast<double>(histogram::total(requests)) / seconds).c_str(),
              static_cast<unsigned long long>(failures));
  std::printf("  answered in   %s\n", percentiles(requests).c_str());
  std::printf("%s timers fired, late by %s\n", with_commas(static_cast<double>(histogram::total(lateness))).c_str(),
              percentiles(lateness).c_str());
  std::printf("%s tasks of bursts, forked and joined\n", with_commas(static_cast<double>(now.forks)).c_str());
  std::printf("%s calculations on the compute workers\n", with_commas(static_cast<double>(now.calculations)).c_str());
  std::printf("%s tasks run, %s steals, %s sleeps of a worker; at most %ld MiB of memory\n",
              with_commas(static_cast<double>(total.tasks_run)).c_str(),
              with_commas(static_cast<double>(total.steals_won)).c_str(),
              with_commas(static_cast<double>(total.parks)).c_str(), used.ru_maxrss / 1024);
  return failures == 0 && histogram::total(requests) != 0;
}

}  // namespace tour
