// options -- words into values, or a sentence.
#include "options.hpp"

#include <charconv>
#include <optional>
#include <random>
#include <string_view>

namespace steal_stress {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::unexpected<std::string> refuse(std::string_view option, std::string_view value, std::string_view wanted) {
  return std::unexpected(std::string(option) + " takes " + std::string(wanted) + ", not '" + std::string(value) + "'");
}

std::expected<void, std::string> apply(options& to, std::string_view option, std::string_view value) {
  const auto seconds = number<double>(value);
  const auto whole = number<std::uint64_t>(value);
  if (option == "--seconds" || option == "--stall-bound") {
    if (!seconds || *seconds <= 0 || *seconds > 1e6) return refuse(option, value, "a number of seconds above 0");
    (option == "--seconds" ? to.length : to.stall_bound) = std::chrono::duration<double>(*seconds);
  } else if (option == "--workers") {
    if (!whole || *whole < 1 || *whole > 1024) return refuse(option, value, "a number from 1 to 1024");
    to.workers = *whole;
  } else if (option == "--callers") {
    if (!whole || *whole < 1 || *whole > 256) return refuse(option, value, "a number from 1 to 256");
    to.callers = *whole;
  } else if (option == "--seed") {
    if (!whole) return refuse(option, value, "a whole number");
    to.seed = *whole;
  } else if (option == "--engine") {
    if (value == "automatic") {
      to.engine = faio::engine_kind::automatic;
    } else if (value == "uring") {
      to.engine = faio::engine_kind::uring;
    } else if (value == "epoll") {
      to.engine = faio::engine_kind::epoll;
    } else {
      return refuse(option, value, "automatic, uring or epoll");
    }
  } else if (option == "--host" || option == "--chaos") {
    if (value != "on" && value != "off") return refuse(option, value, "on or off");
    (option == "--host" ? to.host : to.chaos) = value == "on";
  } else if (option == "--discipline") {
    if (value != "fifo" && value != "lifo") return refuse(option, value, "fifo or lifo");
    to.discipline = value == "lifo" ? faio::discipline::lifo : faio::discipline::fifo;
  } else {
    return std::unexpected("there is no option '" + std::string(option) + "'; --help lists them");
  }
  return {};
}

}  // namespace

std::expected<options, std::string> parse(int count, char** words) {
  options out;
  out.seed = std::random_device{}();
  for (int i = 1; i < count; ++i) {
    std::string_view option = words[i];
    if (option == "--help" || option == "-h") {
      out.help = true;
      return out;
    }
    std::string_view value;
    if (const auto equals = option.find('='); equals != std::string_view::npos) {
      value = option.substr(equals + 1);
      option = option.substr(0, equals);
    } else if (i + 1 < count) {
      value = words[++i];
    } else if (option.starts_with("--")) {
      return std::unexpected("'" + std::string(option) +
                             "' is the last word and has no value; --help lists the options");
    }
    if (auto done = apply(out, option, value); !done) return std::unexpected(std::move(done).error());
  }
  return out;
}

std::string usage() {
  return "steal_stress -- everything that the runtime does, at once, at random, and each task counted exactly once.\n"
         "\n"
         "  --seconds N          how long; 10\n"
         "  --workers N          1 to 1024, more of them than processors is fine; 4\n"
         "  --callers N          threads that call block_on, all on the same workers; 3\n"
         "  --engine KIND        automatic, uring or epoll\n"
         "  --discipline KIND    fifo or lifo\n"
         "  --host on|off        whether a thread of the program's own is a worker too, by run(); on\n"
         "  --chaos on|off       whether workers come and go meanwhile; on. Off, with one caller, nothing else would "
         "get a task to\n"
         "                       run whose wake-up was lost\n"
         "  --seed N             repeats the random choices of the run that printed it\n"
         "  --stall-bound N      seconds; a ready task that waits longer, or a caller without progress for so long, is "
         "a\n"
         "                       failure; " +
         std::to_string(usual_stall_bound) +
         " in this build\n"
         "\n"
         "Exit code 0: all was well. 1: a task was lost, ran twice or waited too long. 2: the options were wrong.\n"
         "77: the engine that was asked for is refused here.\n";
}

}  // namespace steal_stress
