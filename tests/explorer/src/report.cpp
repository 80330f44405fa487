// report -- what an exploration found.
#include "explorer/report.hpp"

#include <ostream>

namespace faio::explorer {

const char* name(failure_kind kind) noexcept {
  switch (kind) {
    case failure_kind::none:
      return "none";
    case failure_kind::check:
      return "check failed";
    case failure_kind::data_race:
      return "data race";
    case failure_kind::deadlock:
      return "deadlock";
    case failure_kind::livelock:
      return "livelock";
    case failure_kind::leak:
      return "leak";
    case failure_kind::double_free:
      return "double free";
    case failure_kind::use_after_free:
      return "use after free";
    case failure_kind::use_after_destroy:
      return "use after destroy";
    case failure_kind::misuse:
      return "misuse";
    case failure_kind::exception:
      return "exception";
    case failure_kind::model:
      return "unusable model";
    case failure_kind::incomplete:
      return "incomplete";
  }
  return "unknown";
}

std::ostream& operator<<(std::ostream& out, failure_kind kind) { return out << name(kind); }

std::ostream& operator<<(std::ostream& out, const report& what) {
  if (what.ok()) {
    out << "no failure";
  } else {
    out << name(what.kind) << ": " << what.message;
  }
  out << "\n  " << what.executions << " executions, " << what.steps << " steps";
  if (what.seconds > 0) out << ", " << what.seconds << " s";
  if (what.seed) out << "\n  seed  " << *what.seed << " (FAIO_EXPLORER_SEED=" << *what.seed << " repeats the search)";
  if (!what.trace.empty()) out << "\n  trace " << what.trace << " (explorer::replay repeats the execution)";
  // Of a livelock's thousands of steps the first show how it came about and the last what it is.
  constexpr std::size_t shown = 100;
  for (std::size_t i = 0; i < what.log.size(); ++i) {
    if (i == shown && what.log.size() > 2 * shown) {
      i = what.log.size() - shown;
      out << "\n  ...";
    }
    out << "\n  " << what.log[i];
  }
  return out << '\n';
}

}  // namespace faio::explorer
