// axioms -- the memory model a second time, as the standard states it, to compare the explorer with.
#include "axioms.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace faio::explorer::litmus {
namespace {

constexpr std::size_t most = 16;

// A relation over events: bit j of row i says "i before j".
struct relation {
  std::array<std::uint32_t, most> rows{};

  void add(std::size_t from, std::size_t to) { rows[from] |= 1U << to; }
  [[nodiscard]] bool has(std::size_t from, std::size_t to) const { return (rows[from] >> to & 1U) != 0; }
  [[nodiscard]] relation with(const relation& other) const {
    relation out = *this;
    for (std::size_t i = 0; i < most; ++i) out.rows[i] |= other.rows[i];
    return out;
  }
  [[nodiscard]] relation closure() const {
    relation out = *this;
    for (std::size_t k = 0; k < most; ++k)
      for (std::size_t i = 0; i < most; ++i)
        if (out.has(i, k)) out.rows[i] |= out.rows[k];
    return out;
  }
  [[nodiscard]] bool cyclic() const {
    const relation closed = closure();
    for (std::size_t i = 0; i < most; ++i)
      if (closed.has(i, i)) return true;
    return false;
  }
};

bool is_release(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
bool is_acquire(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

struct event {
  instruction from;
  bool reads = false;
  bool writes = false;
  bool fence = false;
  bool must_find_zero = false;  // a cas that is taken to succeed
  bool must_find_other = false;
  std::memory_order order{};
  std::size_t thread = 0;

  [[nodiscard]] bool seq_cst() const { return order == std::memory_order_seq_cst; }
  [[nodiscard]] bool same_location(const event& other) const {
    return !fence && !other.fence && from.location == other.from.location;
  }
};

// One candidate: events, rf and mo fixed. Events 0 and 1 are the initial writes of the two locations.
class candidate {
 public:
  explicit candidate(std::vector<event> events) : _events(std::move(events)) {
    for (std::size_t i = 0; i < _events.size(); ++i)
      for (std::size_t j = std::max<std::size_t>(i + 1, 2); j < _events.size(); ++j)
        if (i < 2 || _events[i].thread == _events[j].thread) _sb.add(i, j);
  }

  std::vector<std::size_t> source = std::vector<std::size_t>(most, 0);  // rf: of each read
  std::array<std::vector<std::size_t>, 2> order;                        // mo: of each location, initial write first

  [[nodiscard]] const std::vector<event>& events() const { return _events; }

  [[nodiscard]] std::optional<std::string> outcome(reach limit) {
    relation rf;
    for (std::size_t i = 2; i < size(); ++i)
      if (_events[i].reads) rf.add(source[i], i);
    if (_sb.with(rf).cyclic()) return std::nullopt;
    if (!resolve_values()) return std::nullopt;

    const relation eco = coherence_order(rf);
    const relation hb = _sb.with(synchronizes(rf)).closure();
    for (std::size_t i = 0; i < size(); ++i)
      for (std::size_t j = 0; j < size(); ++j) {
        if (eco.has(i, j) && (i == j || hb.has(j, i))) return std::nullopt;  // coherence
        if (i == j && hb.has(i, i)) return std::nullopt;
      }
    if (!atomic_updates()) return std::nullopt;

    const relation forced = forced_seq_cst(hb, eco);
    relation base = _sb.with(rf);
    if (limit == reach::language) base = hb;
    if (base.with(forced).cyclic()) return std::nullopt;
    return describe();
  }

 private:
  [[nodiscard]] std::size_t size() const { return _events.size(); }

  // sb and rf have no cycle, so the values can be followed to their origin.
  [[nodiscard]] int written(std::size_t i) const {
    const event& made = _events[i];
    if (i < 2) return 0;
    if (made.from.kind == instruction::what::add) return written(source[i]) + made.from.value;
    return made.from.value;
  }
  [[nodiscard]] bool resolve_values() const {
    for (std::size_t i = 2; i < size(); ++i) {
      const event& read = _events[i];
      if (read.must_find_zero && written(source[i]) != 0) return false;
      if (read.must_find_other && written(source[i]) == 0) return false;
    }
    return true;
  }

  // rf, mo and fr, transitively: "coherence-ordered before".
  [[nodiscard]] relation coherence_order(const relation& rf) const {
    relation out = rf;
    for (const auto& writes : order)
      for (std::size_t a = 0; a < writes.size(); ++a)
        for (std::size_t b = a + 1; b < writes.size(); ++b) {
          out.add(writes[a], writes[b]);
          for (std::size_t read = 2; read < size(); ++read)
            if (_events[read].reads && source[read] == writes[a] && read != writes[b]) out.add(read, writes[b]);
        }
    return out.closure();
  }

  // A read-modify-write reads the write just before its own.
  [[nodiscard]] bool atomic_updates() const {
    for (const auto& writes : order)
      for (std::size_t a = 1; a < writes.size(); ++a)
        if (_events[writes[a]].reads && source[writes[a]] != writes[a - 1]) return false;
    return true;
  }

  [[nodiscard]] relation synchronizes(const relation&) const {
    relation out;
    for (std::size_t read = 2; read < size(); ++read) {
      if (!_events[read].reads) continue;
      // The heads of the release sequences that the read takes its value from.
      for (std::size_t head = source[read];; head = source[head]) {
        if (head >= 2) {
          for (std::size_t from = 2; from < size(); ++from) {
            const bool fence_before = _events[from].fence && is_release(_events[from].order) && _sb.has(from, head);
            const bool itself = from == head && is_release(_events[head].order);
            if (!fence_before && !itself) continue;
            for (std::size_t to = 2; to < size(); ++to) {
              const bool fence_after = _events[to].fence && is_acquire(_events[to].order) && _sb.has(read, to);
              const bool reader = to == read && is_acquire(_events[read].order);
              if ((fence_after || reader) && from != to) out.add(from, to);
            }
          }
        }
        if (!_events[head].reads) break;  // the sequence goes on only through read-modify-writes
      }
    }
    return out;
  }

  // [atomics.order] 4.1 to 4.4.
  [[nodiscard]] relation forced_seq_cst(const relation& hb, const relation& eco) const {
    const auto sc_fence = [&](std::size_t i) { return _events[i].fence && _events[i].seq_cst(); };
    const auto sc_access = [&](std::size_t i) { return i >= 2 && !_events[i].fence && _events[i].seq_cst(); };
    relation out;
    for (std::size_t a = 0; a < size(); ++a)
      for (std::size_t b = 0; b < size(); ++b) {
        if (a == b || !eco.has(a, b)) continue;
        if (sc_access(a) && sc_access(b)) out.add(a, b);
        for (std::size_t x = 2; x < size(); ++x) {
          if (sc_access(a) && sc_fence(x) && hb.has(b, x)) out.add(a, x);
          if (sc_fence(x) && hb.has(x, a) && sc_access(b)) out.add(x, b);
          for (std::size_t y = 2; y < size(); ++y)
            if (sc_fence(x) && sc_fence(y) && hb.has(x, a) && hb.has(b, y) && x != y) out.add(x, y);
        }
      }
    // A fence that would have to come before itself: the access after it misses what was known before it.
    for (std::size_t x = 2; x < size(); ++x)
      for (std::size_t a = 0; a < size(); ++a)
        for (std::size_t b = 0; b < size(); ++b)
          if (sc_fence(x) && eco.has(a, b) && hb.has(x, a) && hb.has(b, x)) out.add(x, x);
    return out;
  }

  [[nodiscard]] std::string describe() const {
    std::string out;
    for (std::size_t i = 2; i < size(); ++i)
      if (_events[i].reads) out += std::to_string(written(source[i])) + " ";
    for (const auto& writes : order) out += "| " + std::to_string(written(writes.back())) + " ";
    return out;
  }

  std::vector<event> _events;
  relation _sb;
};

void choose_orders(candidate& c, std::size_t location, reach limit, std::set<std::string>& out) {
  if (location == 2) {
    if (const auto found = c.outcome(limit)) out.insert(*found);
    return;
  }
  auto& writes = c.order[location];
  writes.assign(1, location);
  for (std::size_t i = 2; i < c.events().size(); ++i)
    if (c.events()[i].writes && c.events()[i].from.location == static_cast<int>(location)) writes.push_back(i);
  std::vector<std::size_t> rest(writes.begin() + 1, writes.end());
  std::sort(rest.begin(), rest.end());
  do {
    writes.assign(1, location);
    writes.insert(writes.end(), rest.begin(), rest.end());
    const auto kept = writes;
    choose_orders(c, location + 1, limit, out);
    writes = kept;
  } while (std::next_permutation(rest.begin(), rest.end()));
}

void choose_sources(candidate& c, std::size_t read, reach limit, std::set<std::string>& out) {
  if (read == c.events().size()) return choose_orders(c, 0, limit, out);
  if (!c.events()[read].reads) return choose_sources(c, read + 1, limit, out);
  for (std::size_t i = 0; i < c.events().size(); ++i) {
    if (i == read || !c.events()[i].writes || !c.events()[i].same_location(c.events()[read])) continue;
    c.source[read] = i;
    choose_sources(c, read + 1, limit, out);
  }
}

}  // namespace

std::set<std::string> outcomes_by_axioms(const listing& program, reach limit) {
  std::vector<event> events(2);
  for (std::size_t i = 0; i < 2; ++i) {
    events[i].writes = true;
    events[i].from.location = static_cast<int>(i);
    events[i].thread = program.size();
  }
  std::vector<std::size_t> swaps;
  for (std::size_t t = 0; t < program.size(); ++t)
    for (const instruction& each : program[t]) {
      event made;
      made.from = each;
      made.thread = t;
      made.order = each.order;
      made.fence = each.kind == instruction::what::fence;
      made.reads = each.kind == instruction::what::load || each.kind == instruction::what::add ||
                   each.kind == instruction::what::cas;
      made.writes = each.kind == instruction::what::store || each.kind == instruction::what::add;
      if (each.kind == instruction::what::cas) swaps.push_back(events.size());
      events.push_back(made);
    }

  std::set<std::string> out;
  for (std::uint32_t guess = 0; guess < (1U << swaps.size()); ++guess) {
    std::vector<event> guessed = events;
    for (std::size_t i = 0; i < swaps.size(); ++i) {
      event& swap = guessed[swaps[i]];
      const bool succeeds = (guess >> i & 1U) != 0;
      swap.writes = succeeds;
      swap.must_find_zero = succeeds;
      swap.must_find_other = !succeeds;
      if (!succeeds) swap.order = swap.from.failure;
    }
    candidate c(std::move(guessed));
    choose_sources(c, 2, limit, out);
  }
  return out;
}

std::string to_text(const listing& program) {
  static constexpr std::array orders{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  const auto name = [](std::memory_order order) { return std::string(orders.at(static_cast<std::size_t>(order))); };
  std::string out;
  for (std::size_t t = 0; t < program.size(); ++t) {
    out += "T" + std::to_string(t) + ":";
    for (const instruction& each : program[t]) {
      const std::string location = each.location == 0 ? "x" : "y";
      switch (each.kind) {
        case instruction::what::load:
          out += " load(" + location + ", " + name(each.order) + ")";
          break;
        case instruction::what::store:
          out += " store(" + location + ", " + std::to_string(each.value) + ", " + name(each.order) + ")";
          break;
        case instruction::what::add:
          out += " add(" + location + ", " + std::to_string(each.value) + ", " + name(each.order) + ")";
          break;
        case instruction::what::cas:
          out += " cas(" + location + ", 0 -> " + std::to_string(each.value) + ", " + name(each.order) + ", " +
                 name(each.failure) + ")";
          break;
        case instruction::what::fence:
          out += " fence(" + name(each.order) + ")";
          break;
      }
      out += ";";
    }
    out += "\n";
  }
  return out;
}

}  // namespace faio::explorer::litmus
