// cron -- runs commands at their times, until Ctrl-C.
//
//   cron SCHEDULE
//
//   # a schedule: one job a line
//   every 10s     date >> /tmp/dates            ms, s, m or h; at a fixed rate
//   at 06:30      ./backup --all                every day, local time
//
//   a timer for each job ── its time has come ──> a child in the group `running`
//   Ctrl-C or SIGTERM: the timers are stopped, what runs is waited for; a second one ends cron at once
//
// A job that still runs when its time comes again is left out that time.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <deque>
#include <faio/faio.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
namespace process = faio::process;

struct job {
  std::string command;
  std::chrono::milliseconds every{};  // or, if that is zero,
  std::chrono::minutes at{};          // after midnight
  bool runs = false;
};

// ---- The schedule.

std::optional<std::chrono::milliseconds> parse_period(const std::string& word) {
  long number = 0;
  const auto [unit, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || number <= 0) return {};
  const std::string_view name(unit, static_cast<std::size_t>(word.data() + word.size() - unit));
  if (name == "ms") return std::chrono::milliseconds(number);
  if (name == "s") return std::chrono::seconds(number);
  if (name == "m") return std::chrono::minutes(number);
  if (name == "h") return std::chrono::hours(number);
  return {};
}

std::optional<std::chrono::minutes> parse_time_of_day(const std::string& word) {
  int hour = 0;
  int minute = 0;
  char more = 0;
  if (std::sscanf(word.c_str(), "%2d:%2d%c", &hour, &minute, &more) != 2) return {};
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return {};
  return std::chrono::hours(hour) + std::chrono::minutes(minute);
}

std::optional<job> parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string kind;
  std::string when;
  job one;
  words >> kind >> when >> std::ws;
  if (!std::getline(words, one.command) || one.command.empty()) return {};
  if (const auto period = parse_period(when); kind == "every" && period) {
    one.every = *period;
    return one;
  }
  if (const auto time = parse_time_of_day(when); kind == "at" && time) {
    one.at = *time;
    return one;
  }
  return {};
}

/// A deque: the jobs stay where they are, tasks point to them.
std::optional<std::deque<job>> parse(const std::string& text) {
  std::deque<job> jobs;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t") == line.npos || line.starts_with('#')) continue;
    auto one = parse_line(line);
    if (!one) {
      std::fprintf(stderr, "cron: line %d: neither 'every 10s COMMAND' nor 'at 06:30 COMMAND': %s\n", number,
                   line.c_str());
      return {};
    }
    jobs.push_back(std::move(*one));
  }
  return jobs;
}

// ---- The jobs.

using wall_clock = std::chrono::system_clock;

/// The first time after `then` at which the clock on the wall shows that time of day.
wall_clock::time_point next(std::chrono::minutes time_of_day, wall_clock::time_point then) {
  const std::time_t seconds = wall_clock::to_time_t(then);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  const bool is_over = std::chrono::hours(local.tm_hour) + std::chrono::minutes(local.tm_min) >= time_of_day;
  if (is_over) ++local.tm_mday;  // mktime takes care of the end of the month, and of summer time
  local.tm_hour = static_cast<int>(time_of_day / 1h);
  local.tm_min = static_cast<int>(time_of_day % 1h / 1min);
  local.tm_sec = 0;
  local.tm_isdst = -1;
  return wall_clock::from_time_t(std::mktime(&local));
}

/// The two clocks drift apart: what comes early by the one on the wall sleeps again, and no job runs twice.
faio::task<faio::result<void>> sleep_until_wall(wall_clock::time_point due) {
  for (;;) {
    const auto rest = due - wall_clock::now();
    if (rest <= 0s) co_return faio::result<void>{};
    const auto slept = co_await faio::sleep_for(rest);
    if (!slept) co_return slept;
  }
}

faio::task<> run(job& which) {
  which.runs = true;
  auto child = co_await process::child::spawn(process::command("sh", "-c", which.command));
  if (child) {
    const auto status = co_await child->wait();
    if (status && !status->success()) {
      std::fprintf(stderr, "cron: %s: %s %d\n", which.command.c_str(), status->signal() != 0 ? "signal" : "exit code",
                   status->signal() != 0 ? status->signal() : status->code());
    }
  } else {
    std::fprintf(stderr, "cron: %s: %s\n", which.command.c_str(), child.error().message().c_str());
  }
  which.runs = false;
}

void start(job& which, faio::task_group& running) {
  if (!which.runs) running.spawn(run(which));
}

// ---- The timer of one job, until it is stopped.

faio::task<> keep_period(job& of, faio::task_group& running) {
  faio::interval beat(of.every);
  for (;;) {
    const auto slept = co_await beat.tick();
    if (!slept) co_return;
    start(of, running);
  }
}

faio::task<> keep_time_of_day(job& of, faio::task_group& running) {
  for (auto due = next(of.at, wall_clock::now());; due = next(of.at, std::max(due, wall_clock::now()))) {
    const auto slept = co_await sleep_until_wall(due);
    if (!slept) co_return;
    start(of, running);
  }
}

faio::task<int> cron(const char* schedule) {
  const auto text = co_await faio::fs::read_file(schedule);
  if (!text) {
    std::fprintf(stderr, "cron: %s\n", text.error().message().c_str());
    co_return 2;
  }
  auto jobs = parse(*text);
  if (!jobs) co_return 2;

  faio::task_group timers;
  faio::task_group running;
  for (job& each : *jobs) {
    timers.spawn(each.every > 0ms ? keep_period(each, running) : keep_time_of_day(each, running));
  }

  std::printf("cron: %zu jobs; Ctrl-C ends it\n", jobs->size());
  std::fflush(stdout);
  const auto which = co_await process::signal({SIGINT, SIGTERM});
  process::forget({SIGINT, SIGTERM});
  std::printf("cron: signal %d; waiting for what runs\n", which.value_or(0));
  std::fflush(stdout);
  timers.request_stop();
  co_await timers.join();
  co_await running.join();
  co_return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: cron SCHEDULE\n", stderr);
    return 2;
  }
  // One worker: jobs are few, and nothing here needs a lock.
  faio::runtime_context ctx{{.workers = 1}};
  return ctx.block_on(cron(words[1]));
}
