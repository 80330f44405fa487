// memory -- the memory model: what each load may return, and what happens before what.
#include "memory.hpp"

#include <algorithm>
#include <cstring>

namespace faio::explorer {
namespace {

constexpr unsigned group = 8;

// Both sizes are whole groups, so the inner loop is one vector operation.
void maximum(std::uint32_t* into, const std::uint32_t* from, unsigned first, unsigned size) noexcept {
  for (unsigned i = first; i < size; i += group)
    for (unsigned j = 0; j < group; ++j) into[i + j] = std::max(into[i + j], from[i + j]);
}

}  // namespace

void memory::reset(arena& space) {
  _space = &space;
  _locations = 0;
  _size = max_threads;
  for (unsigned i = 0; i < max_threads; ++i) {
    thread_views& who = _threads[i];
    std::fill_n(who.current.begin(), max_threads, 0U);
    std::fill_n(who.pending.begin(), max_threads, 0U);
    who.fenced = {};
    who.has_pending = false;
    who.current[i] = 1;  // 0 is "nothing of this thread": an epoch is never 0
  }
}

unsigned memory::create(std::uint64_t initial) {
  if (_locations == max_locations) return max_locations;
  const unsigned location = _locations++;
  const unsigned entry = max_threads + location;
  if (entry == _size) {
    // A new group: entries past _size hold what an earlier execution left there.
    for (thread_views& who : _threads) {
      std::fill_n(who.current.begin() + entry, group, 0U);
      std::fill_n(who.pending.begin() + entry, group, 0U);
    }
    std::fill_n(_sc.begin() + entry, group, 0U);
    _size += group;
  }
  if (location == _histories.size()) _histories.emplace_back();
  _histories[location].clear();
  _histories[location].push_back({initial, {}, 0, false});
  return location;
}

std::uint64_t memory::read(unsigned thread, unsigned location, unsigned index, std::memory_order order) noexcept {
  thread_views& who = _threads[thread];
  const message& from = _histories[location][index];
  raise(who.current, location, from.timestamp);
  if (from.view.size != 0) {
    if (acquires(order)) {
      maximum(who.current.data(), from.view.entries, 0, from.view.size);
    } else {
      maximum(who.pending.data(), from.view.entries, 0, from.view.size);
      who.has_pending = true;
    }
  }
  // A later seq_cst load must not read an older message than this one did (4.1 with a read between).
  if (order == std::memory_order_seq_cst) raise(_sc, location, from.timestamp);
  return from.value;
}

// Makes room after `index` and gives the new message's timestamp; its view is still empty.
std::uint32_t memory::insert(unsigned location, unsigned index, std::uint64_t value) {
  std::vector<message>& history = _histories[location];
  const std::uint32_t before = history[index].timestamp;
  if (index == newest(location)) {
    history.push_back({value, {}, before + spacing, false});
    return before + spacing;
  }
  const std::uint32_t timestamp = before + (history[index + 1].timestamp - before) / 2;
  history.insert(history.begin() + index + 1, {value, {}, timestamp, false});
  return timestamp;
}

snapshot memory::carried(unsigned thread, std::memory_order order) {
  return releases(order) ? copy(_threads[thread].current) : _threads[thread].fenced;
}

void memory::write(unsigned thread, unsigned location, unsigned index, std::uint64_t value, std::memory_order order) {
  const std::uint32_t timestamp = insert(location, index, value);
  raise(_threads[thread].current, location, timestamp);
  _histories[location][index + 1].view = carried(thread, order);
  if (releases(order)) tick(thread);  // M2: after the copy
  if (order == std::memory_order_seq_cst) raise(_sc, location, timestamp);
}

void memory::modify(unsigned thread, unsigned location, unsigned index, std::uint64_t value, std::memory_order order) {
  read(thread, location, index, order);
  const std::uint32_t timestamp = insert(location, index, value);
  raise(_threads[thread].current, location, timestamp);
  message& made = _histories[location][index + 1];
  made.view = joined(carried(thread, order), _histories[location][index].view);
  made.bound = true;
  if (releases(order)) tick(thread);  // M2
  if (order == std::memory_order_seq_cst) raise(_sc, location, timestamp);
}

void memory::fence(unsigned thread, std::memory_order order) {
  thread_views& who = _threads[thread];
  if (acquires(order)) take_pending(who);
  if (order == std::memory_order_seq_cst) {
    join_from_sc(who.current);
    join_into_sc(who.current);
  }
  if (releases(order)) {
    who.fenced = copy(who.current);
    tick(thread);  // M2
  }
}

void memory::fence_everywhere(unsigned thread, unsigned count) {
  thread_views& caller = _threads[thread];
  take_pending(caller);
  join_from_sc(caller.current);
  join_into_sc(caller.current);
  for (unsigned i = 1; i < count; ++i) {
    if (i == thread) continue;
    take_pending(_threads[i]);
    join_from_sc(_threads[i].current);
  }
  for (unsigned i = 1; i < count; ++i) {
    if (i == thread) continue;
    join_into_sc(_threads[i].current);
    _threads[i].fenced = copy(_threads[i].current);
    tick(i);
  }
  join_from_sc(caller.current);
  caller.fenced = copy(caller.current);
  tick(thread);
}

snapshot memory::release(unsigned thread) {
  const snapshot out = copy(_threads[thread].current);
  tick(thread);  // M2
  return out;
}

void memory::acquire(unsigned thread, snapshot from) noexcept {
  maximum(_threads[thread].current.data(), from.entries, 0, from.size);
}

void memory::fork(unsigned parent, unsigned child) noexcept {
  view& current = _threads[child].current;
  std::memcpy(current.data(), _threads[parent].current.data(), _size * sizeof(std::uint32_t));
  current[child] = 1;
  tick(parent);  // M2: what the parent does after the fork is not known to the child
}

void memory::join(unsigned parent, unsigned child) noexcept {
  maximum(_threads[parent].current.data(), _threads[child].current.data(), 0, _size);
}

void memory::take_pending(thread_views& who) noexcept {
  if (!who.has_pending) return;
  maximum(who.current.data(), who.pending.data(), 0, _size);
}

void memory::join_into_sc(const view& from) noexcept { maximum(_sc.data(), from.data(), max_threads, _size); }

void memory::join_from_sc(view& into) const noexcept { maximum(into.data(), _sc.data(), max_threads, _size); }

snapshot memory::copy(const view& from) {
  auto* entries = static_cast<std::uint32_t*>(_space->allocate(_size * sizeof(std::uint32_t)));
  std::memcpy(entries, from.data(), _size * sizeof(std::uint32_t));
  return {entries, _size};
}

snapshot memory::joined(snapshot left, snapshot right) {
  if (left.size == 0) return right;
  if (right.size == 0) return left;
  if (left.size < right.size) std::swap(left, right);
  auto* entries = static_cast<std::uint32_t*>(_space->allocate(left.size * sizeof(std::uint32_t)));
  std::memcpy(entries, left.entries, left.size * sizeof(std::uint32_t));
  maximum(entries, right.entries, 0, right.size);
  return {entries, left.size};
}

}  // namespace faio::explorer
