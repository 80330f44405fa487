// ledger -- counting, and what does not balance in words.
#include "ledger.hpp"

namespace steal_stress {

const char* name(place which) noexcept {
  constexpr std::array<const char*, places> names{
      "root",  "spawn",   "low_priority", "when_all",  "when_any",   "timeout",         "group",
      "yield", "sleep",   "sleeper",      "read",      "talk",       "compute",         "blocking",
      "post",  "post_to", "post_local",   "post_self", "post_after", "post_self_after", "post_compute"};
  return names[static_cast<std::size_t>(which)];
}

void faults::report(std::string what) {
  const std::lock_guard lock(_mutex);
  if (_first.empty()) _first = std::move(what);
  _any.store(true, std::memory_order_release);
}

std::string faults::first() const {
  const std::lock_guard lock(_mutex);
  return _first;
}

void book::waited(place where, clock::duration how_long) noexcept {
  _steps.fetch_add(1, std::memory_order_relaxed);
  auto& longest = at(where).longest;
  for (clock::rep seen = longest.load(std::memory_order_relaxed);
       how_long.count() > seen && !longest.compare_exchange_weak(seen, how_long.count(), std::memory_order_relaxed);) {
  }
}

std::string book::figures() const {
  const auto get = [](const auto& number) { return std::to_string(number.load(std::memory_order_relaxed)); };
  return "made " + get(_made) + ", begun " + get(_begun) + ", ended " + get(_ended) + ", dropped " + get(_dropped) +
         ", refused " + get(_refused);
}

void book::expect_balance(const char* after) {
  const auto get = [](const auto& number) { return number.load(std::memory_order_relaxed); };
  if (get(_dropped) != get(_refused)) {
    fault(std::string("after ") + after + " a task that was accepted has been dropped: " + figures());
  } else if (get(_made) != get(_begun) + get(_dropped) || get(_begun) != get(_ended)) {
    fault(std::string(after) + " returned while tasks beneath it had not ended: " + figures());
  }
}

ticket::~ticket() {
  if (_book == nullptr) return;
  if (_begun) {
    _book->ended();
  } else {
    _book->dropped();
  }
}

void ticket::begin() {
  if (_begun) _book->fault(std::string("a task ran twice, made by ") + name(_where));
  _begun = true;
  _book->begun();
  _book->waited(_where, clock::now() - _ready);
}

}  // namespace steal_stress
